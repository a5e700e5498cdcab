// The probe of a ribbon in slices, one body per instruction set. See sliced.cc for the layout.
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

/// The bits of a fingerprint that belong to a slice.
HWY_INLINE std::uint32_t part_of(std::uint32_t fingerprint, std::uint32_t slice, std::uint32_t columns) {
  return (fingerprint >> (kSliceColumns * slice)) & ((1U << columns) - 1);
}

// Sums of the columns of the first slices. kColumns: their number, up to four in the first slice and, if there are
// more, up to four in the second. Looking into two slices at once takes no longer than into one of eight columns.

template <std::uint32_t kColumns>
inline constexpr std::uint32_t kColumnsOfFirst = std::min(kColumns, kSliceColumns);
template <std::uint32_t kColumns>
inline constexpr std::uint32_t kColumnsOfSecond = kColumns - kColumnsOfFirst<kColumns>;

/// Where a block is in the first slices.
struct BlockPlace {
  const std::byte* in_first;
  const std::byte* in_second;
};
template <std::uint32_t kColumns>
HWY_INLINE BlockPlace place_of(const SlicedState& state, std::uint64_t block) {
  return {state.slices[0] + block * kColumnsOfFirst<kColumns> * 8,
          kColumns <= kSliceColumns ? nullptr : state.slices[1] + block * kColumnsOfSecond<kColumns> * 8};
}

#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

using FourWords = hn::FixedTag<std::uint64_t, 4>;

/// A block of up to four columns, zeros after them.
template <std::uint32_t kColumns>
HWY_INLINE hn::Vec<FourWords> load_block(const std::byte* from) {
  const FourWords words;
  const auto* block = reinterpret_cast<const std::uint64_t*>(from);
  if constexpr (kColumns == 4) return hn::LoadU(words, block);
  return hn::MaskedLoad(hn::FirstN(words, kColumns), words, block);
}

#endif

#if HWY_TARGET == HWY_AVX3_DL

/// Bit j: the sum of column j, for five columns and more. For fewer, those of the first block, and from bit 4 on those
/// of the second; `folded` adds them.
template <std::uint32_t kColumns>
HWY_INLINE hn::Mask<Words> sums_of_first(BlockPlace place, Choice choice) {
  const Words words;
  constexpr std::uint32_t kFirst = kColumnsOfFirst<kColumns>;
  const auto in_first = hn::Set(words, choice.in_first);
  const auto in_second = hn::Set(words, choice.in_second);
  if constexpr (kColumns <= kSliceColumns) {
    const auto both = kFirst == 4 ? hn::LoadU(words, reinterpret_cast<const std::uint64_t*>(place.in_first))
                                  : hn::Combine(words, load_block<kFirst>(place.in_first + std::size_t{8} * kFirst),
                                                load_block<kFirst>(place.in_first));
    return is_odd(hn::And(both, hn::ConcatUpperLower(words, in_second, in_first)));
  } else {
    constexpr std::uint32_t kSecond = kColumnsOfSecond<kColumns>;
    const auto here = hn::Combine(words, load_block<kSecond>(place.in_second), load_block<kFirst>(place.in_first));
    const auto next = hn::Combine(words, load_block<kSecond>(place.in_second + std::size_t{8} * kSecond),
                                  load_block<kFirst>(place.in_first + std::size_t{8} * kFirst));
    return is_odd(hn::Xor(hn::And(here, in_first), hn::And(next, in_second)));
  }
}

template <std::uint32_t kColumns>
HWY_INLINE std::uint32_t sum_of_first(BlockPlace place, Choice choice) {
  std::uint8_t bits[8];
  hn::StoreMaskBits(Words(), sums_of_first<kColumns>(place, choice), bits);
  return kColumns > kSliceColumns ? bits[0] : (bits[0] ^ (bits[0] >> 4)) & 15U;
}

#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

template <std::uint32_t kColumns>
HWY_INLINE hn::Vec<FourWords> chosen_of_slice(const std::byte* from, Choice choice) {
  const FourWords words;
  return hn::Xor(hn::And(load_block<kColumns>(from), hn::Set(words, choice.in_first)),
                 hn::And(load_block<kColumns>(from + std::size_t{8} * kColumns), hn::Set(words, choice.in_second)));
}

template <std::uint32_t kColumns>
HWY_INLINE std::uint32_t sum_of_first(BlockPlace place, Choice choice) {
  const auto low = chosen_of_slice<kColumnsOfFirst<kColumns> >(place.in_first, choice);
  if constexpr (kColumns <= kSliceColumns) {
    return parities_of(low, hn::Zero(FourWords()));
  } else {
    return parities_of(low, chosen_of_slice<kColumnsOfSecond<kColumns> >(place.in_second, choice));
  }
}

#else

template <std::uint32_t kColumns>
HWY_INLINE std::uint32_t sum_of_first(BlockPlace place, Choice choice) {
  const std::uint32_t sum = sum_of_block_rows(place.in_first, kColumnsOfFirst<kColumns>, choice);
  if constexpr (kColumns <= kSliceColumns) {
    return sum;
  } else {
    return sum | sum_of_block_rows(place.in_second, kColumnsOfSecond<kColumns>, choice) << kSliceColumns;
  }
}

#endif

HWY_INLINE std::uint32_t sum_of_slice(const std::byte* blocks, std::uint64_t block, std::uint32_t columns,
                                      Choice choice) {
  const std::byte* from = blocks + block * columns * 8;
  return columns == kSliceColumns ? sum_of_first<kSliceColumns>({from, nullptr}, choice)
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

/// What the slices after the first columns say about a key whose start is in this block, a full one before a full one.
HWY_INLINE bool later_slices_match(const SlicedState& state, std::uint32_t first_columns, std::uint64_t block,
                                   Choice choice, std::uint32_t fingerprint) {
  for (std::uint32_t slice = (first_columns + 3) / kSliceColumns; kSliceColumns * slice < state.columns; ++slice) {
    const std::uint32_t columns = columns_of(state, slice);
    if (sum_of_slice(state.slices[slice], block, columns, choice) != part_of(fingerprint, slice, columns)) return false;
  }
  return partial_column_matches(state, block, choice, fingerprint);
}

/// The same, out of the way of the fast path.
template <std::uint32_t kColumns>
HWY_NOINLINE bool ask_later_slices(const SlicedState& state, std::uint64_t block, Choice choice,
                                   std::uint32_t fingerprint) {
  return later_slices_match(state, kColumns, block, choice, fingerprint);
}

HWY_INLINE bool has_more_than(const SlicedState& state, std::uint32_t columns) {
  return state.columns > columns || state.partial_blocks != 0;
}

bool has_sum_anywhere(const SlicedState& state, std::uint64_t row, std::uint64_t mixed) {
  const std::uint64_t coefficients = ribbon_coefficients(mixed);
  const std::uint32_t fingerprint = ribbon_fingerprint(mixed, state.fingerprint_bits);
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

/// The fast path: nearly all keys are in the first layer, which has full blocks. Tests the first kColumns together,
/// then the later slices.
template <std::uint32_t kColumns>
HWY_INLINE bool ask_first_layer(const SlicedState& state, std::uint64_t hash) {
  const std::uint64_t mixed = ribbon_mix(hash);
  const std::uint64_t position = fast_range(mixed, state.layers.starts[0]);
  if (is_sent_on(state.layers, 0, position)) [[unlikely]]
    return ask_from_layer(state, 1, ribbon_key_of_next_layer(mixed));
  const std::uint64_t block = position / 64;
  const Choice choice = choice_of(position, ribbon_coefficients(mixed));
  const std::uint32_t fingerprint = ribbon_fingerprint(mixed, state.fingerprint_bits);
  const std::uint32_t sum = sum_of_first<kColumns>(place_of<kColumns>(state, block), choice);
  const bool matches = ((sum ^ fingerprint) & ((1U << kColumns) - 1)) == 0;
  if (!has_more_than(state, kColumns) || !matches) return matches;
  return ask_later_slices<kColumns>(state, block, choice, fingerprint);
}

template <std::uint32_t kColumns>
bool may_contain(const FilterProbe& probe, std::uint64_t hash) {
  return ask_first_layer<kColumns>(probe_state<SlicedState>(probe), hash);
}

/// Only the first slice: an absent key rarely needs more, and the lookup of a present one loads the others together.
void prefetch(const FilterProbe& probe, std::uint64_t hash) {
  const SlicedState& state = probe_state<SlicedState>(probe);
  prefetch_first_layer(state.layers, blocks_of(state, 0), hash);
}

/// For `test_many`.
template <std::uint32_t kColumns>
struct SlicesToTest {
  const SlicedState& state;
  const RibbonLayers& layers = state.layers;
  const RibbonBlocks blocks = blocks_of(state, 0);
  const std::uint32_t fingerprint_bits = state.fingerprint_bits;

#if HWY_TARGET == HWY_AVX3_DL
  [[nodiscard]] HWY_INLINE std::uint64_t block_of(const Batch& batch, std::size_t i) const {
    return batch.offset[i] / (8 * kColumnsOfFirst<kColumns>);
  }

  /// Bit i: the first kColumns do not deny key i.
  [[nodiscard]] HWY_INLINE std::uint64_t matching(const Batch& batch) const {
    const Words words;
    const hn::FixedTag<std::uint8_t, kBatch> bytes;
    HWY_ALIGN std::uint8_t sums[kBatch + 8];
    HWY_ALIGN std::uint8_t wanted[kBatch];
    for (std::size_t i = 0; i < kBatch; ++i) {
      const BlockPlace place = place_of<kColumns>(state, block_of(batch, i));
      hn::StoreMaskBits(words, sums_of_first<kColumns>(place, {batch.in_first[i], batch.in_second[i]}), sums + i);
    }
    for (std::size_t i = 0; i < kBatch; ++i) wanted[i] = static_cast<std::uint8_t>(batch.fingerprint[i]);
    auto sum = hn::Load(bytes, sums);
    if constexpr (kColumns <= kSliceColumns) sum = hn::Xor(sum, hn::ShiftRight<4>(sum));
    const auto differing =
        hn::And(hn::Xor(sum, hn::Load(bytes, wanted)), hn::Set(bytes, static_cast<std::uint8_t>((1U << kColumns) - 1)));
    std::uint64_t matching = 0;
    hn::StoreMaskBits(bytes, hn::Eq(differing, hn::Zero(bytes)), reinterpret_cast<std::uint8_t*>(&matching));
    return matching;
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
    if (!has_more_than(state, kColumns)) return left;
    std::uint64_t matching = 0;
    for (; left != 0; left &= left - 1) {
      const int i = hwy::Num0BitsBelowLS1Bit_Nonzero64(left);
      const Choice choice = {batch.in_first[i], batch.in_second[i]};
      const bool matches = later_slices_match(state, kColumns, block_of(batch, i), choice, batch.fingerprint[i]);
      matching |= std::uint64_t{matches} << i;
    }
    return matching;
  }
#endif

  [[nodiscard]] HWY_INLINE bool ask_first_layer(std::uint64_t hash) const {
    return HWY_NAMESPACE::ask_first_layer<kColumns>(state, hash);
  }
  [[nodiscard]] bool ask_beyond_first_layer(std::uint64_t key) const { return ask_from_layer(state, 1, key); }
};

/// In cache, kColumns are those of the first two slices. Out of it, an absent key should load only the first.
template <std::uint32_t kColumns, bool kPrefetch>
void may_contain_many(const FilterProbe& probe, const std::uint64_t* hashes, std::size_t count,
                      std::uint64_t* answers) {
  const SlicedState state = probe_state<SlicedState>(probe);
  test_many<kPrefetch>(SlicesToTest<kColumns>{state}, hashes, count, answers);
}

void prefetch_nothing(const FilterProbe&, std::uint64_t) {}

template <std::uint32_t kColumns, bool kPrefetch>
void set_usual_functions(FilterProbe& probe) {
  probe.may_contain_fn = may_contain<kColumns>;
  probe.prefetch_fn = prefetch;
  probe.may_contain_many_fn = fits_batches(probe_state<SlicedState>(probe).layers)
                                  ? may_contain_many<kColumns, kPrefetch>
                                  : may_contain_many_in_groups<may_contain<kColumns>, prefetch>;
}

}  // namespace

void set_sliced_functions(FilterProbe& probe) {
  const SlicedState& state = probe_state<SlicedState>(probe);
  if (!has_usual_first_layer(state.layers, state.full_blocks)) {  // Few blocks or none.
    return set_probe_functions<may_contain_anywhere, prefetch_nothing>(probe);
  }
  constexpr std::uint64_t kBytesInCache = 512 << 10;  // Half of a typical L2 cache.
  const bool is_in_cache = state.full_blocks * state.columns * 8 <= kBytesInCache;
  if (!is_in_cache) {
    switch (state.columns) {
      case 1: return set_usual_functions<1, true>(probe);
      case 2: return set_usual_functions<2, true>(probe);
      case 3: return set_usual_functions<3, true>(probe);
      default: return set_usual_functions<kSliceColumns, true>(probe);
    }
  }
  switch (state.columns) {
    case 1: return set_usual_functions<1, false>(probe);
    case 2: return set_usual_functions<2, false>(probe);
    case 3: return set_usual_functions<3, false>(probe);
    case 4: return set_usual_functions<4, false>(probe);
    case 5: return set_usual_functions<5, false>(probe);
    case 6: return set_usual_functions<6, false>(probe);
    case 7: return set_usual_functions<7, false>(probe);
    default: return set_usual_functions<2 * kSliceColumns, false>(probe);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis {

HWY_EXPORT(set_sliced_functions);

void choose_sliced_functions(FilterProbe& probe) { HWY_DYNAMIC_DISPATCH(set_sliced_functions)(probe); }

}  // namespace tamis
#endif
