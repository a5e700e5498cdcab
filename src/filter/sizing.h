// From what a caller asks for to the shape of a filter.
#pragma once

#include <cstdint>

#include "filter/filter_kind.h"

namespace tamis {

/// The kind of this name, or kInvalidArgument listing those there are.
Result<const FilterKind*> need_filter_kind(std::string_view name);

/// The one measure of the options, checked: rate in (0, 1), positive finite bits, positive memory.
Result<SizeTarget> size_target(const FilterOptions& options);

struct ChosenSize {
  FilterSize size;
  FilterLayout layout = FilterLayout::kOwn;
};

/// Sizes a filter of `kind`; kinds that are built once keep a tiny set as a list where that is smaller and no worse.
Result<ChosenSize> choose_size(const FilterKind& kind, std::uint64_t keys, SizeTarget target);

/// kNotSupported saying that `kind` cannot reach the target and which kinds can.
Status cannot_reach(std::string_view kind, SizeTarget target, std::string_view instead);
/// kNotSupported for a filter whose memory is not to be had.
Status no_memory_for(std::uint64_t bytes);

}  // namespace tamis
