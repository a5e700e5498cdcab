// bloom: the textbook filter. m bits, k probes anywhere in them; any m and k, bitwise union and intersection.
//
// Body: m bits, m a multiple of 64; bit i is bit i%8 of byte i/8. Header: hashes = k, numbers[0] = m.
#include <cmath>

#include <fmt/core.h>

#include "base/try.h"
#include "filter/bit_array.h"
#include "filter/bloom_probes.h"
#include "filter/bloom_sizing.h"
#include "filter/kinds.h"

namespace tamis {
namespace {

struct BloomState {
  const std::byte* bits;
  std::uint64_t bit_count;
  std::uint32_t hashes;
};

bool may_contain(const FilterProbe& probe, std::uint64_t hash) {
  const BloomState& state = probe_state<BloomState>(probe);
  return test_bloom_bits(state.bits, state.bit_count, state.hashes, hash);
}

void prefetch(const FilterProbe& probe, std::uint64_t hash) {
  const BloomState& state = probe_state<BloomState>(probe);
  prefetch_bloom_bits(state.bits, state.bit_count, state.hashes, hash);
}

Result<FilterSize> size(std::uint64_t keys, SizeTarget target) {
  TAMIS_TRY(const BloomShape shape, bloom_shape("bloom", keys, target, 1));
  return FilterSize{.keys = keys, .bytes = shape.cells / 8, .hashes = shape.hashes, .rate = shape.rate};
}

Result<FilterImage> make(const FilterSize& shape) {
  TAMIS_TRY(FilterImage image, FilterImage::with_body(shape.bytes));
  image.header.hashes = shape.hashes;
  image.header.numbers[0] = 8 * shape.bytes;
  return image;
}

Status add(FilterImage& image, std::uint64_t hash) {
  set_bloom_bits(image.mutable_body().data(), image.header.numbers[0], image.header.hashes, hash);
  return {};
}

Result<FilterProbe> open(const FilterHeader& header, Bytes body, std::string_view name) {
  const std::uint64_t bits = header.numbers[0];
  if (bits == 0 || bits % 64 != 0 || bits / 8 != body.size() || header.hashes == 0 || header.hashes > kMaxBloomHashes) {
    return Status::corruption(fmt::format("{}: bloom: {} bits and {} hashes do not fit a body of {} bytes", name, bits,
                                          header.hashes, body.size()));
  }
  FilterProbe probe;
  set_probe_functions<may_contain, prefetch>(probe);
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

}  // namespace

constinit const FilterKind kBloomKind = {
    .info = {.id = 1,
             .name = "bloom",
             .summary = "the textbook filter: any size and rate, degrades gracefully, union and intersection",
             .adds = true,
             .merges = true,
             .intersects = true},
    .size = size,
    .build = build_by_adding<make, add>,
    .open = open,
    .estimate = estimate,
    .make = make,
    .add = add,
    .merge = unite_bodies,
    .intersect = intersect_bodies,
};

}  // namespace tamis
