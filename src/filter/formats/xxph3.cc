#include "filter/formats/foreign_hash.h"

#include <array>

#include "base/bytes.h"

namespace tamis::foreign {
namespace {

constexpr std::uint32_t kPrime32_1 = 0x9e3779b1U;
constexpr std::uint32_t kPrime32_2 = 0x85ebca77U;
constexpr std::uint32_t kPrime32_3 = 0xc2b2ae3dU;
constexpr std::uint64_t kPrime64_1 = 0x9e3779b185ebca87U;
constexpr std::uint64_t kPrime64_2 = 0xc2b2ae3d27d4eb4fU;
constexpr std::uint64_t kPrime64_3 = 0x165667b19e3779f9U;
constexpr std::uint64_t kPrime64_4 = 0x85ebca77c2b2ae63U;
constexpr std::uint64_t kPrime64_5 = 0x27d4eb2f165667c5U;

/// The secret of XXH3, unchanged since the preview.
constexpr std::array<unsigned char, 192> kSecret = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4,
    0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e,
    0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43,
    0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb,
    0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19,
    0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7,
    0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78,
    0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16,
    0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f,
    0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

std::uint64_t secret64(std::size_t at) { return load_le<std::uint64_t>(kSecret.data() + at); }
std::uint64_t read64(const char* at) { return load_le<std::uint64_t>(at); }
std::uint64_t read32(const char* at) { return load_le<std::uint32_t>(at); }

/// The xor of the two halves of the 128-bit product.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

constexpr std::uint64_t avalanche(std::uint64_t h) {
  h = (h ^ (h >> 37)) * kPrime64_3;
  return h ^ (h >> 32);
}

/// Mixes sixteen bytes of the key with sixteen of the secret.
std::uint64_t mix16(const char* data, std::size_t secret_at) {
  return fold(read64(data) ^ secret64(secret_at), read64(data + 8) ^ secret64(secret_at + 8));
}

std::uint64_t hash_up_to_16(const char* d, std::size_t n) {
  if (n > 8) {
    const std::uint64_t low = read64(d) ^ secret64(0);
    const std::uint64_t high = read64(d + n - 8) ^ secret64(8);
    return avalanche(n + low + high + fold(low, high));
  }
  if (n >= 4) {
    const std::uint64_t x = (read32(d) | (read32(d + n - 4) << 32)) ^ secret64(0);
    const std::uint64_t y = n + (x ^ (x >> 51)) * kPrime32_1;
    return avalanche((y ^ (y >> 47)) * kPrime64_2);
  }
  if (n == 0) return fold(secret64(0), kPrime64_2);
  const auto byte = [d](std::size_t at) { return std::uint32_t{static_cast<unsigned char>(d[at])}; };
  const std::uint32_t packed =
      byte(0) | (byte(n / 2) << 8) | (byte(n - 1) << 16) | (static_cast<std::uint32_t>(n) << 24);
  return avalanche((packed ^ load_le<std::uint32_t>(kSecret.data())) * kPrime64_1);
}

/// From both ends towards the middle, 16 bytes each.
std::uint64_t hash_17_to_128(const char* d, std::size_t n) {
  std::uint64_t sum = n * kPrime64_1;
  for (std::size_t i = 0; i < (n + 31) / 32; ++i) {
    sum += mix16(d + 16 * i, 32 * i) + mix16(d + n - 16 * (i + 1), 32 * i + 16);
  }
  return avalanche(sum);
}

std::uint64_t hash_129_to_240(const char* d, std::size_t n) {
  std::uint64_t sum = n * kPrime64_1;
  for (std::size_t i = 0; i < 8; ++i) sum += mix16(d + 16 * i, 16 * i);
  sum = avalanche(sum);
  for (std::size_t i = 8; i < n / 16; ++i) sum += mix16(d + 16 * i, 16 * (i - 8) + 3);
  return avalanche(sum + mix16(d + n - 16, 119));
}

/// Eight lanes over 64-byte stripes, for keys over 240 bytes.
class Lanes {
 public:
  void add_stripe(const char* data, std::size_t secret_at) {
    for (std::size_t j = 0; j < lanes_.size(); ++j) {
      const std::uint64_t value = read64(data + 8 * j);
      const std::uint64_t keyed = value ^ secret64(secret_at + 8 * j);
      lanes_[j] += value + (keyed & 0xffffffffU) * (keyed >> 32);
    }
  }
  void scramble() {
    for (std::size_t j = 0; j < lanes_.size(); ++j) {
      lanes_[j] ^= lanes_[j] >> 47;
      lanes_[j] = (lanes_[j] ^ secret64(128 + 8 * j)) * kPrime32_1;
    }
  }
  [[nodiscard]] std::uint64_t merge(std::size_t n) const {
    std::uint64_t sum = n * kPrime64_1;
    for (std::size_t i = 0; i < 4; ++i) {
      sum += fold(lanes_[2 * i] ^ secret64(11 + 16 * i), lanes_[2 * i + 1] ^ secret64(19 + 16 * i));
    }
    return avalanche(sum);
  }

 private:
  std::array<std::uint64_t, 8> lanes_ = {kPrime32_3, kPrime64_1, kPrime64_2, kPrime64_3,
                                         kPrime64_4, kPrime32_2, kPrime64_5, kPrime32_1};
};

std::uint64_t hash_long(const char* d, std::size_t n) {
  constexpr std::size_t kStripeBytes = 64;
  constexpr std::size_t kStripesPerBlock = 16;
  Lanes lanes;
  const std::size_t stripes = n / kStripeBytes;
  for (std::size_t i = 0; i < stripes; ++i) {
    lanes.add_stripe(d + kStripeBytes * i, 8 * (i % kStripesPerBlock));
    if (i % kStripesPerBlock == kStripesPerBlock - 1) lanes.scramble();
  }
  if (n % kStripeBytes != 0) lanes.add_stripe(d + n - kStripeBytes, 121);
  return lanes.merge(n);
}

}  // namespace

std::uint64_t xxph3_64(std::string_view key) {
  const char* const data = key.data();
  const std::size_t size = key.size();
  if (size <= 16) return hash_up_to_16(data, size);
  if (size <= 128) return hash_17_to_128(data, size);
  if (size <= 240) return hash_129_to_240(data, size);
  return hash_long(data, size);
}

}  // namespace tamis::foreign
