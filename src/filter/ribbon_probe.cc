#include "filter/ribbon_probe.h"

#include "filter/filter_kind.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filter/ribbon_probe.cc"
#include <hwy/foreach_target.h>  // Includes this file once per instruction set.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {
namespace {

/// One column of a block, wherever it is; rows that the last block does not have read as 0.
HWY_INLINE std::uint64_t column_of_block(const RibbonState& state, std::uint64_t block, std::uint32_t column) {
  const std::byte* words = state.blocks + block * state.columns * 8;
  if (block < state.full_blocks) return load_le<std::uint64_t>(words + std::size_t{8} * column);
  std::uint64_t word = 0;
  for (std::uint32_t i = 0; block == state.full_blocks && i < state.cut_bytes; ++i) {
    word |= std::to_integer<std::uint64_t>(words[column * state.cut_bytes + i]) << (8 * i);
  }
  return word;
}

/// The chosen rows from `row` on, added up: bit j is the sum of column j.
HWY_INLINE std::uint32_t sum_of_rows(const RibbonState& state, std::uint64_t row, std::uint64_t coefficients) {
  const std::uint64_t shift = row % 64;
  const std::uint64_t in_first = coefficients << shift;
  const std::uint64_t in_second = (coefficients >> 1) >> (63 - shift);
  std::uint32_t sum = 0;
  for (std::uint32_t column = 0; column < state.columns; ++column) {
    const std::uint64_t chosen = (column_of_block(state, row / 64, column) & in_first) ^
                                 (column_of_block(state, row / 64 + 1, column) & in_second);
    sum |= static_cast<std::uint32_t>(__builtin_parityll(chosen)) << column;
  }
  return sum;
}

bool list_contains(const RibbonState& state, std::uint64_t mixed) {
  const std::uint64_t wanted = ribbon_list_fingerprint(mixed, state.list_bits);
  const Bytes list(state.list, (state.list_entries * state.list_bits + 7) / 8);
  std::uint64_t low = 0;
  std::uint64_t high = state.list_entries;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const std::uint64_t entry = read_ribbon_list_entry(list, middle, state.list_bits);
    if (entry == wanted) return true;
    if (entry < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return false;
}

/// From this layer on: the first layer that does not send the key on answers, and after the last one the list.
bool ask_layers(const RibbonState& state, std::size_t layer, std::uint64_t key) {
  for (; layer < kRibbonLayers; ++layer) {
    const std::uint64_t mixed = ribbon_mix(key);
    if (state.starts[layer] != 0) {
      const RibbonBuckets& buckets = kRibbonBuckets[layer];
      const std::uint64_t position = fast_range(mixed, state.starts[layer]);
      const std::uint32_t mark = ribbon_mark(state.marks, state.first_bucket[layer] + (position >> buckets.shift));
      if (buckets.within(position) >= buckets.threshold[mark]) {
        return sum_of_rows(state, state.first_row[layer] + position, ribbon_coefficients(mixed)) ==
               ribbon_fingerprint(mixed, state.columns);
      }
    }
    key = ribbon_key_of_next_layer(mixed);
  }
  return list_contains(state, ribbon_mix(key));
}

bool may_contain(const FilterProbe& probe, std::uint64_t hash) {
  return ask_layers(probe_state<RibbonState>(probe), 0, hash);
}

void prefetch(const FilterProbe& probe, std::uint64_t hash) {
  const auto& state = probe_state<RibbonState>(probe);
  const std::uint64_t position = fast_range(ribbon_mix(hash), state.starts[0]);
  const std::byte* first = state.blocks + position / 64 * state.columns * 8;
  __builtin_prefetch(first);
  __builtin_prefetch(first + std::size_t{8} * state.columns);
}

}  // namespace

void set_ribbon_functions(FilterProbe& probe) {
  probe.may_contain_fn = may_contain;
  probe.may_contain_many_fn = may_contain_many_in_groups<may_contain, prefetch>;
  probe.prefetch_fn = prefetch;
}

}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis {

HWY_EXPORT(set_ribbon_functions);

void choose_ribbon_functions(FilterProbe& probe) { HWY_DYNAMIC_DISPATCH(set_ribbon_functions)(probe); }

}  // namespace tamis
#endif
