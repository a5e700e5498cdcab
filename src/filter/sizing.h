// From a caller's request to the shape of a filter.
#pragma once

#include <cstdint>

#include "filter/filter_kind.h"

namespace tamis {

/// The kind of this name, or kInvalidArgument listing the known ones.
Result<const FilterKind*> need_filter_kind(std::string_view name);

/// The measure given in the options, checked: rate in (0, 1), positive finite bits, positive memory.
Result<SizeTarget> size_target(const FilterOptions& options);

/// A shape, and whether it is the kind's own or a tiny set's list.
struct ChosenSize {
  FilterSize size;
  FilterLayout layout = FilterLayout::kOwn;
};

/// Sizes a filter of `kind`; immutable kinds store a tiny set as a list if that is smaller and no less accurate.
Result<ChosenSize> choose_size(const FilterKind& kind, std::uint64_t keys, SizeTarget target);

/// kNotSupported saying that `kind` cannot reach the target and which kinds can.
Status cannot_reach(std::string_view kind, SizeTarget target, std::string_view instead);

/// The fewest units (lines, blocks) whose rate meets the target. `size_with` gives the size for a number of units; its
/// rate must decrease with them. Beyond `most`, returns an error that names `instead`.
template <typename SizeWith>
Result<FilterSize> smallest_for_rate(std::string_view kind, std::string_view instead, SizeTarget target,
                                     std::uint64_t most, SizeWith size_with) {
  if (size_with(most).rate > target.value) return cannot_reach(kind, target, instead);
  std::uint64_t low = 1;
  std::uint64_t high = most;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (size_with(middle).rate <= target.value) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return size_with(low);
}

}  // namespace tamis
