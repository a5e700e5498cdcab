#include "filter/formats/foreign_hash.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"

namespace tamis::foreign {
namespace {

constexpr std::size_t kBlockBytes = 64;

/// ⌊2³² · |sin(i + 1)|⌋, the additive constants of the 64 steps.
constexpr std::array<std::uint32_t, 64> kSines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};
constexpr int kRotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

using State = std::array<std::uint32_t, 4>;

void mix_block(State& state, const char* block) {
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
    f += a + kSines[i] + load_le<std::uint32_t>(block + 4 * (word % 16));
    a = d;
    d = c;
    c = b;
    b += std::rotl(f, kRotations[i / 16][i % 4]);
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

}  // namespace

std::array<std::byte, 16> md5(std::string_view message) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::string_view rest = message;
  for (; rest.size() >= kBlockBytes; rest.remove_prefix(kBlockBytes)) mix_block(state, rest.data());

  // The rest, one 1 bit, zeros, and the length in bits: one block or two.
  std::array<char, 2 * kBlockBytes> last = {};
  if (!rest.empty()) std::memcpy(last.data(), rest.data(), rest.size());
  last[rest.size()] = '\x80';
  const std::size_t last_bytes = rest.size() + 1 + 8 <= kBlockBytes ? kBlockBytes : 2 * kBlockBytes;
  store_le<std::uint64_t>(last.data() + last_bytes - 8, std::uint64_t{message.size()} * 8);
  for (std::size_t at = 0; at < last_bytes; at += kBlockBytes) mix_block(state, last.data() + at);

  std::array<std::byte, 16> digest;
  for (std::size_t i = 0; i < state.size(); ++i) store_le(digest.data() + 4 * i, state[i]);
  return digest;
}

}  // namespace tamis::foreign
