// Sums (xors) of selected rows of a ribbon filter, one body per instruction set. Included by the probes of ribbons.
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
HWY_NOINLINE std::uint32_t sum_of_last_rows(const RibbonBlocks& blocks, std::uint64_t row, std::uint64_t coefficients) {
  const auto column_of_block = [&blocks](std::uint64_t block, std::uint32_t column) {
    const std::byte* words = blocks.first + block * blocks.columns * 8;
    if (block < blocks.full) return load_le<std::uint64_t>(words + std::size_t{8} * column);
    std::uint64_t word = 0;
    for (std::uint32_t i = 0; block == blocks.full && i < blocks.cut_bytes; ++i) {
      word |= std::to_integer<std::uint64_t>(words[column * blocks.cut_bytes + i]) << (8 * i);
    }
    return word;
  };
  const Choice choice = choice_of(row, coefficients);
  std::uint32_t sum = 0;
  for (std::uint32_t column = 0; column < blocks.columns; ++column) {
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

/// The sum of the selected rows, for a start whose block and next block are full. `columns` is that of `blocks`, and
/// perhaps a constant.
HWY_INLINE std::uint32_t sum_of_rows(const RibbonBlocks& blocks, std::uint32_t columns, std::uint64_t row,
                                     std::uint64_t coefficients) {
  return sum_of_block_rows(blocks.first + row / 64 * columns * 8, columns, choice_of(row, coefficients));
}

/// The sum of the selected rows, wherever they are.
HWY_INLINE std::uint32_t sum_of_any_rows(const RibbonBlocks& blocks, std::uint64_t row, std::uint64_t coefficients) {
  return row / 64 + 1 < blocks.full ? sum_of_rows(blocks, blocks.columns, row, coefficients)
                                    : sum_of_last_rows(blocks, row, coefficients);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#endif  // TAMIS_FILTER_RIBBON_SUM_INL_H
