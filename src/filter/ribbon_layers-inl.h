// Which layer of a ribbon filter has a key, one body per instruction set. Included by the probes of ribbons.
#if defined(TAMIS_FILTER_RIBBON_LAYERS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_FILTER_RIBBON_LAYERS_INL_H
#undef TAMIS_FILTER_RIBBON_LAYERS_INL_H
#else
#define TAMIS_FILTER_RIBBON_LAYERS_INL_H
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "filter/ribbon_layout.h"
#include "filter/ribbon_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {
namespace {

/// Whether all starts of the first layer are in full blocks that full ones follow, as unless the filter is tiny.
HWY_INLINE bool has_usual_first_layer(const RibbonLayers& layers, std::uint64_t full_blocks) {
  return layers.starts[0] != 0 && (layers.starts[0] - 1) / 64 + 1 < full_blocks;
}

HWY_INLINE bool is_sent_on(const RibbonLayers& layers, std::size_t layer, std::uint64_t position) {
  const RibbonBuckets& buckets = kRibbonBuckets[layer];
  const std::uint64_t first_bucket =
      layer == 0 ? 0 : layers.first_bucket[layer];  // Saves 4 % of a probe if `layer` is constant.
  const std::uint32_t mark = ribbon_mark(layers.marks, first_bucket + (position >> buckets.shift));
  return buckets.within(position) < buckets.threshold[mark];
}

bool list_contains(const RibbonLayers& layers, std::uint64_t mixed) {
  const std::uint64_t wanted = ribbon_list_fingerprint(mixed, layers.list_bits);
  const Bytes list(layers.list, (layers.list_entries * layers.list_bits + 7) / 8);
  std::uint64_t low = 0;
  std::uint64_t high = layers.list_entries;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const std::uint64_t entry = read_ribbon_list_entry(list, middle, layers.list_bits);
    if (entry == wanted) return true;
    if (entry < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return false;
}

/// From this layer on, the first layer that does not bump the key answers, and after the last one the list. In a layer,
/// the answer is has_sum(row, mixed key): whether the rows from the start on give the key's fingerprint.
template <typename HasSum>
HWY_INLINE bool ask_layers(const RibbonLayers& layers, std::size_t layer, std::uint64_t key, const HasSum& has_sum) {
  for (; layer < kRibbonLayers; ++layer) {
    const std::uint64_t mixed = ribbon_mix(key);
    if (layers.starts[layer] != 0) {
      const std::uint64_t position = fast_range(mixed, layers.starts[layer]);
      if (!is_sent_on(layers, layer, position)) return has_sum(layers.first_row[layer] + position, mixed);
    }
    key = ribbon_key_of_next_layer(mixed);
  }
  return list_contains(layers, ribbon_mix(key));
}

HWY_INLINE void prefetch_first_layer(const RibbonLayers& layers, const RibbonBlocks& blocks, std::uint64_t hash) {
  const std::uint64_t position = fast_range(ribbon_mix(hash), layers.starts[0]);
  __builtin_prefetch(layers.marks + position / (16 << kRibbonBuckets[0].shift) * 4);
  prefetch_blocks(blocks.first + position / 64 * blocks.columns * 8, blocks.columns);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#endif  // TAMIS_FILTER_RIBBON_LAYERS_INL_H
