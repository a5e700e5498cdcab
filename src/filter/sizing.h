// From what a caller asks for to the shape of a filter.
#pragma once

#include <cstdint>

#include "filter/filter_kind.h"

namespace tamis {

/// The kind of this name, or kInvalidArgument listing those there are.
Result<const FilterKind*> need_filter_kind(std::string_view name);

/// The one measure of the options, checked: rate in (0, 1), positive finite bits, positive memory.
Result<SizeTarget> size_target(const FilterOptions& options);

/// A shape, and whether it is the kind's own or the list of a tiny set.
struct ChosenSize {
  FilterSize size;
  FilterLayout layout = FilterLayout::kOwn;
};

/// Sizes a filter of `kind`; kinds that are built once keep a tiny set as a list where that is smaller and no worse.
Result<ChosenSize> choose_size(const FilterKind& kind, std::uint64_t keys, SizeTarget target);

/// kNotSupported saying that `kind` cannot reach the target and which kinds can.
Status cannot_reach(std::string_view kind, SizeTarget target, std::string_view instead);

/// The fewest units (lines, blocks) whose rate meets the target; `size_with` gives the size for a number of units, its
/// rate falling as they grow. Beyond `most` the kind gives up and names `instead`.
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
