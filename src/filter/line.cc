// line: a Bloom filter with all k probes of a key in one cache line, so that a lookup waits for memory once.
//
// Body: lines of 64 bytes, each 16 words of 32 bits, little-endian. Header: hashes = k, numbers[0] = lines.
// The high half of the hash selects the line (fast_range32), the low half the probes (each_line_probe). Blocking costs
// accuracy: the load of a line varies, and full lines answer "maybe" too often. That costs 3 % more bits at 10 bits per
// key and 8 % at 16; beyond about 16, ribbon is the better choice.
#include "filter/line.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/aligned_bytes.h"
#include "base/check.h"
#include "base/instruction_set.h"
#include "base/try.h"
#include "filter/bit_array.h"
#include "filter/filter_kind.h"
#include "filter/sizing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filter/line.cc"
#include <hwy/foreach_target.h>  // Includes this file once per instruction set.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
/// golden^0 … golden^15 modulo 2^32.
HWY_ALIGN static const auto kPowers = [] {
  std::array<std::uint32_t, kLineMostHashes> powers = {1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * kLineGolden;
  return powers;
}();
#endif

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL

/// All 16 probes in one permute of the whole line; lanes beyond `hashes` test no bit.
HWY_INLINE bool test_line(const LineState& state, std::uint64_t hash) {
  const hn::FixedTag<std::uint32_t, 16> lanes;
  const auto line = hn::Load(lanes, state.lines + std::size_t{kLineWords} * line_of(hash, state.line_count));
  const auto x = hn::Mul(hn::Set(lanes, static_cast<std::uint32_t>(hash)), hn::Load(lanes, kPowers.data()));
  const auto words = hn::TableLookupLanes(line, hn::IndicesFromVec(lanes, hn::ShiftRight<28>(x)));
  // A rotate takes the count modulo 32; Highway 1.0.3 has only variable shifts, which need a mask.
  const auto active = hn::Load(lanes, state.active.data());
  const decltype(active) wanted{_mm512_rolv_epi32(active.raw, hn::ShiftRight<23>(x).raw)};
  return hn::AllTrue(lanes, hn::Eq(hn::AndNot(words, wanted), hn::Zero(lanes)));
}

#elif HWY_TARGET == HWY_AVX2

/// The bits of eight probes that are not set in the line.
HWY_INLINE auto missing_bits(const std::uint32_t* line, hn::Vec<hn::FixedTag<std::uint32_t, 8>> x,
                             hn::Vec<hn::FixedTag<std::uint32_t, 8>> active) {
  const hn::FixedTag<std::uint32_t, 8> lanes;
  const auto word = hn::ShiftRight<28>(x);
  const auto index = hn::IndicesFromVec(lanes, hn::And(word, hn::Set(lanes, 7U)));
  const auto low = hn::TableLookupLanes(hn::Load(lanes, line), index);
  const auto high = hn::TableLookupLanes(hn::Load(lanes, line + 8), index);
  const auto words = hn::IfThenElse(hn::Gt(word, hn::Set(lanes, 7U)), high, low);
  const auto bit = hn::And(hn::ShiftRight<23>(x), hn::Set(lanes, 31U));
  return hn::AndNot(words, hn::Shl(active, bit));
}

/// Eight probes at a time, each from the lower or upper half of the line; no branch between the two sets of eight.
HWY_INLINE bool test_line(const LineState& state, std::uint64_t hash) {
  const hn::FixedTag<std::uint32_t, 8> lanes;
  const std::uint32_t* line = state.lines + std::size_t{kLineWords} * line_of(hash, state.line_count);
  const auto x = hn::Set(lanes, static_cast<std::uint32_t>(hash));
  auto missing = missing_bits(line, hn::Mul(x, hn::Load(lanes, kPowers.data())), hn::Load(lanes, state.active.data()));
  if (state.hashes > 8) {
    missing = hn::Or(missing, missing_bits(line, hn::Mul(x, hn::Load(lanes, kPowers.data() + 8)),
                                           hn::Load(lanes, state.active.data() + 8)));
  }
  return hn::AllTrue(lanes, hn::Eq(missing, hn::Zero(lanes)));
}

#else

/// The plain loop for all other instruction sets; the reference for the two above.
HWY_INLINE bool test_line(const LineState& state, std::uint64_t hash) {
  const std::uint32_t* line = state.lines + std::size_t{kLineWords} * line_of(hash, state.line_count);
  std::uint32_t all = 1;
  each_line_probe(hash, state.hashes, [&](std::uint32_t word, std::uint32_t bit) { all &= line[word] >> bit; });
  return all != 0;
}

#endif

bool may_contain(const FilterProbe& probe, std::uint64_t hash) {
  return test_line(probe_state<LineState>(probe), hash);
}

HWY_INLINE void prefetch_line(const LineState& state, std::uint64_t hash) {
  __builtin_prefetch(state.lines + std::size_t{kLineWords} * line_of(hash, state.line_count));
}

/// Up to 64 answers as a word, prefetching kAhead keys ahead (0: the filter is in the cache).
template <std::size_t kAhead>
HWY_INLINE std::uint64_t test_up_to_64(const LineState& state, const std::uint64_t* hashes, std::size_t count,
                                       std::size_t left) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (kAhead > 0) prefetch_line(state, hashes[i + kAhead < left ? i + kAhead : i]);
    word |= static_cast<std::uint64_t>(test_line(state, hashes[i])) << i;
  }
  return word;
}

template <std::size_t kAhead>
HWY_INLINE void test_many(const LineState& state, const std::uint64_t* hashes, std::size_t count,
                          std::uint64_t* answers) {
  if constexpr (kAhead > 0) {
    for (std::size_t i = 0; i < kAhead && i < count; ++i) prefetch_line(state, hashes[i]);
  }
  for (std::size_t begin = 0; begin < count; begin += 64) {
    const std::size_t left = count - begin;
    *answers++ = test_up_to_64<kAhead>(state, hashes + begin, left < 64 ? left : 64, left);
  }
}

void may_contain_many(const FilterProbe& probe, const std::uint64_t* hashes, std::size_t count,
                      std::uint64_t* answers) {
  const LineState state = probe_state<LineState>(probe);
  constexpr std::uint32_t kLinesInCache = 8192;  // 512 KiB, half of a typical L2.
  if (state.line_count <= kLinesInCache) {
    test_many<0>(state, hashes, count, answers);
  } else {
    test_many<32>(state, hashes, count, answers);
  }
}

}  // namespace

void set_line_functions(FilterProbe& probe) {
  probe.may_contain_fn = may_contain;
  probe.may_contain_many_fn = may_contain_many;
  probe.prefetch_fn = [](const FilterProbe& p, std::uint64_t hash) { prefetch_line(probe_state<LineState>(p), hash); };
}

}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis {

namespace {

constexpr std::uint32_t kLineBits = 512;
constexpr double kMaxBitsPerKey = 64;

FilterSize size_with(std::uint64_t keys, std::uint64_t lines, std::uint32_t hashes) {
  return {.keys = keys,
          .bytes = lines * kCacheLineBytes,
          .hashes = hashes,
          .rate = filter_math::blocked_bloom_rate(static_cast<double>(lines), kLineBits, hashes,
                                                  static_cast<double>(keys))};
}

/// The k with the lowest predicted rate. The rate has one minimum over k, so descend from the classic optimum.
FilterSize best_size(std::uint64_t keys, std::uint64_t lines) {
  const double bits_per_key =
      static_cast<double>(lines * kLineBits) / static_cast<double>(std::max<std::uint64_t>(keys, 1));
  auto hashes = static_cast<std::uint32_t>(std::clamp(std::ceil(bits_per_key * 0.7), 1.0, double{kLineMostHashes}));
  FilterSize best = size_with(keys, lines, hashes);
  while (hashes > 1) {
    const FilterSize fewer = size_with(keys, lines, --hashes);
    if (fewer.rate >= best.rate) break;
    best = fewer;
  }
  return best;
}

Result<FilterSize> size(std::uint64_t keys, SizeTarget target) {
  return size_in_blocks("line", keys, target, {kCacheLineBytes, kMaxBitsPerKey},
                        [&](std::uint64_t lines) { return best_size(keys, lines); });
}

Result<FilterImage> make(const FilterSize& shape) {
  return FilterImage::with_body(shape.bytes, shape.hashes, shape.bytes / kCacheLineBytes);
}

/// The bits of a key in the whole body.
constexpr auto each_bit = [](const FilterHeader& header, std::uint64_t hash, auto f) {
  const std::uint64_t first = kLineBits * std::uint64_t{line_of(hash, static_cast<std::uint32_t>(header.numbers[0]))};
  bool all = true;
  each_line_probe(hash, header.hashes,
                  [&](std::uint32_t word, std::uint32_t bit) { all = all && f(first + 32 * word + bit); });
  return all;
};

Status add(FilterImage& image, std::uint64_t hash) {
  std::byte* body = image.mutable_body().data();
  each_bit(image.header, hash, [&](std::uint64_t bit) {
    body[bit / 8] |= std::byte{1} << (bit % 8);
    return true;
  });
  return {};
}

Result<FilterImage> build(std::span<std::uint64_t> hashes, const FilterSize& shape) {
  const auto lines = static_cast<std::uint32_t>(shape.bytes / kCacheLineBytes);
  TAMIS_TRY(FilterImage image, make(shape));
  std::byte* body = image.mutable_body().data();
  constexpr std::size_t kAhead = 24;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (i + kAhead < hashes.size()) {
      __builtin_prefetch(body + kCacheLineBytes * line_of(hashes[i + kAhead], lines), 1);
    }
    std::byte* line = body + kCacheLineBytes * line_of(hashes[i], lines);
    each_line_probe(hashes[i], shape.hashes, [&](std::uint32_t word, std::uint32_t bit) {
      line[4 * word + bit / 8] |= std::byte{1} << (bit % 8);
    });
  }
  return image;
}

Result<FilterProbe> open(const FilterHeader& header, Bytes body, std::string_view name) {
  const std::uint64_t lines = header.numbers[0];
  if (lines == 0 || lines > kMaxBlocks || lines * kCacheLineBytes != body.size() || header.hashes == 0 ||
      header.hashes > kLineMostHashes) {
    return Status::corruption(fmt::format("{}: line: {} lines and {} hashes do not fit a body of {} bytes", name, lines,
                                          header.hashes, body.size()));
  }
  TAMIS_CHECK(reinterpret_cast<std::uintptr_t>(body.data()) % kCacheLineBytes == 0);
  FilterProbe probe;
  TAMIS_BEST_BODY(set_line_functions)(probe);
  LineState& state = probe_state<LineState>(probe);
  state = {.active = {},
           .lines = reinterpret_cast<const std::uint32_t*>(body.data()),
           .line_count = static_cast<std::uint32_t>(lines),
           .hashes = header.hashes};
  std::fill_n(state.active.begin(), header.hashes, 1U);
  return probe;
}

FilterEstimate estimate(const FilterImage& image) {
  return estimate_blocks(image, kCacheLineBytes,
                         [&](Bytes, double set) { return std::pow(set / kLineBits, image.header.hashes); });
}

}  // namespace

constinit const FilterKind kLineKind = {
    .info = {.id = 2,
             .name = "line",
             .summary = "fast and cheap to build: one cache line per lookup; the default",
             .adds = true,
             .merges = true,
             .intersects = true},
    .size = size,
    .build = build,
    .open = open,
    .estimate = estimate,
    .make = make,
    .add = add,
    .merge = join_bodies<std::bit_or<>>,
    .intersect = join_bodies<std::bit_and<>>,
    .shared = shared_bits<each_bit, kLineBits / 64>(),
    .lists_few_keys = true,
};

}  // namespace tamis
#endif
