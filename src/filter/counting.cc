// counting: a Bloom filter of 4-bit counters instead of bits, so that keys can be removed.
//
// Body: m counters, m a multiple of 64; counter i is the low (i even) or high (i odd) half of byte i/2.
// Header: hashes = k, numbers[0] = m. A counter that reaches 15 stays there: it no longer knows how many keys it
// counts, and decrementing it could cause a false negative.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/try.h"
#include "filter/bloom_probes.h"
#include "filter/bloom_sizing.h"
#include "filter/kinds.h"

namespace tamis {
namespace {

constexpr unsigned kStuck = 15;

unsigned counter(const std::byte* counters, std::uint64_t i) {
  return (std::to_integer<unsigned>(counters[i / 2]) >> (4 * (i % 2))) & 15;
}

void set_counter(std::byte* counters, std::uint64_t i, unsigned value) {
  const unsigned shift = 4 * (i % 2);
  const unsigned others = std::to_integer<unsigned>(counters[i / 2]) & ~(15U << shift);
  counters[i / 2] = static_cast<std::byte>(others | (value << shift));
}

struct CountingState {
  const std::byte* counters;
  std::uint64_t count;
  std::uint32_t hashes;
};

bool test(const CountingState& state, std::uint64_t hash) {
  return each_bloom_probe(hash, state.count, state.hashes,
                          [&](std::uint64_t cell) { return counter(state.counters, cell) != 0; });
}

bool may_contain(const FilterProbe& probe, std::uint64_t hash) { return test(probe_state<CountingState>(probe), hash); }

void prefetch(const FilterProbe& probe, std::uint64_t hash) {
  const CountingState& state = probe_state<CountingState>(probe);
  each_bloom_probe(hash, state.count, state.hashes, [&](std::uint64_t cell) {
    __builtin_prefetch(state.counters + cell / 2);
    return true;
  });
}

Result<FilterSize> size(std::uint64_t keys, SizeTarget target) {
  TAMIS_TRY(const BloomShape shape, bloom_shape("counting", keys, target, 4));
  return FilterSize{.keys = keys, .bytes = shape.cells / 2, .hashes = shape.hashes, .rate = shape.rate};
}

Result<FilterImage> make(const FilterSize& shape) {
  TAMIS_TRY(FilterImage image, FilterImage::with_body(shape.bytes));
  image.header.hashes = shape.hashes;
  image.header.numbers[0] = 2 * shape.bytes;
  return image;
}

Status add(FilterImage& image, std::uint64_t hash) {
  std::byte* counters = image.mutable_body().data();
  each_bloom_probe(hash, image.header.numbers[0], image.header.hashes, [&](std::uint64_t cell) {
    set_counter(counters, cell, std::min(counter(counters, cell) + 1, kStuck));
    return true;
  });
  return {};
}

Removal remove(FilterImage& image, std::uint64_t hash) {
  std::byte* counters = image.mutable_body().data();
  const std::uint64_t count = image.header.numbers[0];
  if (!test({counters, count, image.header.hashes}, hash)) return Removal::kAbsent;
  Removal done = Removal::kStuck;
  each_bloom_probe(hash, count, image.header.hashes, [&](std::uint64_t cell) {
    const unsigned now = counter(counters, cell);
    if (now == kStuck) return true;
    done = Removal::kGone;
    // Only a key that was never added, with two probes on one counter, reaches zero early.
    if (now > 0) set_counter(counters, cell, now - 1);
    return true;
  });
  return done;
}

Result<FilterProbe> open(const FilterHeader& header, Bytes body, std::string_view name) {
  const std::uint64_t count = header.numbers[0];
  if (count == 0 || count % 64 != 0 || count / 2 != body.size() || header.hashes == 0 ||
      header.hashes > kMaxBloomHashes) {
    return Status::corruption(fmt::format("{}: counting: {} counters and {} hashes do not fit a body of {} bytes", name,
                                          count, header.hashes, body.size()));
  }
  FilterProbe probe;
  set_probe_functions<may_contain, prefetch>(probe);
  probe_state<CountingState>(probe) = {body.data(), count, header.hashes};
  return probe;
}

FilterEstimate estimate(const FilterImage& image) {
  const std::uint64_t count = image.header.numbers[0];
  double used = 0;
  for (const std::byte two : image.body()) {
    used += ((two & std::byte{0x0f}) != std::byte{0} ? 1 : 0) + ((two & std::byte{0xf0}) != std::byte{0} ? 1 : 0);
  }
  const auto counters = static_cast<double>(count);
  return {.fill = used / counters,
          .keys = filter_math::bloom_keys_from_fill(counters, image.header.hashes, used),
          .rate = std::pow(used / counters, image.header.hashes)};
}

/// Combines each counter of the other filter into this one.
template <typename Combine>
void combine_counters(FilterImage& image, const FilterImage& other, Combine combine) {
  std::byte* counters = image.mutable_body().data();
  for (std::uint64_t i = 0; i < image.header.numbers[0]; ++i) {
    set_counter(counters, i, combine(counter(counters, i), counter(other.body().data(), i)));
  }
}

Status merge(FilterImage& image, const FilterImage& other) {
  combine_counters(image, other, [](unsigned a, unsigned b) { return std::min(a + b, kStuck); });
  return {};
}

/// The smaller counter is still at least the number of keys that both filters hold there.
Status intersect(FilterImage& image, const FilterImage& other) {
  combine_counters(image, other, [](unsigned a, unsigned b) { return std::min(a, b); });
  return {};
}

}  // namespace

constinit const FilterKind kCountingKind = {
    .info = {.id = 7,
             .name = "counting",
             .summary = "the textbook filter with removal: 4 bits where bloom has one; cuckoo takes a third of that",
             .adds = true,
             .removes = true,
             .merges = true,
             .intersects = true},
    .size = size,
    .build = build_by_adding<make, add>,
    .open = open,
    .estimate = estimate,
    .make = make,
    .add = add,
    .remove = remove,
    .merge = merge,
    .intersect = intersect,
};

}  // namespace tamis
