// The probe of the ribbon filter, one body per instruction set. See ribbon.cc for the layout.
#include <algorithm>

#include "base/instruction_set.h"
#include "filter/filter_kind.h"
#include "filter/ribbon_layout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filter/ribbon_probe.cc"
#include <hwy/foreach_target.h>  // Includes this file once per instruction set.
#include <hwy/highway.h>

#include "filter/ribbon_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE bool is_sent_on(const RibbonState& state, std::size_t layer, std::uint64_t position) {
  const RibbonBuckets& buckets = kRibbonBuckets[layer];
  const std::uint64_t first_bucket =
      layer == 0 ? 0 : state.first_bucket[layer];  // Saves 4 % of a probe if `layer` is constant.
  const std::uint32_t mark = ribbon_mark(state.marks, first_bucket + (position >> buckets.shift));
  return buckets.within(position) < buckets.threshold[mark];
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

/// From this layer on, the first layer that does not bump the key answers, and after the last one the list. Correct for
/// any layer and block, but slower; used for few keys, unless the filter is tiny.
HWY_NOINLINE bool ask_layers(const RibbonState& state, std::size_t layer, std::uint64_t key) {
  for (; layer < kRibbonLayers; ++layer) {
    const std::uint64_t mixed = ribbon_mix(key);
    if (state.starts[layer] != 0) {
      const std::uint64_t position = fast_range(mixed, state.starts[layer]);
      if (!is_sent_on(state, layer, position)) {
        const std::uint64_t row = state.first_row[layer] + position;
        const bool in_full_blocks = row / 64 + 1 < state.full_blocks;
        const std::uint32_t sum = in_full_blocks ? sum_of_rows(state, state.columns, row, ribbon_coefficients(mixed))
                                                 : sum_of_last_rows(state, row, ribbon_coefficients(mixed));
        return sum == ribbon_fingerprint(mixed, state.columns);
      }
    }
    key = ribbon_key_of_next_layer(mixed);
  }
  return list_contains(state, ribbon_mix(key));
}

bool may_contain_anywhere(const FilterProbe& probe, std::uint64_t hash) {
  return ask_layers(probe_state<RibbonState>(probe), 0, hash);
}

/// The fast path: nearly all keys are in the first layer, which has full blocks. kColumns = 0: take it from the state.
template <std::uint32_t kColumns>
HWY_INLINE bool ask_first_layer(const RibbonState& state, std::uint64_t hash) {
  const std::uint32_t columns = kColumns == 0 ? state.columns : kColumns;
  const std::uint64_t mixed = ribbon_mix(hash);
  const std::uint64_t position = fast_range(mixed, state.starts[0]);
  if (is_sent_on(state, 0, position)) [[unlikely]]
    return ask_layers(state, 1, ribbon_key_of_next_layer(mixed));
  return sum_of_rows(state, columns, position, ribbon_coefficients(mixed)) == ribbon_fingerprint(mixed, columns);
}

template <std::uint32_t kColumns>
bool may_contain(const FilterProbe& probe, std::uint64_t hash) {
  return ask_first_layer<kColumns>(probe_state<RibbonState>(probe), hash);
}

HWY_INLINE void prefetch_first_layer(const RibbonState& state, std::uint64_t hash) {
  const std::uint64_t position = fast_range(ribbon_mix(hash), state.starts[0]);
  __builtin_prefetch(state.marks + position / (16 << kRibbonBuckets[0].shift) * 4);
  prefetch_blocks(state.blocks + position / 64 * state.columns * 8, state.columns);
}

void prefetch(const FilterProbe& probe, std::uint64_t hash) {
  prefetch_first_layer(probe_state<RibbonState>(probe), hash);
}

#if HWY_TARGET == HWY_AVX3_DL

/// The answers of a prepared batch, including bumped keys.
HWY_INLINE std::uint64_t answers_of(const RibbonState& state, const std::uint64_t* hashes, const Batch& batch) {
  std::uint64_t answers = matching_sums(state, batch) & ~batch.sent_on;
  for (std::uint64_t left = batch.sent_on; left != 0; left &= left - 1) {
    const int i = hwy::Num0BitsBelowLS1Bit_Nonzero64(left);
    const std::uint64_t key = ribbon_key_of_next_layer(ribbon_mix(hashes[i]));
    answers |= static_cast<std::uint64_t>(ask_layers(state, 1, key)) << i;
  }
  return answers;
}

/// Tests one batch while the blocks of the next are being loaded.
template <bool kPrefetch>
HWY_INLINE void test_batches(const RibbonState& state, const std::uint64_t* hashes, std::size_t batches,
                             std::uint64_t* answers) {
  Batch prepared[2];
  prepare_batch<kPrefetch>(state, hashes, prepared[0]);
  for (std::size_t i = 0; i + 1 < batches; ++i) {
    prepare_batch<kPrefetch>(state, hashes + (i + 1) * kBatch, prepared[(i + 1) % 2]);
    answers[i] = answers_of(state, hashes + i * kBatch, prepared[i % 2]);
  }
  answers[batches - 1] = answers_of(state, hashes + (batches - 1) * kBatch, prepared[(batches - 1) % 2]);
}

template <bool kPrefetch>
void test_many(const RibbonState& state, const std::uint64_t* hashes, std::size_t count, std::uint64_t* answers) {
  const std::size_t whole = count / kBatch;
  if (whole > 0) test_batches<kPrefetch>(state, hashes, whole, answers);
  const std::size_t rest = count % kBatch;
  if (rest == 0) return;
  std::uint64_t padded[kBatch] = {};  // Any hash is valid; the extra answers are dropped.
  std::copy_n(hashes + whole * kBatch, rest, padded);
  test_batches<kPrefetch>(state, padded, 1, answers + whole);
  answers[whole] &= (std::uint64_t{1} << rest) - 1;
}

#else

/// Answers one by one, prefetching the rows of a later key.
template <bool kPrefetch, std::uint32_t kColumns>
void test_one_by_one(const RibbonState& state, const std::uint64_t* hashes, std::size_t count, std::uint64_t* answers) {
  constexpr std::size_t kAhead = 32;
  for (std::size_t i = 0; kPrefetch && i < std::min(kAhead, count); ++i) prefetch_first_layer(state, hashes[i]);
  for (std::size_t begin = 0; begin < count; begin += 64) {
    const std::size_t end = std::min(begin + 64, count);
    std::uint64_t word = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (kPrefetch && i + kAhead < count) prefetch_first_layer(state, hashes[i + kAhead]);
      word |= static_cast<std::uint64_t>(ask_first_layer<kColumns>(state, hashes[i])) << (i - begin);
    }
    answers[begin / 64] = word;
  }
}

template <bool kPrefetch>
void test_many(const RibbonState& state, const std::uint64_t* hashes, std::size_t count, std::uint64_t* answers) {
  const auto test = state.columns == 8 ? test_one_by_one<kPrefetch, 8> : test_one_by_one<kPrefetch, 0>;
  test(state, hashes, count, answers);
}

#endif

void may_contain_many(const FilterProbe& probe, const std::uint64_t* hashes, std::size_t count,
                      std::uint64_t* answers) {
  const RibbonState state = probe_state<RibbonState>(probe);
  constexpr std::uint64_t kBytesInCache = 512 << 10;  // Half of a typical L2 cache.
  if (state.full_blocks * state.columns * 8 <= kBytesInCache) {
    test_many<false>(state, hashes, count, answers);
  } else {
    test_many<true>(state, hashes, count, answers);
  }
}

void prefetch_nothing(const FilterProbe&, std::uint64_t) {}

}  // namespace

void set_ribbon_functions(FilterProbe& probe) {
  const auto& state = probe_state<RibbonState>(probe);
  const bool is_usual = state.starts[0] != 0 && (state.starts[0] - 1) / 64 + 1 < state.full_blocks;
  if (is_usual) {
    probe.may_contain_fn = state.columns == 8 ? may_contain<8> : may_contain<0>;
    probe.prefetch_fn = prefetch;
    // Batch arithmetic requires 32-bit starts.
    const bool is_huge = state.starts[0] >> 32 != 0;
    probe.may_contain_many_fn = is_huge ? may_contain_many_in_groups<may_contain<0>, prefetch> : may_contain_many;
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
