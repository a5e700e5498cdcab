#include "filter/formats/foreign_hash.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/hash.h"

namespace tamis::foreign {
namespace {

constexpr std::uint64_t kMurmurC1 = 0x87c37b91114253d5U;
constexpr std::uint64_t kMurmurC2 = 0x4cf5ad432745937fU;

constexpr std::uint64_t scramble_first(std::uint64_t k) { return std::rotl(k * kMurmurC1, 31) * kMurmurC2; }
constexpr std::uint64_t scramble_second(std::uint64_t k) { return std::rotl(k * kMurmurC2, 33) * kMurmurC1; }

constexpr std::uint64_t finish64(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdU;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53U;
  return x ^ (x >> 33);
}

template <typename Word>
Word widen(char byte, TailBytes tail) {
  if (tail == TailBytes::kUnsigned) return static_cast<unsigned char>(byte);
  return static_cast<Word>(static_cast<std::int64_t>(static_cast<signed char>(byte)));
}

/// Up to eight bytes as a little-endian number; sign-extended bytes overlap, hence xor.
std::uint64_t tail_word(std::string_view bytes, TailBytes tail) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) word ^= widen<std::uint64_t>(bytes[i], tail) << (8 * i);
  return word;
}

constexpr std::uint32_t mix_block32(std::uint32_t h, std::uint32_t block) {
  h ^= std::rotl(block * 0xcc9e2d51U, 15) * 0x1b873593U;
  return std::rotl(h, 13) * 5 + 0xe6546b64U;
}

/// The state of MurmurHash3 x64 128 between two blocks.
struct Murmur3State {
  std::uint64_t h1;
  std::uint64_t h2;

  /// Sixteen bytes.
  void mix(const char* block) {
    h1 ^= scramble_first(load_le<std::uint64_t>(block));
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729U;
    h2 ^= scramble_second(load_le<std::uint64_t>(block + 8));
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5U;
  }
  /// Mixes all whole blocks of a text; returns the rest.
  std::string_view mix_blocks(std::string_view text) {
    for (; text.size() >= 16; text.remove_prefix(16)) mix(text.data());
    return text;
  }
  [[nodiscard]] Hash128 finish(std::string_view rest, std::uint64_t bytes, TailBytes tail) const {
    // An empty half is the word 0, which both scramblings leave at 0.
    const std::uint64_t second_half = rest.size() > 8 ? tail_word(rest.substr(8), tail) : 0;
    std::uint64_t low = h1 ^ scramble_first(tail_word(rest.substr(0, 8), tail)) ^ bytes;
    std::uint64_t high = h2 ^ scramble_second(second_half) ^ bytes;
    low += high;
    high += low;
    low = finish64(low);
    high = finish64(high);
    low += high;
    high += low;
    return {low, high};
  }
};

using Crc32cTable = std::array<std::uint32_t, 256>;

/// The effect of each value of the lowest byte on the rest, for the reflected polynomial.
constexpr Crc32cTable make_crc32c_table() {
  Crc32cTable table = {};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0);
    table[byte] = crc;
  }
  return table;
}
constexpr Crc32cTable kCrc32cTable = make_crc32c_table();

constexpr std::size_t kMd5BlockBytes = 64;

/// ⌊2³² · |sin(i + 1)|⌋, the additive constants of MD5's 64 steps.
const std::array<std::uint32_t, 64> kMd5Sines = [] {
  std::array<std::uint32_t, 64> sines;
  for (std::uint32_t i = 0; i < 64; ++i) sines[i] = static_cast<std::uint32_t>(0x1p32 * std::abs(std::sin(i + 1.0)));
  return sines;
}();
constexpr int kMd5Rotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

using Md5State = std::array<std::uint32_t, 4>;

void mix_md5_block(Md5State& state, const char* block) {
  auto [a, b, c, d] = state;
  for (std::uint32_t i = 0; i < 64; ++i) {
    std::uint32_t f = 0;
    std::uint32_t word = 0;
    switch (i / 16) {
      case 0: f = (b & c) | (~b & d), word = i; break;
      case 1: f = (d & b) | (~d & c), word = 5 * i + 1; break;
      case 2: f = b ^ c ^ d, word = 3 * i + 5; break;
      default: f = c ^ (b | ~d), word = 7 * i; break;
    }
    f += a + kMd5Sines[i] + load_le<std::uint32_t>(block + 4 * (word % 16));
    a = d;
    d = c;
    c = b;
    b += std::rotl(f, kMd5Rotations[i / 16][i % 4]);
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

}  // namespace

Hash128 murmur3_x64_128(std::string_view key, std::uint64_t seed, TailBytes tail) {
  Murmur3State state = {seed, seed};
  const std::string_view rest = state.mix_blocks(key);
  return state.finish(rest, key.size(), tail);
}

std::array<Hash128, 2> murmur3_x64_128_and_longer(std::string_view key) {
  Murmur3State state = {0, 0};
  const std::string_view rest = state.mix_blocks(key);
  const Hash128 first = state.finish(rest, key.size(), TailBytes::kUnsigned);
  std::array<char, 16> longer = {};
  std::copy(rest.begin(), rest.end(), longer.begin());
  longer[rest.size()] = 1;
  const std::string_view longer_rest = state.mix_blocks({longer.data(), rest.size() + 1});
  return {first, state.finish(longer_rest, key.size() + 1, TailBytes::kUnsigned)};
}

std::uint32_t spark_murmur3_32(std::string_view key, std::uint32_t seed) {
  std::uint32_t h = seed;
  std::string_view rest = key;
  for (; rest.size() >= 4; rest.remove_prefix(4)) h = mix_block32(h, load_le<std::uint32_t>(rest.data()));
  for (const char byte : rest) h = mix_block32(h, widen<std::uint32_t>(byte, TailBytes::kSignExtended));
  h ^= static_cast<std::uint32_t>(key.size());
  h = (h ^ (h >> 16)) * 0x85ebca6bU;
  h = (h ^ (h >> 13)) * 0xc2b2ae35U;
  return h ^ (h >> 16);
}

std::uint32_t leveldb_hash32(std::string_view key, TailBytes tail) {
  constexpr std::uint32_t kSeed = 0xbc9f1d34U;
  constexpr std::uint32_t kMultiplier = 0xc6a4a793U;
  std::uint32_t h = kSeed ^ (static_cast<std::uint32_t>(key.size()) * kMultiplier);
  std::string_view rest = key;
  for (; rest.size() >= 4; rest.remove_prefix(4)) {
    h = (h + load_le<std::uint32_t>(rest.data())) * kMultiplier;
    h ^= h >> 16;
  }
  if (rest.empty()) return h;
  for (std::size_t i = 0; i < rest.size(); ++i) h += widen<std::uint32_t>(rest[i], tail) << (8 * i);
  h *= kMultiplier;
  return h ^ (h >> 24);
}

void SipHasher13::update(std::string_view bytes) {
  for (const char byte : bytes) {
    const std::uint64_t filled = bytes_++ % 8;
    held_ |= widen<std::uint64_t>(byte, TailBytes::kUnsigned) << (8 * filled);
    if (filled == 7) absorb(std::exchange(held_, 0));
  }
}

std::uint64_t SipHasher13::finish() const {
  SipHasher13 last = *this;
  last.absorb(held_ | (bytes_ << 56));
  last.v2_ ^= 0xff;
  for (int i = 0; i < 3; ++i) last.round();
  return last.v0_ ^ last.v1_ ^ last.v2_ ^ last.v3_;
}

void SipHasher13::round() {
  v0_ += v1_;
  v1_ = std::rotl(v1_, 13) ^ v0_;
  v0_ = std::rotl(v0_, 32);
  v2_ += v3_;
  v3_ = std::rotl(v3_, 16) ^ v2_;
  v0_ += v3_;
  v3_ = std::rotl(v3_, 21) ^ v0_;
  v2_ += v1_;
  v1_ = std::rotl(v1_, 17) ^ v2_;
  v2_ = std::rotl(v2_, 32);
}

void SipHasher13::absorb(std::uint64_t word) {
  v3_ ^= word;
  round();
  v0_ ^= word;
}

std::uint64_t fnv1a64(std::string_view key) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const char byte : key) h = (h ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return h;
}

std::uint64_t splitmix64(std::uint64_t x) { return remix(x + 0x9e3779b97f4a7c15U); }

std::uint32_t crc32c(Bytes bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  for (const std::byte byte : bytes)
    crc = (crc >> 8) ^ kCrc32cTable[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
  return ~crc;
}

std::array<std::byte, 16> md5(std::string_view message) {
  Md5State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::string_view rest = message;
  for (; rest.size() >= kMd5BlockBytes; rest.remove_prefix(kMd5BlockBytes)) mix_md5_block(state, rest.data());

  // The rest, one 1 bit, zeros, and the length in bits: one block or two.
  std::array<char, 2 * kMd5BlockBytes> last = {};
  if (!rest.empty()) std::memcpy(last.data(), rest.data(), rest.size());
  last[rest.size()] = '\x80';
  const std::size_t last_bytes = rest.size() + 1 + 8 <= kMd5BlockBytes ? kMd5BlockBytes : 2 * kMd5BlockBytes;
  store_le<std::uint64_t>(last.data() + last_bytes - 8, std::uint64_t{message.size()} * 8);
  for (std::size_t at = 0; at < last_bytes; at += kMd5BlockBytes) mix_md5_block(state, last.data() + at);

  std::array<std::byte, 16> digest;
  for (std::size_t i = 0; i < state.size(); ++i) store_le(digest.data() + 4 * i, state[i]);
  return digest;
}

}  // namespace tamis::foreign
