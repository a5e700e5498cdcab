#include "base/hash.h"

#include "base/hash_inline.h"

namespace tamis {

KeyHasher::KeyHasher(std::uint64_t seed) : mode_(seed == 0 ? Mode::kPlain : Mode::kSeeded), seed_(seed) {}

KeyHasher::KeyHasher(const Key& key) : mode_(Mode::kKeyed) {
  static_assert(kSecretBytes >= XXH3_SECRET_SIZE_MIN);
  for (std::size_t i = 0; i < kSecretBytes / 8; ++i) {
    store_le(&secret_[8 * i], static_cast<std::uint64_t>(XXH64(key.data(), key.size(), i)));
  }
}

std::uint64_t KeyHasher::operator()(std::string_view key) const { return hash_any(key); }

void KeyHasher::hash_many(std::span<const std::string_view> keys, std::uint64_t* hashes) const {
  if (mode_ != Mode::kPlain) {
    for (const std::string_view key : keys) *hashes++ = hash_inline(key);
    return;
  }
  // The common mode, without checking the mode per key: 1.6 instead of 1.9 ns per 16-byte key.
  for (const std::string_view key : keys) {
    *hashes++ = key.size() <= 16 ? XXH3_64bits(key.data(), key.size()) : (*this)(key);
  }
}

std::uint64_t checksum64(Bytes bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::uint64_t checksum64(Bytes first, Bytes second) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, first.data(), first.size());
  XXH3_64bits_update(&state, second.data(), second.size());
  return XXH3_64bits_digest(&state);
}

std::uint64_t seeded_checksum64(Bytes bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace tamis
