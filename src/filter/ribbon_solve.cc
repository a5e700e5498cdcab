// Back substitution for the ribbon filter, one body per instruction set.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "base/instruction_set.h"
#include "filter/ribbon_build.h"

#ifndef TAMIS_FILTER_RIBBON_SOLVE_TYPES  // This file is included once per instruction set; these are shared.
#define TAMIS_FILTER_RIBBON_SOLVE_TYPES
namespace tamis {
struct BlockRange {
  std::uint64_t begin;
  std::uint64_t end;
};
using RibbonWindow = std::array<std::uint64_t, kRibbonMostColumns>;
}  // namespace tamis
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filter/ribbon_solve.cc"
#include <hwy/foreach_target.h>  // Includes this file once per instruction set.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {

// Both bodies keep a window per column: a word with the values of the 64 rows from the current one, bit i for row + i.
// At the first row of a block, the window is the block.

#if HWY_TARGET == HWY_AVX3_DL

namespace hn = hwy::HWY_NAMESPACE;

namespace {

/// kVectors × 8 columns at once: the chain from row to row is a shift, an and, a popcount and two logic steps.
template <std::size_t kVectors>
void solve_with(const RibbonBand& band, BlockRange range, std::uint32_t columns, RibbonWindow& window, std::byte* out) {
  const hn::FixedTag<std::uint64_t, 8> lanes;
  const auto one = hn::Set(lanes, 1);
  hn::Vec<decltype(lanes)> rows[kVectors];
  hn::Vec<decltype(lanes)> column[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    rows[v] = hn::LoadU(lanes, window.data() + 8 * v);
    column[v] = hn::Iota(lanes, 8 * v);
  }
  for (std::uint64_t block = range.end; block-- > range.begin;) {
    for (std::uint64_t row = 64 * (block + 1); row-- > 64 * block;) {
      const auto coefficients = hn::Set(lanes, band.coefficients()[row]);
      const auto sum = hn::Set(lanes, band.sums()[row]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        rows[v] = hn::Add(rows[v], rows[v]);
        const auto parity = hn::Xor(hn::PopulationCount(hn::And(rows[v], coefficients)), hn::Shr(sum, column[v]));
        rows[v] = hn::Or(rows[v], hn::And(parity, one));
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      auto* to = reinterpret_cast<std::uint64_t*>(out) + (block - range.begin) * columns + 8 * v;
      hn::BlendedStore(rows[v], hn::FirstN(lanes, columns - 8 * v), lanes, to);
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(rows[v], lanes, window.data() + 8 * v);
}

}  // namespace

void solve_blocks(const RibbonBand& band, BlockRange range, std::uint32_t columns, RibbonWindow& window,
                  std::byte* out) {
  switch ((columns + 7) / 8) {
    case 1: return solve_with<1>(band, range, columns, window, out);
    case 2: return solve_with<2>(band, range, columns, window, out);
    case 3: return solve_with<3>(band, range, columns, window, out);
    default: return solve_with<4>(band, range, columns, window, out);
  }
}

#else

/// One column after another; from AVX2 on, the parity is a popcount.
void solve_blocks(const RibbonBand& band, BlockRange range, std::uint32_t columns, RibbonWindow& window,
                  std::byte* out) {
  RibbonWindow rows = window;
  for (std::uint64_t block = range.end; block-- > range.begin;) {
    for (std::uint64_t row = 64 * (block + 1); row-- > 64 * block;) {
      const std::uint64_t coefficients = band.coefficients()[row];
      const std::uint32_t sum = band.sums()[row];
      for (std::uint32_t column = 0; column < columns; ++column) {
        const std::uint64_t moved = rows[column] << 1;
        const auto parity = static_cast<std::uint32_t>(__builtin_parityll(moved & coefficients));
        rows[column] = moved | ((parity ^ (sum >> column)) & 1);
      }
    }
    for (std::uint32_t column = 0; column < columns; ++column) {
      store_le(out + ((block - range.begin) * columns + column) * sizeof(std::uint64_t), rows[column]);
    }
  }
  window = rows;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis {

namespace {

/// Copies the last block, which is cut short.
void write_cut_block(const std::byte* words, const RibbonShape& shape, std::span<const RibbonColumns> parts) {
  for (const RibbonColumns& part : parts) {
    const bool has_cut_block = part.rows > shape.full_blocks() * kRibbonBlockRows;
    std::byte* to = part.out + shape.full_blocks() * part.columns * sizeof(std::uint64_t);
    for (std::uint32_t column = 0; has_cut_block && column < part.columns; ++column) {
      std::memcpy(to + column * shape.cut_bytes(), words + column * sizeof(std::uint64_t), shape.cut_bytes());
    }
    words += part.columns * sizeof(std::uint64_t);
  }
}

/// Copies full blocks from `words`, which has them with all columns.
void write_blocks(const std::byte* words, BlockRange range, std::uint32_t columns,
                  std::span<const RibbonColumns> parts) {
  for (const RibbonColumns& part : parts) {
    const std::size_t part_bytes = part.columns * sizeof(std::uint64_t);
    const std::uint64_t end = std::min(range.end, part.rows / kRibbonBlockRows);
    for (std::uint64_t block = range.begin; block < end; ++block) {
      std::memcpy(part.out + block * part_bytes, words + (block - range.begin) * columns * sizeof(std::uint64_t),
                  part_bytes);
    }
    words += part_bytes;
  }
}

}  // namespace

void solve_ribbon(const RibbonBand& band, const RibbonShape& shape, std::span<const RibbonColumns> parts) {
  constexpr std::uint64_t kAtOnce = 64;  // Blocks that fit into the L1 cache.
  const auto solve = TAMIS_BEST_BODY(solve_blocks);
  const std::uint64_t full = shape.full_blocks();
  std::array<std::byte, kAtOnce * sizeof(RibbonWindow)> words;
  RibbonWindow window = {};
  if (shape.cut_bytes() != 0) {
    solve(band, {full, full + 1}, shape.columns, window, words.data());
    write_cut_block(words.data(), shape, parts);
  }
  for (std::uint64_t end = full; end > 0;) {
    const BlockRange range = {(end - 1) / kAtOnce * kAtOnce, end};
    solve(band, range, shape.columns, window, words.data());
    write_blocks(words.data(), range, shape.columns, parts);
    end = range.begin;
  }
}

}  // namespace tamis
#endif
