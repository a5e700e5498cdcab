// The probe of a ribbon in slices, one body per instruction set. See sliced.cc for the layout.
#include "base/instruction_set.h"
#include "filter/filter_kind.h"
#include "filter/sliced_layout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filter/sliced_probe.cc"
#include <hwy/foreach_target.h>  // Includes this file once per instruction set.
#include <hwy/highway.h>

#include "filter/ribbon_batch-inl.h"
#include "filter/ribbon_layers-inl.h"
#include "filter/ribbon_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE std::uint32_t columns_of(const SlicedState& state, std::uint32_t slice) {
  return std::min<std::uint32_t>(kSliceColumns, state.columns - kSliceColumns * slice);
}

HWY_INLINE RibbonBlocks blocks_of(const SlicedState& state, std::uint32_t slice) {
  return {.first = state.slices[slice],
          .full = state.full_blocks,
          .columns = columns_of(state, slice),
          .cut_bytes = state.cut_bytes};
}

/// Like `ribbon_fingerprint`.
HWY_INLINE std::uint32_t fingerprint_of(const SlicedState& state, std::uint64_t mixed) {
  return static_cast<std::uint32_t>(((mixed ^ (mixed >> 32)) * kRibbonFingerprintFactor) >> state.fingerprint_shift);
}

/// The bits of a fingerprint that belong to a slice.
HWY_INLINE std::uint32_t part_of(std::uint32_t fingerprint, std::uint32_t slice, std::uint32_t columns) {
  return (fingerprint >> (kSliceColumns * slice)) & ((1U << columns) - 1);
}

/// What a lookup tests together: the first slice, or the first two. Two slices of four columns take as many loads as
/// one of eight. kWhole: the last of them has four columns, known when compiling.
template <bool kTwo, bool kWhole>
struct Together {
  static HWY_INLINE Together of(const SlicedState& state) {
    return {kWhole ? kSliceColumns : columns_of(state, kTwo ? 1 : 0)};
  }

  static constexpr bool kIsTwo = kTwo;
  static constexpr bool kIsWhole = kWhole;
  [[nodiscard]] HWY_INLINE std::uint32_t last() const { return kWhole ? kSliceColumns : last_columns; }
  [[nodiscard]] HWY_INLINE std::uint32_t first() const { return kTwo ? kSliceColumns : last(); }
  [[nodiscard]] HWY_INLINE std::uint32_t columns() const { return kTwo ? kSliceColumns + last() : last(); }

  std::uint32_t last_columns;
};

/// Where a block is in the first slices.
struct BlockPlace {
  const std::byte* in_first;
  const std::byte* in_second;
};
HWY_INLINE BlockPlace first_block(const SlicedState& state) { return {state.slices[0], state.slices[1]}; }

/// `offset`: in the first slice, in bytes.
template <typename Together>
HWY_INLINE BlockPlace place_of(BlockPlace first_block, std::uint64_t offset, Together together) {
  if constexpr (!Together::kIsTwo) return {first_block.in_first + offset, nullptr};
  if constexpr (Together::kIsWhole) return {first_block.in_first + offset, first_block.in_second + offset};
  return {first_block.in_first + offset, first_block.in_second + offset / kSliceColumns * together.last()};
}

#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

using FourWords = hn::FixedTag<std::uint64_t, kSliceColumns>;

/// A block of up to four columns, zeros after them.
template <bool kWhole>
HWY_INLINE hn::Vec<FourWords> load_block(const std::byte* from, std::uint32_t columns) {
  const FourWords words;
  const auto* block = reinterpret_cast<const std::uint64_t*>(from);
  if constexpr (kWhole) return hn::LoadU(words, block);
  return hn::MaskedLoad(hn::FirstN(words, columns), words, block);
}

#endif

#if HWY_TARGET == HWY_AVX3_DL

/// Bit j: the sum of column j, of two slices. Of one, there are two bits to be added: bit j for the first block, and
/// bit 4 + j for the second.
template <typename Together>
HWY_INLINE hn::Mask<Words> sums_of_first(BlockPlace place, Choice choice, Together together) {
  const Words words;
  const std::uint32_t last = together.last();
  const std::size_t last_bytes = std::size_t{8} * last;
  const auto in_first = hn::Set(words, choice.in_first);
  const auto in_second = hn::Set(words, choice.in_second);
  const auto load_last = [last](const std::byte* from) { return load_block<Together::kIsWhole>(from, last); };
  if constexpr (Together::kIsTwo) {
    const auto load_both = [&](const std::byte* from_first, const std::byte* from_second) {
      return hn::Combine(words, load_last(from_second), load_block<true>(from_first, kSliceColumns));
    };
    const auto block = load_both(place.in_first, place.in_second);
    const auto next = load_both(place.in_first + 8 * kSliceColumns, place.in_second + last_bytes);
    return is_odd(hn::Xor(hn::And(block, in_first), hn::And(next, in_second)));
  } else {
    const auto choices = hn::ConcatUpperLower(words, in_second, in_first);
    if constexpr (Together::kIsWhole) {
      return is_odd(hn::And(hn::LoadU(words, reinterpret_cast<const std::uint64_t*>(place.in_first)), choices));
    }
    const auto both = hn::Combine(words, load_last(place.in_first + last_bytes), load_last(place.in_first));
    return is_odd(hn::And(both, choices));
  }
}

template <typename Together>
HWY_INLINE std::uint32_t sum_of_first(BlockPlace place, Choice choice, Together together) {
  std::uint8_t bits[8];
  hn::StoreMaskBits(Words(), sums_of_first(place, choice, together), bits);
  return Together::kIsTwo ? bits[0] : (bits[0] ^ (bits[0] >> 4)) & 15U;
}

#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

template <bool kWhole>
HWY_INLINE hn::Vec<FourWords> chosen_of_slice(const std::byte* from, std::uint32_t columns, Choice choice) {
  const FourWords words;
  return hn::Xor(
      hn::And(load_block<kWhole>(from, columns), hn::Set(words, choice.in_first)),
      hn::And(load_block<kWhole>(from + std::size_t{8} * columns, columns), hn::Set(words, choice.in_second)));
}

template <typename Together>
HWY_INLINE std::uint32_t sum_of_first(BlockPlace place, Choice choice, Together together) {
  constexpr bool kIsWhole = Together::kIsWhole;
  if constexpr (Together::kIsTwo) {
    return parities_of(chosen_of_slice<true>(place.in_first, kSliceColumns, choice),
                       chosen_of_slice<kIsWhole>(place.in_second, together.last(), choice));
  } else {
    return parities_of(chosen_of_slice<kIsWhole>(place.in_first, together.last(), choice), hn::Zero(FourWords()));
  }
}

#else

template <typename Together>
HWY_INLINE std::uint32_t sum_of_first(BlockPlace place, Choice choice, Together together) {
  const std::uint32_t sum = sum_of_block_rows(place.in_first, together.first(), choice);
  if constexpr (!Together::kIsTwo) return sum;
  return sum | sum_of_block_rows(place.in_second, together.last(), choice) << kSliceColumns;
}

#endif

HWY_INLINE std::uint32_t sum_of_slice(const std::byte* blocks, std::uint64_t block, std::uint32_t columns,
                                      Choice choice) {
  const std::byte* from = blocks + block * columns * 8;
  return columns == kSliceColumns ? sum_of_first({from, nullptr}, choice, Together<false, true>{kSliceColumns})
                                  : sum_of_block_rows(from, columns, choice);
}

/// What the partial column says about a key whose start is in this block.
HWY_INLINE bool partial_column_matches(const SlicedState& state, std::uint64_t block, Choice choice,
                                       std::uint32_t fingerprint) {
  if (block + 1 >= state.partial_blocks) return true;
  const std::byte* words = state.slices[(state.columns + kSliceColumns - 1) / kSliceColumns] + block * 8;
  const std::uint64_t chosen =
      (load_le<std::uint64_t>(words) & choice.in_first) ^ (load_le<std::uint64_t>(words + 8) & choice.in_second);
  return static_cast<std::uint32_t>(__builtin_parityll(chosen)) == ((fingerprint >> state.columns) & 1);
}

/// What the slices from this one on say about a key whose start is in this block, a full one before a full one.
HWY_INLINE bool later_slices_match(const SlicedState& state, std::uint32_t slice, std::uint64_t block, Choice choice,
                                   std::uint32_t fingerprint) {
  for (; kSliceColumns * slice < state.columns; ++slice) {
    const std::uint32_t columns = columns_of(state, slice);
    if (sum_of_slice(state.slices[slice], block, columns, choice) != part_of(fingerprint, slice, columns)) return false;
  }
  return partial_column_matches(state, block, choice, fingerprint);
}

/// The same, out of the way of the fast path.
HWY_NOINLINE bool ask_later_slices(const SlicedState& state, std::uint32_t slice, std::uint64_t block, Choice choice,
                                   std::uint32_t fingerprint) {
  return later_slices_match(state, slice, block, choice, fingerprint);
}

bool has_sum_anywhere(const SlicedState& state, std::uint64_t row, std::uint64_t mixed) {
  const std::uint64_t coefficients = ribbon_coefficients(mixed);
  const std::uint32_t fingerprint = fingerprint_of(state, mixed);
  for (std::uint32_t slice = 0; kSliceColumns * slice < state.columns; ++slice) {
    const RibbonBlocks blocks = blocks_of(state, slice);
    if (sum_of_any_rows(blocks, row, coefficients) != part_of(fingerprint, slice, blocks.columns)) return false;
  }
  return partial_column_matches(state, row / 64, choice_of(row, coefficients), fingerprint);
}

/// Correct for any layer and block, but slower; used for few keys, unless the filter is tiny.
HWY_NOINLINE bool ask_from_layer(const SlicedState& state, std::size_t layer, std::uint64_t key) {
  return ask_layers(state.layers, layer, key,
                    [&](std::uint64_t row, std::uint64_t mixed) { return has_sum_anywhere(state, row, mixed); });
}

bool may_contain_anywhere(const FilterProbe& probe, std::uint64_t hash) {
  return ask_from_layer(probe_state<SlicedState>(probe), 0, hash);
}

/// The fast path: nearly all keys are in the first layer, which has full blocks. Tests some slices together, then the
/// later ones, if there are any.
template <typename Together, bool kHasLater>
HWY_INLINE bool ask_first_layer(const SlicedState& state, std::uint64_t hash) {
  const std::uint64_t mixed = ribbon_mix(hash);
  const std::uint64_t position = fast_range(mixed, state.layers.starts[0]);
  if (is_sent_on(state.layers, 0, position)) [[unlikely]]
    return ask_from_layer(state, 1, ribbon_key_of_next_layer(mixed));
  const auto together = Together::of(state);
  const std::uint64_t block = position / 64;
  const Choice choice = choice_of(position, ribbon_coefficients(mixed));
  const std::uint32_t fingerprint = fingerprint_of(state, mixed);
  const BlockPlace place = place_of(first_block(state), block * together.first() * 8, together);
  const std::uint32_t sum = sum_of_first(place, choice, together);
  const bool matches = ((sum ^ fingerprint) & ((1U << together.columns()) - 1)) == 0;
  if (!kHasLater || !matches) return matches;
  return ask_later_slices(state, Together::kIsTwo ? 2 : 1, block, choice, fingerprint);
}

template <typename Together, bool kHasLater>
bool may_contain(const FilterProbe& probe, std::uint64_t hash) {
  return ask_first_layer<Together, kHasLater>(probe_state<SlicedState>(probe), hash);
}

/// The slices that are tested together.
HWY_INLINE void prefetch_hash(const SlicedState& state, std::uint64_t hash) {
  const std::uint64_t block = fast_range(ribbon_mix(hash), state.layers.starts[0]) / 64;
  prefetch_first_layer(state.layers, blocks_of(state, 0), hash);
  if (state.columns <= kSliceColumns) return;
  const RibbonBlocks second = blocks_of(state, 1);
  prefetch_blocks(second.first + block * second.columns * 8, second.columns);
}

void prefetch(const FilterProbe& probe, std::uint64_t hash) { prefetch_hash(probe_state<SlicedState>(probe), hash); }

/// For `test_many`.
template <typename Together, bool kHasLater>
struct SlicesToTest {
  const SlicedState& state;
  const RibbonLayers& layers = state.layers;
  const RibbonBlocks blocks = blocks_of(state, 0);
  const std::uint32_t fingerprint_bits = 64U - state.fingerprint_shift;

#if HWY_TARGET == HWY_AVX3_DL
  /// Bit i: the slices that are tested together do not deny key i.
  [[nodiscard]] HWY_INLINE std::uint64_t matching(const Batch& batch) const {
    const Words words;
    const hn::FixedTag<std::uint8_t, kBatch> bytes;
    HWY_ALIGN std::uint8_t sums[kBatch + 8];
    HWY_ALIGN std::uint8_t wanted[kBatch];
    const auto together = Together::of(state);
    const BlockPlace begin = first_block(state);  // Once: as far as the compiler knows, `sums` may overlap the state.
    for (std::size_t i = 0; i < kBatch; ++i) {
      const BlockPlace place = place_of(begin, batch.offset[i], together);
      const Choice choice = {batch.in_first[i], batch.in_second[i]};
      hn::StoreMaskBits(words, sums_of_first(place, choice, together), sums + i);
    }
    for (std::size_t i = 0; i < kBatch; ++i) wanted[i] = static_cast<std::uint8_t>(batch.fingerprint[i]);
    auto sum = hn::Load(bytes, sums);
    if constexpr (!Together::kIsTwo) sum = hn::Xor(sum, hn::ShiftRight<4>(sum));
    const auto differing = hn::And(hn::Xor(sum, hn::Load(bytes, wanted)),
                                   hn::Set(bytes, static_cast<std::uint8_t>((1U << together.columns()) - 1)));
    std::uint64_t matching = 0;
    hn::StoreMaskBits(bytes, hn::Eq(differing, hn::Zero(bytes)), reinterpret_cast<std::uint8_t*>(&matching));
    return matching;
  }

  [[nodiscard]] HWY_INLINE std::uint64_t block_of(const Batch& batch, std::size_t i) const {
    return batch.offset[i] / (8 * Together::of(state).first());
  }

  /// Loads what `matching_later` needs for these keys.
  HWY_INLINE void prefetch_later(const Batch& batch, std::uint64_t left) const {
    for (; left != 0; left &= left - 1) {
      const std::uint64_t block = block_of(batch, hwy::Num0BitsBelowLS1Bit_Nonzero64(left));
      for (std::uint32_t slice = 1; kSliceColumns * slice < state.columns; ++slice) {
        const std::uint32_t columns = columns_of(state, slice);
        prefetch_blocks(state.slices[slice] + block * columns * 8, columns);
      }
    }
  }

  /// Those of the keys in `left` that no later slice denies.
  [[nodiscard]] HWY_INLINE std::uint64_t matching_later(const Batch& batch, std::uint64_t left) const {
    if constexpr (!kHasLater) return left;
    std::uint64_t matching = 0;
    for (; left != 0; left &= left - 1) {
      const int i = hwy::Num0BitsBelowLS1Bit_Nonzero64(left);
      const Choice choice = {batch.in_first[i], batch.in_second[i]};
      const bool matches =
          later_slices_match(state, Together::kIsTwo ? 2 : 1, block_of(batch, i), choice, batch.fingerprint[i]);
      matching |= std::uint64_t{matches} << i;
    }
    return matching;
  }
#endif

  [[nodiscard]] HWY_INLINE bool ask_first_layer(std::uint64_t hash) const {
    return HWY_NAMESPACE::ask_first_layer<Together, kHasLater>(state, hash);
  }
  HWY_INLINE void prefetch(std::uint64_t hash) const { prefetch_hash(state, hash); }
  [[nodiscard]] bool ask_beyond_first_layer(std::uint64_t key) const { return ask_from_layer(state, 1, key); }
};

template <typename Together, bool kHasLater, bool kPrefetch>
void may_contain_many(const FilterProbe& probe, const std::uint64_t* hashes, std::size_t count,
                      std::uint64_t* answers) {
  const SlicedState state = probe_state<SlicedState>(probe);
  test_many<kPrefetch>(SlicesToTest<Together, kHasLater>{state}, hashes, count, answers);
}

void prefetch_nothing(const FilterProbe&, std::uint64_t) {}

template <bool kTwo, bool kWhole, bool kHasLater>
void set_functions_of(FilterProbe& probe) {
  const SlicedState& state = probe_state<SlicedState>(probe);
  using Tested = Together<kTwo, kWhole>;
  probe.may_contain_fn = may_contain<Tested, kHasLater>;
  probe.prefetch_fn = prefetch;
  constexpr std::uint64_t kBytesInCache = 512 << 10;  // Half of a typical L2 cache.
  if (!fits_batches(state.layers)) {
    probe.may_contain_many_fn = may_contain_many_in_groups<may_contain<Tested, kHasLater>, prefetch>;
  } else if (state.full_blocks * state.columns * 8 <= kBytesInCache) {
    probe.may_contain_many_fn = may_contain_many<Tested, kHasLater, false>;
  } else if constexpr (HWY_TARGET == HWY_AVX3_DL && kTwo) {
    // Whole batches can wait for the second slice of the few keys that the first does not deny.
    probe.may_contain_many_fn = may_contain_many<Together<false, true>, true, true>;
  } else {
    probe.may_contain_many_fn = may_contain_many<Tested, kHasLater, true>;
  }
}

}  // namespace

void set_sliced_functions(FilterProbe& probe) {
  const SlicedState& state = probe_state<SlicedState>(probe);
  if (!has_usual_first_layer(state.layers, state.full_blocks)) {  // Few blocks or none.
    return set_probe_functions<may_contain_anywhere, prefetch_nothing>(probe);
  }
  const bool has_partial = state.partial_blocks != 0;
  if (state.columns < kSliceColumns) return set_functions_of<false, false, true>(probe);
  if (state.columns == kSliceColumns && has_partial) return set_functions_of<false, true, true>(probe);
  if (state.columns == kSliceColumns) return set_functions_of<false, true, false>(probe);
  if (state.columns < 2 * kSliceColumns) return set_functions_of<true, false, true>(probe);
  if (state.columns == 2 * kSliceColumns && !has_partial) return set_functions_of<true, true, false>(probe);
  return set_functions_of<true, true, true>(probe);
}

}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis {

void choose_sliced_functions(FilterProbe& probe) { TAMIS_BEST_BODY(set_sliced_functions)(probe); }

}  // namespace tamis
#endif
