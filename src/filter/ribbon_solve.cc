// Back substitution for the ribbon filter, one body per instruction set.
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "filter/ribbon_build.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filter/ribbon_solve.cc"
#include <hwy/foreach_target.h>  // Includes this file once per instruction set.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {
namespace {

// Both bodies keep, for each column, the values of the 64 rows from the current one on as a word, bit i for row + i.
// When the first row of a block is reached, those words are the block.

#if HWY_TARGET == HWY_AVX3_DL

namespace hn = hwy::HWY_NAMESPACE;

/// kVectors × 8 columns at once: the chain from a row to the next is a shift, an and, a popcount and two logic steps.
template <std::size_t kVectors>
void solve_with(const RibbonBand& band, std::uint64_t blocks, std::uint32_t columns, std::byte* out) {
  const hn::FixedTag<std::uint64_t, 8> lanes;
  const auto one = hn::Set(lanes, 1);
  hn::Vec<decltype(lanes)> window[kVectors];
  hn::Vec<decltype(lanes)> column[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    window[v] = hn::Zero(lanes);
    column[v] = hn::Iota(lanes, 8 * v);
  }
  for (std::uint64_t block = blocks; block-- > 0;) {
    for (std::uint64_t row = 64 * (block + 1); row-- > 64 * block;) {
      const auto coefficients = hn::Set(lanes, band.coefficients()[row]);
      const auto sum = hn::Set(lanes, band.sums()[row]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        window[v] = hn::Add(window[v], window[v]);
        const auto parity = hn::Xor(hn::PopulationCount(hn::And(window[v], coefficients)), hn::Shr(sum, column[v]));
        window[v] = hn::Or(window[v], hn::And(parity, one));
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      auto* to = reinterpret_cast<std::uint64_t*>(out) + block * columns + 8 * v;
      hn::BlendedStore(window[v], hn::FirstN(lanes, columns - 8 * v), lanes, to);
    }
  }
}

void solve(const RibbonBand& band, std::uint64_t blocks, std::uint32_t columns, std::byte* out) {
  switch ((columns + 7) / 8) {
    case 1: return solve_with<1>(band, blocks, columns, out);
    case 2: return solve_with<2>(band, blocks, columns, out);
    case 3: return solve_with<3>(band, blocks, columns, out);
    default: return solve_with<4>(band, blocks, columns, out);
  }
}

#else

/// One column after the other; from AVX2 on the parity is a popcount.
void solve(const RibbonBand& band, std::uint64_t blocks, std::uint32_t columns, std::byte* out) {
  std::array<std::uint64_t, kRibbonMostColumns> window = {};
  for (std::uint64_t block = blocks; block-- > 0;) {
    for (std::uint64_t row = 64 * (block + 1); row-- > 64 * block;) {
      const std::uint64_t coefficients = band.coefficients()[row];
      const std::uint32_t sum = band.sums()[row];
      for (std::uint32_t column = 0; column < columns; ++column) {
        const std::uint64_t moved = window[column] << 1;
        const auto parity = static_cast<std::uint32_t>(__builtin_parityll(moved & coefficients));
        window[column] = moved | ((parity ^ (sum >> column)) & 1);
      }
    }
    for (std::uint32_t column = 0; column < columns; ++column) {
      store_le(out + (block * columns + column) * sizeof(std::uint64_t), window[column]);
    }
  }
}

#endif

}  // namespace

void solve_for_target(const RibbonBand& band, std::uint64_t blocks, std::uint32_t columns, std::byte* out) {
  solve(band, blocks, columns, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis {

HWY_EXPORT(solve_for_target);

void solve_ribbon(const RibbonBand& band, std::uint64_t blocks, std::uint32_t columns, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(solve_for_target)(band, blocks, columns, out);
}

}  // namespace tamis
#endif
