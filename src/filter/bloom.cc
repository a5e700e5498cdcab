// bloom: the textbook filter. m bits, k probes anywhere in them; any m and k, union and intersection by bit.
//
// Body: m bits, m a multiple of 64; bit i is bit i%8 of byte i/8. Header: hashes = k, numbers[0] = m.
// Probe i of a key looks at bit fast_range(hash · g^i, m), g the odd golden-ratio constant: multiplying anew for each
// probe is as accurate as independent hashes, where h1 + i·h2 is up to 11 times worse on small filters.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/hash.h"
#include "base/try.h"
#include "filter/bit_array.h"
#include "filter/kinds.h"
#include "filter/sizing.h"

namespace tamis {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;
constexpr std::uint32_t kMostHashes = 64;

struct BloomState {
  const std::byte* bits;
  std::uint64_t bit_count;
  std::uint32_t hashes;
};

/// Calls f(byte index, bit mask) for each probe until it says stop; false when it was stopped.
template <typename Function>
bool each_probe(std::uint64_t hash, std::uint64_t bit_count, std::uint32_t hashes, Function f) {
  for (std::uint32_t i = 0; i < hashes; ++i) {
    hash *= kGolden;
    const std::uint64_t bit = fast_range(hash, bit_count);
    if (!f(bit / 8, std::byte{1} << (bit % 8))) return false;
  }
  return true;
}

bool may_contain(const FilterProbe& probe, std::uint64_t hash) {
  const BloomState& state = probe_state<BloomState>(probe);
  return each_probe(hash, state.bit_count, state.hashes, [&](std::uint64_t at, std::byte mask) {
    return (state.bits[at] & mask) != std::byte{0};
  });
}

void prefetch(const FilterProbe& probe, std::uint64_t hash) {
  const BloomState& state = probe_state<BloomState>(probe);
  each_probe(hash, state.bit_count, state.hashes, [&](std::uint64_t at, std::byte) {
    __builtin_prefetch(state.bits + at);
    return true;
  });
}

FilterSize size_with(std::uint64_t keys, double bits, std::uint32_t hashes) {
  const auto words = static_cast<std::uint64_t>(std::max(1.0, std::ceil(bits / 64)));
  return {.keys = keys,
          .bytes = 8 * words,
          .hashes = hashes,
          .rate = filter_math::bloom_rate(64.0 * static_cast<double>(words), hashes, static_cast<double>(keys))};
}

std::uint32_t best_hashes(double bits, double keys) { return std::min(filter_math::bloom_hashes(bits, keys), kMostHashes); }

Result<FilterSize> size_for_rate(std::uint64_t keys, double rate) {
  const auto n = static_cast<double>(std::max<std::uint64_t>(keys, 1));
  double bits = filter_math::bloom_bits(n, rate);
  // The formula is for the best real k; a whole k, and few keys, need a little more.
  for (;; bits = std::max(bits + 64, bits * 1.001)) {
    const FilterSize size = size_with(keys, bits, best_hashes(bits, n));
    if (size.rate <= rate) return size;
    if (bits > n * 120) return cannot_reach("bloom", {SizeTarget::Measure::kRate, rate}, "no kind");
  }
}

Result<FilterSize> size(std::uint64_t keys, SizeTarget target) {
  const auto n = static_cast<double>(std::max<std::uint64_t>(keys, 1));
  switch (target.measure) {
    case SizeTarget::Measure::kRate: return size_for_rate(keys, target.value);
    case SizeTarget::Measure::kBitsPerKey: {
      const double bits = target.value * n;
      return size_with(keys, bits, best_hashes(bits, n));
    }
    case SizeTarget::Measure::kMemory: break;
  }
  const double bits = std::floor(target.value / 8) * 64;
  if (bits < 64) return cannot_reach("bloom", target, "more memory");
  return size_with(keys, bits, best_hashes(bits, n));
}

Result<FilterImage> make(const FilterSize& shape) {
  std::optional<FilterImage> image = FilterImage::with_body(shape.bytes);
  if (!image) return no_memory_for(shape.bytes);
  image->header.hashes = shape.hashes;
  image->header.numbers[0] = 8 * shape.bytes;
  return *std::move(image);
}

Status add(FilterImage& image, std::uint64_t hash) {
  std::byte* bits = image.mutable_body().data();
  each_probe(hash, image.header.numbers[0], image.header.hashes, [&](std::uint64_t at, std::byte mask) {
    bits[at] |= mask;
    return true;
  });
  return {};
}

Result<FilterImage> build(std::span<std::uint64_t> hashes, const FilterSize& shape) {
  TAMIS_TRY(FilterImage image, make(shape));
  for (const std::uint64_t hash : hashes) TAMIS_TRY_STATUS(add(image, hash));
  return image;
}

Result<FilterProbe> open(const FilterHeader& header, Bytes body, std::string_view name) {
  const std::uint64_t bits = header.numbers[0];
  if (bits == 0 || bits % 64 != 0 || bits / 8 != body.size() || header.hashes == 0 || header.hashes > kMostHashes) {
    return Status::corruption(
        fmt::format("{}: bloom: {} bits and {} hashes do not fit a body of {} bytes", name, bits, header.hashes, body.size()));
  }
  FilterProbe probe;
  probe.may_contain_fn = may_contain;
  probe.may_contain_many_fn = may_contain_many_in_groups<may_contain, prefetch>;
  probe.prefetch_fn = prefetch;
  probe_state<BloomState>(probe) = {body.data(), bits, header.hashes};
  return probe;
}

FilterEstimate estimate(const FilterImage& image) {
  const auto bits = static_cast<double>(image.header.numbers[0]);
  const auto set = static_cast<double>(count_set_bits(image.body()));
  return {.fill = set / bits,
          .keys = filter_math::bloom_keys_from_fill(bits, image.header.hashes, set),
          .rate = std::pow(set / bits, image.header.hashes)};
}

Status merge(FilterImage& image, const FilterImage& other) {
  unite_bits(image.mutable_body(), other.body());
  return {};
}

Status intersect(FilterImage& image, const FilterImage& other) {
  intersect_bits(image.mutable_body(), other.body());
  return {};
}

}  // namespace

constinit const FilterKind kBloomKind = {
    .info = {.id = 1,
             .name = "bloom",
             .summary = "the textbook filter: any size, grows fuller gracefully, union and intersection",
             .adds = true,
             .removes = false,
             .merges = true,
             .intersects = true,
             .build_bytes_per_key = 8},
    .size = size,
    .build = build,
    .open = open,
    .estimate = estimate,
    .make = make,
    .add = add,
    .remove = nullptr,
    .merge = merge,
    .intersect = intersect,
};

}  // namespace tamis
