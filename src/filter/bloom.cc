// bloom and counting: the textbook filters. m cells, k probes anywhere in them; any m and k.
//
// Body: m cells, m a multiple of 64. Header: hashes = k, numbers[0] = m.
//     bloom      a cell is a bit: bit i%8 of byte i/8. Bitwise union and intersection.
//     counting   a cell is a counter of 4 bits, so that keys can be removed: the low (i even) or high (i odd) half of
//                byte i/2. A counter that reaches 15 stays there: it no longer knows how many keys it counts, and
//                decrementing it could cause a false negative.
#include "filter/bloom.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/try.h"
#include "filter/bit_array.h"
#include "filter/filter_kind.h"
#include "filter/sizing.h"

namespace tamis {
namespace {

/// The best k for this many cells, rounded up to a multiple of 64.
BloomShape bloom_shape_with_cells(std::uint64_t keys, double cells) {
  const double rounded = 64 * std::max(1.0, std::ceil(cells / 64));
  const auto n = static_cast<double>(std::max<std::uint64_t>(keys, 1));
  const std::uint32_t hashes = std::min(filter_math::bloom_hashes(rounded, n), kMaxBloomHashes);
  return {.cells = static_cast<std::uint64_t>(rounded),
          .hashes = hashes,
          .rate = filter_math::bloom_rate(rounded, hashes, static_cast<double>(keys))};
}

constexpr unsigned kBit = 1;
constexpr unsigned kCounter = 4;
template <unsigned kCell>
constexpr std::string_view kName = kCell == kBit ? "bloom" : "counting";

struct CellState {
  const std::byte* cells;
  std::uint64_t count;
  std::uint32_t hashes;
};

template <unsigned kCell>
void prefetch(const FilterProbe& probe, std::uint64_t hash) {
  const CellState& state = probe_state<CellState>(probe);
  prefetch_bloom_cells<kCell>(state.cells, state.count, state.hashes, hash);
}

template <unsigned kCell>
Result<FilterSize> size(std::uint64_t keys, SizeTarget target) {
  TAMIS_TRY(const BloomShape shape, bloom_shape(kName<kCell>, keys, target, kCell));
  return FilterSize{.keys = keys, .bytes = shape.cells * kCell / 8, .hashes = shape.hashes, .rate = shape.rate};
}

template <unsigned kCell>
Result<FilterImage> make(const FilterSize& shape) {
  return FilterImage::with_body(shape.bytes, shape.hashes, shape.bytes * 8 / kCell);
}

template <unsigned kCell, auto kMayContain>
Result<FilterProbe> open(const FilterHeader& header, Bytes body, std::string_view name) {
  const std::uint64_t cells = header.numbers[0];
  if (cells == 0 || cells % 64 != 0 || cells / (8 / kCell) != body.size() || header.hashes == 0 ||
      header.hashes > kMaxBloomHashes) {
    return Status::corruption(fmt::format("{}: {}: {} {} and {} hashes do not fit a body of {} bytes", name,
                                          kName<kCell>, cells, kCell == kBit ? "bits" : "counters", header.hashes,
                                          body.size()));
  }
  FilterProbe probe;
  set_probe_functions<kMayContain, prefetch<kCell>>(probe);
  probe_state<CellState>(probe) = {body.data(), cells, header.hashes};
  return probe;
}

/// `used` of the cells are not zero.
FilterEstimate estimate_from(const FilterImage& image, double used) {
  const auto cells = static_cast<double>(image.header.numbers[0]);
  return {.fill = used / cells,
          .keys = filter_math::bloom_keys_from_fill(cells, image.header.hashes, used),
          .rate = std::pow(used / cells, image.header.hashes)};
}

bool has_bits(const FilterProbe& probe, std::uint64_t hash) {
  const CellState& state = probe_state<CellState>(probe);
  return test_bloom_bits(state.cells, state.count, state.hashes, hash);
}

Status add_bits(FilterImage& image, std::uint64_t hash) {
  set_bloom_bits(image.mutable_body().data(), image.header.numbers[0], image.header.hashes, hash);
  return {};
}

constexpr auto each_bit = [](const FilterHeader& header, std::uint64_t hash, auto f) {
  return each_bloom_probe(hash, header.numbers[0], header.hashes, f);
};

FilterEstimate estimate_bits(const FilterImage& image) {
  return estimate_from(image, static_cast<double>(count_set_bits(image.body())));
}

constexpr unsigned kStuck = 15;

unsigned counter(const std::byte* counters, std::uint64_t i) {
  return (std::to_integer<unsigned>(counters[i / 2]) >> (4 * (i % 2))) & 15;
}

void set_counter(std::byte* counters, std::uint64_t i, unsigned value) {
  const unsigned shift = 4 * (i % 2);
  const unsigned others = std::to_integer<unsigned>(counters[i / 2]) & ~(15U << shift);
  counters[i / 2] = static_cast<std::byte>(others | (value << shift));
}

bool test_counters(const CellState& state, std::uint64_t hash) {
  return each_bloom_probe(hash, state.count, state.hashes,
                          [&](std::uint64_t cell) { return counter(state.cells, cell) != 0; });
}

bool has_counters(const FilterProbe& probe, std::uint64_t hash) {
  return test_counters(probe_state<CellState>(probe), hash);
}

Status add_to_counters(FilterImage& image, std::uint64_t hash) {
  std::byte* counters = image.mutable_body().data();
  each_bloom_probe(hash, image.header.numbers[0], image.header.hashes, [&](std::uint64_t cell) {
    set_counter(counters, cell, std::min(counter(counters, cell) + 1, kStuck));
    return true;
  });
  return {};
}

Removal remove_from_counters(FilterImage& image, std::uint64_t hash) {
  std::byte* counters = image.mutable_body().data();
  const std::uint64_t count = image.header.numbers[0];
  if (!test_counters({counters, count, image.header.hashes}, hash)) return Removal::kAbsent;
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

std::uint64_t count_by_counters(const FilterImage& image, std::uint64_t hash) {
  unsigned least = kStuck;
  each_bloom_probe(hash, image.header.numbers[0], image.header.hashes, [&](std::uint64_t cell) {
    least = std::min(least, counter(image.body().data(), cell));
    return true;
  });
  return least;
}

FilterEstimate estimate_counters(const FilterImage& image) {
  double used = 0;
  for (const std::byte two : image.body()) {
    used += ((two & std::byte{0x0f}) != std::byte{0} ? 1 : 0) + ((two & std::byte{0xf0}) != std::byte{0} ? 1 : 0);
  }
  return estimate_from(image, used);
}

/// Combines each counter of the other filter into this one.
template <typename Combine>
void combine_counters(FilterImage& image, const FilterImage& other, Combine combine) {
  std::byte* counters = image.mutable_body().data();
  for (std::uint64_t i = 0; i < image.header.numbers[0]; ++i) {
    set_counter(counters, i, combine(counter(counters, i), counter(other.body().data(), i)));
  }
}

Status merge_counters(FilterImage& image, const FilterImage& other) {
  combine_counters(image, other, [](unsigned a, unsigned b) { return std::min(a + b, kStuck); });
  return {};
}

/// The smaller counter is still at least the number of keys that both filters hold there.
Status intersect_counters(FilterImage& image, const FilterImage& other) {
  combine_counters(image, other, [](unsigned a, unsigned b) { return std::min(a, b); });
  return {};
}

}  // namespace

BloomShape bloom_shape_for_rate(std::uint64_t keys, double rate) {
  const auto n = static_cast<double>(std::max<std::uint64_t>(keys, 1));
  double cells = filter_math::bloom_bits(n, rate);
  BloomShape shape = bloom_shape_with_cells(keys, cells);
  // The formula assumes the best real k; an integer k, or few keys, need a bit more.
  while (shape.rate > rate) {
    cells = std::max(cells + 64, cells * 1.001);
    shape = bloom_shape_with_cells(keys, cells);
  }
  return shape;
}

Result<BloomShape> bloom_shape(std::string_view kind, std::uint64_t keys, SizeTarget target, double bits_per_cell) {
  constexpr double kMinRate = 1e-18;  // The limit of 64 hashes.
  switch (target.measure) {
    case SizeTarget::Measure::kRate:
      if (target.value < kMinRate) return cannot_reach(kind, target, "no filter kind");
      return bloom_shape_for_rate(keys, target.value);
    case SizeTarget::Measure::kBitsPerKey:
      return bloom_shape_with_cells(keys, target.value / bits_per_cell * static_cast<double>(keys));
    case SizeTarget::Measure::kMemory: break;
  }
  const double cells = 64 * std::floor(target.value * 8 / bits_per_cell / 64);
  if (cells < 64) return cannot_reach(kind, target, "a filter of more memory");
  return bloom_shape_with_cells(keys, cells);
}

constinit const FilterKind kBloomKind = {
    .info = {.id = 1,
             .name = "bloom",
             .summary = "the textbook filter: any size and rate, degrades gracefully, union and intersection",
             .adds = true,
             .merges = true,
             .intersects = true},
    .size = size<kBit>,
    .build = build_by_adding<make<kBit>, add_bits>,
    .open = open<kBit, has_bits>,
    .estimate = estimate_bits,
    .make = make<kBit>,
    .add = add_bits,
    .merge = join_bodies<std::bit_or<>>,
    .intersect = join_bodies<std::bit_and<>>,
    .shared = shared_bits<each_bit, 1>(),
};

constinit const FilterKind kCountingKind = {
    .info = {.id = 7,
             .name = "counting",
             .summary = "the textbook filter with removal: 4 bits where bloom has one; cuckoo takes a third of that",
             .adds = true,
             .removes = true,
             .merges = true,
             .intersects = true},
    .size = size<kCounter>,
    .build = build_by_adding<make<kCounter>, add_to_counters>,
    .open = open<kCounter, has_counters>,
    .estimate = estimate_counters,
    .make = make<kCounter>,
    .add = add_to_counters,
    .remove = remove_from_counters,
    .merge = merge_counters,
    .intersect = intersect_counters,
    .count = count_by_counters,
};

}  // namespace tamis
