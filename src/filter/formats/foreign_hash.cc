#include "filter/formats/foreign_hash.h"

#include <bit>

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

/// Up to eight bytes as a little-endian number; with sign extension the bytes overlap, hence xor.
std::uint64_t tail_word(std::string_view bytes, TailBytes tail) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) word ^= widen<std::uint64_t>(bytes[i], tail) << (8 * i);
  return word;
}

constexpr std::uint32_t mix_block32(std::uint32_t h, std::uint32_t block) {
  h ^= std::rotl(block * 0xcc9e2d51U, 15) * 0x1b873593U;
  return std::rotl(h, 13) * 5 + 0xe6546b64U;
}

/// The four words of SipHash and its round.
struct SipState {
  std::uint64_t v0 = 0x736f6d6570736575U;
  std::uint64_t v1 = 0x646f72616e646f6dU;
  std::uint64_t v2 = 0x6c7967656e657261U;
  std::uint64_t v3 = 0x7465646279746573U;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    v0 ^= word;
  }
};

}  // namespace

Hash128 murmur3_x64_128(std::string_view key, std::uint64_t seed, TailBytes tail) {
  std::uint64_t h1 = seed;
  std::uint64_t h2 = seed;
  std::string_view rest = key;
  for (; rest.size() >= 16; rest.remove_prefix(16)) {
    h1 ^= scramble_first(load_le<std::uint64_t>(rest.data()));
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729U;
    h2 ^= scramble_second(load_le<std::uint64_t>(rest.data() + 8));
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5U;
  }
  // A half without bytes is the word 0, which both scramblings leave at 0.
  h1 ^= scramble_first(tail_word(rest.substr(0, 8), tail));
  h2 ^= scramble_second(rest.size() > 8 ? tail_word(rest.substr(8), tail) : 0);

  h1 ^= key.size();
  h2 ^= key.size();
  h1 += h2;
  h2 += h1;
  h1 = finish64(h1);
  h2 = finish64(h2);
  h1 += h2;
  h2 += h1;
  return {h1, h2};
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

std::uint64_t siphash13(std::string_view message) {
  SipState state;
  std::string_view rest = message;
  for (; rest.size() >= 8; rest.remove_prefix(8)) state.absorb(load_le<std::uint64_t>(rest.data()));
  state.absorb(tail_word(rest, TailBytes::kUnsigned) | (static_cast<std::uint64_t>(message.size()) << 56));
  state.v2 ^= 0xff;
  for (int i = 0; i < 3; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

std::uint64_t fnv1a64(std::string_view key) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const char byte : key) h = (h ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return h;
}

std::uint64_t splitmix64(std::uint64_t x) { return remix(x + 0x9e3779b97f4a7c15U); }

}  // namespace tamis::foreign
