// From a caller's request to the shape of a filter.
#pragma once

#include <algorithm>
#include <cmath>
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

/// Sizes a filter of `kind`. A kind that lists few keys stores a tiny set as a list if that is smaller and no less
/// accurate.
Result<ChosenSize> choose_size(const FilterKind& kind, std::uint64_t keys, SizeTarget target);

/// Sizes a filter of `kind` to which keys are added later, and makes it without any. kInvalidArgument if the options do
/// not fit the kind.
Result<FilterImage> make_empty_filter(const FilterKind& kind, const FilterOptions& options);

/// kNotSupported saying that `kind` cannot reach the target and which kinds can.
Status cannot_reach(std::string_view kind, SizeTarget target, std::string_view instead);

/// Blocks of a kind that puts all probes of a key into one of them.
struct BlockLimits {
  std::size_t block_bytes;
  double max_bits_per_key;  ///< For a rate; beyond, ribbon is the better choice.
};
inline constexpr std::uint64_t kMaxBlocks = 0xffffffffU;

/// FilterKind::size for such kinds. `size_with` gives the size for a number of blocks; its rate must decrease with
/// them.
template <typename SizeWith>
Result<FilterSize> size_in_blocks(std::string_view kind, std::uint64_t keys, SizeTarget target, BlockLimits limits,
                                  SizeWith size_with) {
  const double blocks_per_bit = static_cast<double>(keys) / static_cast<double>(8 * limits.block_bytes);
  if (target.measure != SizeTarget::Measure::kRate) {
    const double blocks = target.measure == SizeTarget::Measure::kBitsPerKey
                              ? std::max(1.0, std::ceil(target.value * blocks_per_bit))
                              : std::floor(target.value / static_cast<double>(limits.block_bytes));
    if (blocks < 1 || blocks > double{kMaxBlocks}) return cannot_reach(kind, target, "bloom");
    return size_with(static_cast<std::uint64_t>(blocks));
  }
  std::uint64_t low = 1;
  auto high =
      static_cast<std::uint64_t>(std::min(std::ceil(limits.max_bits_per_key * blocks_per_bit) + 1, double{kMaxBlocks}));
  if (size_with(high).rate > target.value) return cannot_reach(kind, target, "ribbon");
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
