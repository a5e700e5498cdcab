// line: a Bloom filter with all k probes of a key in one cache line, so that a lookup waits for memory once.
//
// Body: lines of 64 bytes, each 16 words of 32 bits, little-endian. Header: hashes = k, numbers[0] = lines.
// The high half of the hash selects the line (fast_range32), the low half the probes (each_line_probe). Blocking costs
// accuracy: the load of a line varies, and full lines answer "maybe" too often. That costs 3 % more bits at 10 bits per
// key and 8 % at 16; beyond about 16, ribbon is the better choice.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/aligned_bytes.h"
#include "base/check.h"
#include "base/try.h"
#include "filter/bit_array.h"
#include "filter/filter_kind.h"
#include "filter/line_probe.h"
#include "filter/sizing.h"

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

Result<FilterImage> build(std::span<std::uint64_t> hashes, const FilterSize& shape) {
  TAMIS_TRY(FilterImage image, FilterImage::with_body(shape.bytes));
  const auto lines = static_cast<std::uint32_t>(shape.bytes / kCacheLineBytes);
  image.header.hashes = shape.hashes;
  image.header.numbers[0] = lines;
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
  choose_line_functions(probe);
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
    .info = {.id = 2, .name = "line", .summary = "fast and cheap to build: one cache line per lookup; the default"},
    .size = size,
    .build = build,
    .open = open,
    .estimate = estimate,
};

}  // namespace tamis
