// Sums (xors) of selected rows of a ribbon filter, for one key and for batches, one body per instruction set. Included
// by ribbon_probe.cc only.
#if defined(TAMIS_FILTER_RIBBON_SUM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_FILTER_RIBBON_SUM_INL_H
#undef TAMIS_FILTER_RIBBON_SUM_INL_H
#else
#define TAMIS_FILTER_RIBBON_SUM_INL_H
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "filter/ribbon_layout.h"

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// The coefficients of a start, split between its block and the next.
struct Choice {
  std::uint64_t in_first;
  std::uint64_t in_second;
};
HWY_INLINE Choice choice_of(std::uint64_t row, std::uint64_t coefficients) {
  return {coefficients << (row % 64), (coefficients >> 1) >> (63 - row % 64)};
}

/// The sum of the selected rows, bit j for column j, if the last block may be involved: it may be cut short, or missing
/// if no selected row lies in it.
HWY_NOINLINE std::uint32_t sum_of_last_rows(const RibbonState& state, std::uint64_t row, std::uint64_t coefficients) {
  const auto column_of_block = [&state](std::uint64_t block, std::uint32_t column) {
    const std::byte* words = state.blocks + block * state.columns * 8;
    if (block < state.full_blocks) return load_le<std::uint64_t>(words + std::size_t{8} * column);
    std::uint64_t word = 0;
    for (std::uint32_t i = 0; block == state.full_blocks && i < state.cut_bytes; ++i) {
      word |= std::to_integer<std::uint64_t>(words[column * state.cut_bytes + i]) << (8 * i);
    }
    return word;
  };
  const Choice choice = choice_of(row, coefficients);
  std::uint32_t sum = 0;
  for (std::uint32_t column = 0; column < state.columns; ++column) {
    const std::uint64_t chosen = (column_of_block(row / 64, column) & choice.in_first) ^
                                 (column_of_block(row / 64 + 1, column) & choice.in_second);
    sum |= static_cast<std::uint32_t>(__builtin_parityll(chosen)) << column;
  }
  return sum;
}

HWY_INLINE void prefetch_blocks(const std::byte* first, std::uint32_t columns) {
  const std::size_t bytes = std::size_t{16} * columns;
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(first + at);
  __builtin_prefetch(first + bytes - 1);
}

#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

using Words = hn::FixedTag<std::uint64_t, HWY_TARGET == HWY_AVX3_DL ? 8 : 4>;

/// A word for each of the columns that fit into a vector; its parity is the sum of the column over `first` and the
/// block after it. kAll: exactly as many columns as fit.
template <bool kAll>
HWY_INLINE hn::Vec<Words> chosen_of(const std::byte* first, std::size_t block_bytes, hn::Vec<Words> in_first,
                                    hn::Vec<Words> in_second, std::uint32_t columns) {
  const Words words;
  const auto load = [&](const std::byte* from) {
    const auto* block = reinterpret_cast<const std::uint64_t*>(from);
    if constexpr (kAll) return hn::LoadU(words, block);
    return hn::MaskedLoad(hn::FirstN(words, columns), words, block);
  };
  return hn::Xor(hn::And(load(first), in_first), hn::And(load(first + block_bytes), in_second));
}

#endif

#if HWY_TARGET == HWY_AVX3_DL

/// Lane j: whether the sum of column j is 1.
HWY_INLINE hn::Mask<Words> is_odd(hn::Vec<Words> chosen) {
  return hn::TestBit(hn::PopulationCount(chosen), hn::Set(Words(), 1));
}

HWY_INLINE std::uint32_t parities_of(hn::Vec<Words> chosen) {
  std::uint8_t bits[8];
  hn::StoreMaskBits(Words(), is_odd(chosen), bits);
  return bits[0];
}

/// Bit j: the sum of column j. Up to eight columns; kAll: exactly eight.
template <bool kAll>
HWY_INLINE std::uint32_t sum_of_columns(const std::byte* first, std::size_t block_bytes, hn::Vec<Words> in_first,
                                        hn::Vec<Words> in_second, std::uint32_t columns) {
  return parities_of(chosen_of<kAll>(first, block_bytes, in_first, in_second, columns));
}

#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

/// Without a vector popcount: folds halves onto each other until one bit is left, in eight 32-bit lanes as soon as they
/// suffice.
HWY_INLINE std::uint32_t parities_of(hn::Vec<Words> low, hn::Vec<Words> high) {
  const hn::FixedTag<std::uint32_t, 8> halves;
  low = hn::Xor(low, hn::ShiftRight<32>(low));
  high = hn::Xor(high, hn::ShiftRight<32>(high));
  auto x = hn::ConcatEven(halves, hn::BitCast(halves, high), hn::BitCast(halves, low));
  x = hn::Xor(x, hn::ShiftLeft<16>(x));
  x = hn::Xor(x, hn::ShiftLeft<8>(x));
  x = hn::Xor(x, hn::ShiftLeft<4>(x));
  x = hn::Xor(x, hn::ShiftLeft<2>(x));
  x = hn::Xor(x, hn::ShiftLeft<1>(x));
  const hn::RebindToSigned<decltype(halves)> numbers;
  std::uint8_t bits[8];
  hn::StoreMaskBits(numbers, hn::Lt(hn::BitCast(numbers, x), hn::Zero(numbers)), bits);
  return bits[0];
}

template <bool kAll>
HWY_INLINE std::uint32_t sum_of_columns(const std::byte* first, std::size_t block_bytes, hn::Vec<Words> in_first,
                                        hn::Vec<Words> in_second, std::uint32_t columns) {
  const auto low = chosen_of<kAll>(first, block_bytes, in_first, in_second, columns);
  const auto high = kAll || columns > 4 ? chosen_of<kAll>(first + 32, block_bytes, in_first, in_second, columns - 4)
                                        : hn::Zero(Words());
  return parities_of(low, high);
}

#endif

#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

HWY_INLINE std::uint32_t sum_of_block_rows(const std::byte* first, std::uint32_t columns, Choice choice) {
  const auto in_first = hn::Set(Words(), choice.in_first);
  const auto in_second = hn::Set(Words(), choice.in_second);
  const std::size_t block_bytes = std::size_t{8} * columns;
  std::uint32_t sum = 0;
  std::uint32_t column = 0;
  for (; column + 8 <= columns; column += 8, first += 64) {
    sum |= sum_of_columns<true>(first, block_bytes, in_first, in_second, 8) << column;
  }
  if (columns % 8 == 0) return sum;
  return sum | sum_of_columns<false>(first, block_bytes, in_first, in_second, columns % 8) << column;
}

#else

HWY_INLINE std::uint32_t sum_of_block_rows(const std::byte* first, std::uint32_t columns, Choice choice) {
  std::uint32_t sum = 0;
  for (std::uint32_t column = 0; column < columns; ++column) {
    const std::uint64_t chosen =
        (load_le<std::uint64_t>(first + std::size_t{8} * column) & choice.in_first) ^
        (load_le<std::uint64_t>(first + std::size_t{8} * (columns + column)) & choice.in_second);
    sum |= static_cast<std::uint32_t>(__builtin_parityll(chosen)) << column;
  }
  return sum;
}

#endif

/// The sum of the selected rows, for a start whose block and next block are full.
HWY_INLINE std::uint32_t sum_of_rows(const RibbonState& state, std::uint32_t columns, std::uint64_t row,
                                     std::uint64_t coefficients) {
  return sum_of_block_rows(state.blocks + row / 64 * columns * 8, columns, choice_of(row, coefficients));
}

#if HWY_TARGET == HWY_AVX3_DL

// Batches of lookups, for targets with vectors of eight words and a vector popcount. Coefficients and fingerprints are
// computed for eight keys at a time, the sums then key by key.

constexpr std::size_t kBatch = 64;

/// Keys of the first layer, ready to test: the rows to select, from which block, and the expected sum.
struct Batch {
  HWY_ALIGN std::uint64_t in_first[kBatch];
  HWY_ALIGN std::uint64_t in_second[kBatch];
  HWY_ALIGN std::uint64_t offset[kBatch];  // Of the block, in bytes; the next block follows.
  HWY_ALIGN std::uint32_t fingerprint[kBatch];
  std::uint64_t sent_on;  // Bit i: key i is not in the first layer.
};

/// ⌊mixed · starts / 2^64⌋ for starts below 2^32.
HWY_INLINE hn::Vec<Words> positions_of(hn::Vec<Words> mixed, std::uint64_t starts) {
  const Words words;
  const hn::Repartition<std::uint32_t, Words> halves;
  const auto factor = hn::BitCast(halves, hn::Set(words, starts));
  const auto low = hn::MulEven(hn::BitCast(halves, mixed), factor);
  const auto high = hn::MulEven(hn::BitCast(halves, hn::ShiftRight<32>(mixed)), factor);
  return hn::ShiftRight<32>(hn::Add(high, hn::ShiftRight<32>(low)));
}

/// Bit i: the key of lane i is bumped.
HWY_INLINE std::uint64_t sent_on_of(const std::byte* marks, hn::Vec<Words> position) {
  const Words words;
  constexpr RibbonBuckets kBuckets = kRibbonBuckets[0];
  constexpr std::uint32_t kThresholds = kBuckets.threshold[0] | kBuckets.threshold[1] << 8 |
                                        kBuckets.threshold[2] << 16 | std::uint32_t{kBuckets.threshold[3]} << 24;
  const auto bucket = hn::ShiftRight<kBuckets.shift>(position);
  const hn::FixedTag<std::int32_t, 8> indices;
  const hn::FixedTag<std::uint32_t, 8> mark_words;
  const auto index = hn::BitCast(indices, hn::TruncateTo(mark_words, hn::ShiftRight<4>(bucket)));
  const auto sixteen_marks = hn::GatherIndex(mark_words, reinterpret_cast<const std::uint32_t*>(marks), index);
  const auto place = hn::ShiftLeft<1>(hn::And(bucket, hn::Set(words, 15)));
  const auto mark = hn::And(hn::Shr(hn::PromoteTo(words, sixteen_marks), place), hn::Set(words, 3));
  const auto threshold = hn::And(hn::Shr(hn::Set(words, kThresholds), hn::ShiftLeft<3>(mark)), hn::Set(words, 255));
  const auto within = hn::And(position, hn::Set(words, (1U << kBuckets.shift) - 1));
  std::uint8_t bits[8];
  hn::StoreMaskBits(words, hn::Lt(within, threshold), bits);
  return bits[0];
}

/// `remix` of base/hash.h.
HWY_INLINE hn::Vec<Words> remixed(hn::Vec<Words> x) {
  const Words words;
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<30>(x)), hn::Set(words, 0xbf58476d1ce4e5b9U));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<27>(x)), hn::Set(words, 0x94d049bb133111ebU));
  return hn::Xor(x, hn::ShiftRight<31>(x));
}

/// Eight keys at a time.
template <bool kPrefetch>
HWY_INLINE void prepare_batch(const RibbonState& state, const std::uint64_t* hashes, Batch& batch) {
  const Words words;
  const auto one = hn::Set(words, 1);
  batch.sent_on = 0;
  for (std::size_t i = 0; i < kBatch; i += 8) {
    const auto mixed = remixed(hn::LoadU(words, hashes + i));
    const auto position = positions_of(mixed, state.starts[0]);
    batch.sent_on |= sent_on_of(state.marks, position) << i;
    const auto coefficients = hn::Or(hn::Mul(mixed, hn::Set(words, kRibbonCoefficientFactor)), one);
    const auto shift = hn::And(position, hn::Set(words, 63));
    hn::Store(hn::Shl(coefficients, shift), words, batch.in_first + i);
    hn::Store(hn::Shr(hn::ShiftRight<1>(coefficients), hn::Xor(shift, hn::Set(words, 63))), words, batch.in_second + i);
    hn::Store(hn::Mul(hn::ShiftRight<6>(position), hn::Set(words, std::uint64_t{8} * state.columns)), words,
              batch.offset + i);
    const auto fingerprint =
        hn::Mul(hn::Xor(mixed, hn::ShiftRight<32>(mixed)), hn::Set(words, kRibbonFingerprintFactor));
    const hn::FixedTag<std::uint32_t, 8> halves;
    hn::Store(hn::TruncateTo(halves, hn::Shr(fingerprint, hn::Set(words, 64 - state.columns))), halves,
              batch.fingerprint + i);
    if constexpr (kPrefetch) {
      for (std::size_t j = i; j < i + 8; ++j) prefetch_blocks(state.blocks + batch.offset[j], state.columns);
    }
  }
}

/// One vector of columns: the sums are bytes, all compared at once.
template <bool kAll>
HWY_INLINE std::uint64_t matching_byte_sums(const RibbonState& state, const Batch& batch) {
  const Words words;
  const hn::FixedTag<std::uint8_t, kBatch> bytes;
  const std::size_t block_bytes = kAll ? 64 : std::size_t{8} * state.columns;
  HWY_ALIGN std::uint8_t sums[kBatch + 8];
  for (std::size_t i = 0; i < kBatch; ++i) {
    const auto chosen = chosen_of<kAll>(state.blocks + batch.offset[i], block_bytes, hn::Set(words, batch.in_first[i]),
                                        hn::Set(words, batch.in_second[i]), state.columns % 8);
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
HWY_INLINE std::uint64_t matching_wide_sums(const RibbonState& state, const Batch& batch) {
  std::uint64_t matching = 0;
  for (std::size_t i = 0; i < kBatch; ++i) {
    const Choice choice = {batch.in_first[i], batch.in_second[i]};
    const std::uint32_t sum = sum_of_block_rows(state.blocks + batch.offset[i], state.columns, choice);
    matching |= static_cast<std::uint64_t>(sum == batch.fingerprint[i]) << i;
  }
  return matching;
}

/// Bit i: the rows of key i xor to its fingerprint.
HWY_INLINE std::uint64_t matching_sums(const RibbonState& state, const Batch& batch) {
  if (state.columns == 8) return matching_byte_sums<true>(state, batch);
  if (state.columns < 8) return matching_byte_sums<false>(state, batch);
  return matching_wide_sums(state, batch);
}

#endif  // HWY_AVX3_DL

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#endif  // TAMIS_FILTER_RIBBON_SUM_INL_H
