// The probe of the ribbon filter, one body per instruction set. See ribbon.cc for the layout.
#include "base/instruction_set.h"
#include "filter/filter_kind.h"
#include "filter/ribbon_layout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filter/ribbon_probe.cc"
#include <hwy/foreach_target.h>  // Includes this file once per instruction set.
#include <hwy/highway.h>

#include "filter/ribbon_batch-inl.h"
#include "filter/ribbon_layers-inl.h"
#include "filter/ribbon_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {
namespace {

/// Correct for any layer and block, but slower; used for few keys, unless the filter is tiny.
HWY_NOINLINE bool ask_from_layer(const RibbonState& state, std::size_t layer, std::uint64_t key) {
  return ask_layers(state.layers, layer, key, [&](std::uint64_t row, std::uint64_t mixed) {
    return sum_of_any_rows(state.blocks, row, ribbon_coefficients(mixed)) ==
           ribbon_fingerprint(mixed, state.blocks.columns);
  });
}

bool may_contain_anywhere(const FilterProbe& probe, std::uint64_t hash) {
  return ask_from_layer(probe_state<RibbonState>(probe), 0, hash);
}

/// The fast path: nearly all keys are in the first layer, which has full blocks. kColumns = 0: take it from the state.
template <std::uint32_t kColumns>
HWY_INLINE bool ask_first_layer(const RibbonState& state, std::uint64_t hash) {
  const std::uint32_t columns = kColumns == 0 ? state.blocks.columns : kColumns;
  const std::uint64_t mixed = ribbon_mix(hash);
  const std::uint64_t position = fast_range(mixed, state.layers.starts[0]);
  if (is_sent_on(state.layers, 0, position)) [[unlikely]]
    return ask_from_layer(state, 1, ribbon_key_of_next_layer(mixed));
  return sum_of_rows(state.blocks, columns, position, ribbon_coefficients(mixed)) == ribbon_fingerprint(mixed, columns);
}

template <std::uint32_t kColumns>
bool may_contain(const FilterProbe& probe, std::uint64_t hash) {
  return ask_first_layer<kColumns>(probe_state<RibbonState>(probe), hash);
}

void prefetch(const FilterProbe& probe, std::uint64_t hash) {
  const RibbonState& state = probe_state<RibbonState>(probe);
  prefetch_first_layer(state.layers, state.blocks, hash);
}

#if HWY_TARGET == HWY_AVX3_DL

/// One vector of columns: the sums are bytes, all compared at once.
template <bool kAll>
HWY_INLINE std::uint64_t matching_byte_sums(const RibbonBlocks& blocks, const Batch& batch) {
  const Words words;
  const hn::FixedTag<std::uint8_t, kBatch> bytes;
  const std::size_t block_bytes = kAll ? 64 : std::size_t{8} * blocks.columns;
  HWY_ALIGN std::uint8_t sums[kBatch + 8];
  for (std::size_t i = 0; i < kBatch; ++i) {
    const auto chosen = chosen_of<kAll>(blocks.first + batch.offset[i], block_bytes, hn::Set(words, batch.in_first[i]),
                                        hn::Set(words, batch.in_second[i]), blocks.columns % 8);
    hn::StoreMaskBits(words, is_odd(chosen), sums + i);
  }
  HWY_ALIGN std::uint8_t wanted[kBatch];
  for (std::size_t i = 0; i < kBatch; ++i) wanted[i] = static_cast<std::uint8_t>(batch.fingerprint[i]);
  std::uint64_t matching = 0;
  hn::StoreMaskBits(bytes, hn::Eq(hn::Load(bytes, sums), hn::Load(bytes, wanted)),
                    reinterpret_cast<std::uint8_t*>(&matching));
  return matching;
}

/// More columns: one sum after another.
HWY_INLINE std::uint64_t matching_wide_sums(const RibbonBlocks& blocks, const Batch& batch) {
  std::uint64_t matching = 0;
  for (std::size_t i = 0; i < kBatch; ++i) {
    const Choice choice = {batch.in_first[i], batch.in_second[i]};
    const std::uint32_t sum = sum_of_block_rows(blocks.first + batch.offset[i], blocks.columns, choice);
    matching |= static_cast<std::uint64_t>(sum == batch.fingerprint[i]) << i;
  }
  return matching;
}

/// Bit i: the rows of key i xor to its fingerprint.
HWY_INLINE std::uint64_t matching_sums(const RibbonBlocks& blocks, const Batch& batch) {
  if (blocks.columns == 8) return matching_byte_sums<true>(blocks, batch);
  if (blocks.columns < 8) return matching_byte_sums<false>(blocks, batch);
  return matching_wide_sums(blocks, batch);
}

#endif

/// For `test_many`.
template <std::uint32_t kColumns>
struct RibbonToTest {
  const RibbonState& state;
  const RibbonLayers& layers = state.layers;
  const RibbonBlocks& blocks = state.blocks;
  const std::uint32_t fingerprint_bits = state.blocks.columns;

#if HWY_TARGET == HWY_AVX3_DL
  [[nodiscard]] HWY_INLINE std::uint64_t matching(const Batch& batch) const { return matching_sums(blocks, batch); }
  HWY_INLINE void prefetch_later(const Batch&, std::uint64_t) const {}
  [[nodiscard]] HWY_INLINE std::uint64_t matching_later(const Batch&, std::uint64_t left) const { return left; }
#endif
  [[nodiscard]] HWY_INLINE bool ask_first_layer(std::uint64_t hash) const {
    return HWY_NAMESPACE::ask_first_layer<kColumns>(state, hash);
  }
  HWY_INLINE void prefetch(std::uint64_t hash) const { prefetch_first_layer(layers, blocks, hash); }
  [[nodiscard]] bool ask_beyond_first_layer(std::uint64_t key) const { return ask_from_layer(state, 1, key); }
};

template <bool kPrefetch>
void test_many_of(const RibbonState& state, const std::uint64_t* hashes, std::size_t count, std::uint64_t* answers) {
  if (state.blocks.columns == 8) {
    test_many<kPrefetch>(RibbonToTest<8>{state}, hashes, count, answers);
  } else {
    test_many<kPrefetch>(RibbonToTest<0>{state}, hashes, count, answers);
  }
}

void may_contain_many(const FilterProbe& probe, const std::uint64_t* hashes, std::size_t count,
                      std::uint64_t* answers) {
  const RibbonState state = probe_state<RibbonState>(probe);
  constexpr std::uint64_t kBytesInCache = 512 << 10;  // Half of a typical L2 cache.
  if (state.blocks.full * state.blocks.columns * 8 <= kBytesInCache) {
    test_many_of<false>(state, hashes, count, answers);
  } else {
    test_many_of<true>(state, hashes, count, answers);
  }
}

void prefetch_nothing(const FilterProbe&, std::uint64_t) {}

}  // namespace

void set_ribbon_functions(FilterProbe& probe) {
  const auto& state = probe_state<RibbonState>(probe);
  const bool is_usual = has_usual_first_layer(state.layers, state.blocks.full);
  if (is_usual) {
    probe.may_contain_fn = state.blocks.columns == 8 ? may_contain<8> : may_contain<0>;
    probe.prefetch_fn = prefetch;
    probe.may_contain_many_fn =
        fits_batches(state.layers) ? may_contain_many : may_contain_many_in_groups<may_contain<0>, prefetch>;
  } else {  // Few blocks or none.
    set_probe_functions<may_contain_anywhere, prefetch_nothing>(probe);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis {

void choose_ribbon_functions(FilterProbe& probe) { TAMIS_BEST_BODY(set_ribbon_functions)(probe); }

}  // namespace tamis
#endif
