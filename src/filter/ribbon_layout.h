// The layout of a ribbon filter, shared by build and probe. ribbon.cc documents it; this file computes it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/hash.h"
#include "filter/filter_format.h"
#include "tamis/filter.h"

namespace tamis {

inline constexpr std::size_t kRibbonLayers = 3;
inline constexpr std::uint32_t kRibbonMostColumns = 32;
inline constexpr std::uint64_t kRibbonBlockRows = 64;  // Also the ribbon width: coefficients per key.
inline constexpr std::uint32_t kRibbonMostListBits = 56;
inline constexpr std::uint32_t kRibbonListBitsShift = 56;  // In numbers[3], above the number of entries.

/// How the starts of a layer are divided into buckets, and the meaning of a bucket's mark: the keys whose start is
/// among the first threshold[mark] of the bucket are bumped to the next layer.
struct RibbonBuckets {
  std::uint32_t shift;                    // A bucket has 2^shift starts.
  std::array<std::uint8_t, 4> threshold;  // The last one bumps the whole bucket.
  [[nodiscard]] constexpr std::uint64_t within(std::uint64_t position) const {
    return position & ((std::uint64_t{1} << shift) - 1);
  }
};

// Sizes and thresholds are the best of those tried: docs/decisions/0002-ribbon.md. Later layers are small, so finer
// buckets cost nothing there and waste less.
inline constexpr std::array<RibbonBuckets, kRibbonLayers> kRibbonBuckets = {
    {{7, {0, 20, 48, 128}}, {5, {0, 4, 12, 32}}, {5, {0, 4, 12, 32}}}};

// A key enters a layer as 64 bits, and `ribbon_mix` of them decides everything about it there. For the first layer they
// are the key's hash; for each later one they derive from the previous mix, so that keys which collide in one layer
// separate in the next.
constexpr std::uint64_t ribbon_mix(std::uint64_t key) { return remix(key); }
constexpr std::uint64_t ribbon_key_of_next_layer(std::uint64_t mixed) { return mixed + 0x9e3779b97f4a7c15U; }

inline constexpr std::uint64_t kRibbonCoefficientFactor = 0xa0761d6478bd642fU;
inline constexpr std::uint64_t kRibbonFingerprintFactor = 0xe7037ed1a0b428dbU;

/// Bit i belongs to row start + i. The lowest is always 1, so that elimination begins at the start itself.
constexpr std::uint64_t ribbon_coefficients(std::uint64_t mixed) { return (mixed * kRibbonCoefficientFactor) | 1; }

/// The sum that the selected rows must have. It is not a linear function of the coefficients (because of the carries):
/// otherwise rows that repeat the function would satisfy present and absent keys alike.
constexpr std::uint32_t ribbon_fingerprint(std::uint64_t mixed, std::uint32_t columns) {
  return static_cast<std::uint32_t>(((mixed ^ (mixed >> 32)) * kRibbonFingerprintFactor) >> (64 - columns));
}

/// The list entry of a key that no layer took. With 0 bits, all keys are equal.
constexpr std::uint64_t ribbon_list_fingerprint(std::uint64_t mixed, std::uint32_t bits) {
  return bits == 0 ? 0 : mixed >> (64 - bits);
}

/// The parameters of a body's layout, all stored in the header.
struct RibbonShape {
  std::uint32_t columns = 0;
  std::array<std::uint64_t, kRibbonLayers> starts = {};  // 0: no such layer, all keys pass through.
  std::uint64_t list_entries = 0;
  std::uint32_t list_bits = 0;

  /// The last start needs 63 more rows; then rounded up to a multiple of 8.
  [[nodiscard]] std::uint64_t rows() const {
    const std::uint64_t all = first_row(kRibbonLayers);
    return all == 0 ? 0 : (all + kRibbonBlockRows - 1 + 7) / 8 * 8;
  }
  [[nodiscard]] std::uint64_t full_blocks() const { return rows() / kRibbonBlockRows; }
  /// Bytes per column of the last block if it is cut short; 0 if it is full.
  [[nodiscard]] std::uint64_t cut_bytes() const { return rows() % kRibbonBlockRows / 8; }
  [[nodiscard]] std::uint64_t buckets(std::size_t layer) const {
    const std::uint32_t shift = kRibbonBuckets[layer].shift;
    return (starts[layer] + (std::uint64_t{1} << shift) - 1) >> shift;
  }
  [[nodiscard]] std::uint64_t first_row(std::size_t layer) const {
    std::uint64_t row = 0;
    for (std::size_t i = 0; i < layer; ++i) row += starts[i];
    return row;
  }
  [[nodiscard]] std::uint64_t first_bucket(std::size_t layer) const {
    std::uint64_t bucket = 0;
    for (std::size_t i = 0; i < layer; ++i) bucket += buckets(i);
    return bucket;
  }
  [[nodiscard]] std::uint64_t block_bytes() const { return rows() / 8 * columns; }
  [[nodiscard]] std::uint64_t mark_bytes() const { return (first_bucket(kRibbonLayers) + 15) / 16 * 4; }
  [[nodiscard]] std::uint64_t list_bytes() const { return (list_entries * list_bits + 7) / 8; }
  /// The rate of keys that reach the list.
  [[nodiscard]] double list_rate() const {
    return std::min(1.0, std::ldexp(static_cast<double>(list_entries), -static_cast<int>(list_bits)));
  }
  [[nodiscard]] std::uint64_t body_bytes() const { return block_bytes() + mark_bytes() + list_bytes(); }
};

/// The shape, as the header of a filter has it. Reading accepts any numbers; `is_sane` tells whether they are small
/// enough to compute with.
void put_ribbon_shape(FilterHeader& header, const RibbonShape& shape);
RibbonShape ribbon_shape_of(const FilterHeader& header);
bool is_sane(const RibbonShape& shape);

// Marks: two bits per bucket, sixteen buckets in a little-endian word of 32 bits.
inline std::uint32_t ribbon_mark(const std::byte* marks, std::uint64_t bucket) {
  return (load_le<std::uint32_t>(marks + bucket / 16 * 4) >> (2 * (bucket % 16))) & 3;
}
inline void set_ribbon_mark(std::byte* marks, std::uint64_t bucket, std::uint32_t mark) {
  std::byte* word = marks + bucket / 16 * 4;
  store_le(word, load_le<std::uint32_t>(word) | (mark << (2 * (bucket % 16))));
}

/// Which parts answer for what fraction of all keys, present or not.
struct RibbonShares {
  double rows_before = 0;  // Keys whose start is a row before the given one.
  double list = 0;         // Keys that no layer takes.
};

inline RibbonShares ribbon_shares(const RibbonShape& shape, const std::byte* marks, std::uint64_t end_row) {
  RibbonShares shares = {.list = 1};
  for (std::size_t layer = 0; layer < kRibbonLayers; ++layer) {
    if (shape.starts[layer] == 0) continue;
    const std::uint64_t end = end_row - std::min(end_row, shape.first_row(layer));  // As a position in this layer.
    std::uint64_t sent_on = 0;
    std::uint64_t kept_before = 0;
    for (std::uint64_t bucket = 0; bucket < shape.buckets(layer); ++bucket) {
      const std::uint64_t begin = bucket << kRibbonBuckets[layer].shift;
      const std::uint64_t size = std::min(shape.starts[layer] - begin, std::uint64_t{1} << kRibbonBuckets[layer].shift);
      const std::uint32_t mark = ribbon_mark(marks, shape.first_bucket(layer) + bucket);
      const std::uint64_t bumped = std::min<std::uint64_t>(kRibbonBuckets[layer].threshold[mark], size);
      sent_on += bumped;
      kept_before += std::min(begin + size, std::max(end, begin + bumped)) - (begin + bumped);
    }
    const double starts = static_cast<double>(shape.starts[layer]);
    shares.rows_before += shares.list * static_cast<double>(kept_before) / starts;
    shares.list *= static_cast<double>(sent_on) / starts;
  }
  return shares;
}

/// The fraction of all keys, present or not, that the list must answer.
inline double ribbon_reach(const RibbonShape& shape, const std::byte* marks) {
  return ribbon_shares(shape, marks, 0).list;
}

// The list: fingerprints in ascending order, `bits` each, packed from the lowest bit of the first byte.
inline void write_ribbon_list_entry(MutableBytes list, std::uint64_t index, std::uint32_t bits, std::uint64_t value) {
  for (std::uint64_t bit = index * bits; bits > 0; ++bit, --bits, value >>= 1) {
    list[bit / 8] |= static_cast<std::byte>((value & 1) << (bit % 8));
  }
}

inline std::uint64_t read_ribbon_list_entry(Bytes list, std::uint64_t index, std::uint32_t bits) {
  const std::uint64_t first = index * bits;
  const std::uint64_t end_byte = (first + bits + 7) / 8;
  std::uint64_t value = 0;  // At most 56 bits from any bit of a byte: eight bytes hold them.
  for (std::uint64_t byte = end_byte; byte > first / 8; --byte) {
    value = (value << 8) | std::to_integer<std::uint64_t>(list[byte - 1]);
  }
  return (value >> (first % 8)) & ((std::uint64_t{1} << bits) - 1);
}

/// What decides whether a layer or the list has a key: the first part of a lookup. ribbon_layers-inl.h asks it.
struct RibbonLayers {
  const std::byte* marks;  // Unaligned, like the list.
  const std::byte* list;
  std::array<std::uint64_t, kRibbonLayers> starts;
  std::array<std::uint64_t, kRibbonLayers> first_row;
  std::array<std::uint64_t, kRibbonLayers> first_bucket;
  std::uint64_t list_entries;
  std::uint32_t list_bits;
};

/// The layers of a shape whose list follows the marks, as in every body.
inline RibbonLayers ribbon_layers(const RibbonShape& shape, const std::byte* marks) {
  return {.marks = marks,
          .list = marks + shape.mark_bytes(),
          .starts = shape.starts,
          .first_row = {shape.first_row(0), shape.first_row(1), shape.first_row(2)},
          .first_bucket = {shape.first_bucket(0), shape.first_bucket(1), shape.first_bucket(2)},
          .list_entries = shape.list_entries,
          .list_bits = shape.list_bits};
}

/// The rows of some columns, block after block.
struct RibbonBlocks {
  const std::byte* first;
  std::uint64_t full;  // Blocks of 64 rows.
  std::uint32_t columns;
  std::uint32_t cut_bytes;  // Bytes per column of a last, shorter block; 0 for none.
};

/// What a probe of the kind `ribbon` keeps.
struct RibbonState {
  RibbonLayers layers;
  RibbonBlocks blocks;
};

/// Sets the functions for this machine and this state, which must be filled in.
void choose_ribbon_functions(FilterProbe& probe);

}  // namespace tamis
