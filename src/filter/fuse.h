// Building a binary fuse filter: every key owns one slot, set so that the xor of its three slots is its fingerprint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace tamis {

/// The arrangement of a filter's slots, and how hashes map to them.
///
/// `segments` segments of 2^segment_log2 slots. A key has one slot in each of three adjacent segments, so its slots are
/// close together and peeling accesses memory almost in order.
struct FuseShape {
  std::uint64_t seed = 0;
  std::uint32_t segment_log2 = 0;
  std::uint32_t segments = 3;

  [[nodiscard]] std::uint64_t slots() const { return std::uint64_t{segments} << segment_log2; }
  /// First slots come from all segments but the last two.
  [[nodiscard]] std::uint64_t window() const { return std::uint64_t{segments - 2} << segment_log2; }
};

/// One multiplication that mixes hash and seed into 64 bits.
inline std::uint64_t fuse_mix(std::uint64_t hash, std::uint64_t seed) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(hash ^ seed) * 0x9e3779b97f4a7c15U;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// A key's three slots, one in each of three adjacent segments.
struct FuseSlots {
  std::uint64_t at[3];
};

inline FuseSlots fuse_slots(std::uint64_t mixed, std::uint64_t window, std::uint32_t segment_log2) {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t length = std::uint64_t{1} << segment_log2;
  const std::uint64_t mask = length - 1;
  const auto first = static_cast<std::uint64_t>((static_cast<Wide>(mixed) * window) >> 64);
  return {{first, (first + length) ^ ((mixed >> 18) & mask), (first + 2 * length) ^ (mixed & mask)}};
}

template <typename Slot>
Slot fuse_fingerprint(std::uint64_t mixed) {
  return static_cast<Slot>((mixed * 0xd6e8feb86659fd93U) >> 48);
}

/// The initial shape for this many keys.
FuseShape first_fuse_shape(std::uint64_t keys);

/// Fills shape.slots() slots of 4, 8, 12 or 16 bits, one after the other, which are zero. Returns false and changes
/// nothing if this seed cannot separate some keys: too few slots, or equal hashes.
template <std::uint32_t kWidth>
bool fill_fuse_slots(std::span<const std::uint64_t> hashes, const FuseShape& shape, std::byte* slots);

}  // namespace tamis
