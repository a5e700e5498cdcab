// Hashes a key once, to the 64-bit hash that every step of a lookup shares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"

namespace tamis {

/// XXH3-64, seeded or keyed. A seed is public: anyone can compute the hash, in any language. A key of 16 random bytes
/// derives a secret, so that keys crafted without knowing it do not collide; it is no defence against someone who reads
/// the file or can time many lookups.
///
/// Which bits are used where (disjoint where independence matters):
///     line     bits 32..63 choose the line, bits 0..31 the probes
///     bloom    the whole hash, remixed per probe
///     others   remix the whole hash (`remix`) and take start or bucket from the top, fingerprint from below
///
/// Threads: constant after construction.
class KeyHasher {
 public:
  static constexpr std::size_t kKeyBytes = 16;
  using Key = std::array<std::byte, kKeyBytes>;

  /// Public: XXH3-64 with this seed; 0 is plain XXH3-64.
  explicit KeyHasher(std::uint64_t seed = 0);
  /// Keyed: the 192-byte secret is XXH64 of the key under the seeds 0, 1, … 23, each as 8 little-endian bytes.
  explicit KeyHasher(const Key& key);

  [[nodiscard]] std::uint64_t operator()(std::string_view key) const;
  /// hashes[i] becomes the hash of keys[i].
  void hash_many(std::span<const std::string_view> keys, std::uint64_t* hashes) const;
  /// The operator, inlined; defined in hash_inline.h.
  [[nodiscard]] std::uint64_t hash_inline(std::string_view key) const;

 private:
  static constexpr std::size_t kSecretBytes = 192;
  enum class Mode : std::uint8_t { kPlain, kSeeded, kKeyed };
  [[nodiscard]] std::uint64_t hash_any(std::string_view key) const;

  Mode mode_;
  std::uint64_t seed_ = 0;                           // kSeeded.
  std::array<std::byte, kSecretBytes> secret_ = {};  // kKeyed.
};

/// Checksum of bytes on disk: plain XXH3-64.
std::uint64_t checksum64(Bytes bytes);
/// The checksum of `first` followed by `second`, as if concatenated.
std::uint64_t checksum64(Bytes first, Bytes second);
/// XXH3-64 with a seed, so that the same bytes have different checksums in different places.
std::uint64_t seeded_checksum64(Bytes bytes, std::uint64_t seed);

/// A bijection of 64-bit numbers; every output bit depends on every input bit (SplitMix64's finaliser).
constexpr std::uint64_t remix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// The high half of a 64 × 64-bit product: maps a uniform `hash` to 0 … range-1 by its top bits, without division.
constexpr std::uint64_t fast_range(std::uint64_t hash, std::uint64_t range) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(hash) * range) >> 64);
}
/// The same for 32 bits.
constexpr std::uint32_t fast_range32(std::uint32_t hash, std::uint32_t range) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(hash) * range) >> 32);
}

}  // namespace tamis
