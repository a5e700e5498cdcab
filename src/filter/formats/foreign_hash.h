// The hash functions in other systems' files, exactly as those systems compute them, bugs included.
//
// tamis itself uses none of these. XXH32, XXH64 and XXH3 come from <xxhash.h>.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace tamis::foreign {

/// How a byte of an incomplete last block is widened. `char` is signed in Java and old C++ code. Where the author
/// forgot the mask, bytes from 0x80 up set all higher bits.
enum class TailBytes : std::uint8_t { kUnsigned, kSignExtended };

struct Hash128 {
  std::uint64_t low = 0;   ///< "h1"
  std::uint64_t high = 0;  ///< "h2"
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

/// MurmurHash3 x64 128; the seed initialises both halves. Cassandra sign-extends the tail, Go and Guava do not.
Hash128 murmur3_x64_128(std::string_view key, std::uint64_t seed, TailBytes tail);

/// Same, unseeded and unsigned, of the key and of the key followed by a byte 1, in one pass: the source of positions in
/// bits-and-blooms/bloom.
std::array<Hash128, 2> murmur3_x64_128_and_longer(std::string_view key);

/// MurmurHash3 x86 32 as in Spark: each tail byte is sign-extended and mixed like a whole block.
std::uint32_t spark_murmur3_32(std::string_view key, std::uint32_t seed);

/// LevelDB's Murmur-like hash with the seed of its Bloom filter. RocksDB's copy sign-extends the tail.
std::uint32_t leveldb_hash32(std::string_view key, TailBytes tail);

/// Incremental SipHash-1-3 with the key (0, 0): Rust's DefaultHasher.
///
/// Threads: one at a time.
class SipHasher13 {
 public:
  void update(std::string_view bytes);
  /// The hash of everything so far; more may follow.
  [[nodiscard]] std::uint64_t finish() const;

 private:
  void round();
  void absorb(std::uint64_t word);

  std::uint64_t v0_ = 0x736f6d6570736575U;
  std::uint64_t v1_ = 0x646f72616e646f6dU;
  std::uint64_t v2_ = 0x6c7967656e657261U;
  std::uint64_t v3_ = 0x7465646279746573U;
  std::uint64_t held_ = 0;  // The bytes of an incomplete word, from the low end.
  std::uint64_t bytes_ = 0;
};

std::uint64_t fnv1a64(std::string_view key);

/// One step of SplitMix64 from the state `x`.
std::uint64_t splitmix64(std::uint64_t x);

/// XXPH3 with seed 0: the preview of XXH3 that RocksDB froze into its filters. It differs from the released XXH3 at
/// every length.
std::uint64_t xxph3_64(std::string_view key);

/// RFC 1321. Not used for security.
std::array<std::byte, 16> md5(std::string_view message);

/// CRC-32C (Castagnoli), the block checksum of LevelDB and of older RocksDB tables: of `bytes` or, given the checksum
/// of the preceding bytes, of both together.
std::uint32_t crc32c(Bytes bytes, std::uint32_t before = 0);

/// As LevelDB stores it: rotated and offset, so that checksums of bytes that contain checksums stay random.
constexpr std::uint32_t masked_crc32c(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

}  // namespace tamis::foreign
