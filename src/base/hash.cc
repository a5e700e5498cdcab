#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tamis {

KeyHasher::KeyHasher(std::uint64_t seed) : seed_(seed) {}

KeyHasher::KeyHasher(const Key& key) : keyed_(true) {
  static_assert(kSecretBytes >= XXH3_SECRET_SIZE_MIN);
  for (std::size_t i = 0; i < kSecretBytes / 8; ++i) {
    store_le(&secret_[8 * i], static_cast<std::uint64_t>(XXH64(key.data(), key.size(), i)));
  }
}

std::uint64_t KeyHasher::operator()(std::string_view key) const {
  if (keyed_) return XXH3_64bits_withSecret(key.data(), key.size(), secret_.data(), kSecretBytes);
  return XXH3_64bits_withSeed(key.data(), key.size(), seed_);
}

std::uint64_t checksum64(Bytes bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::uint64_t checksum64(Bytes first, Bytes second) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, first.data(), first.size());
  XXH3_64bits_update(&state, second.data(), second.size());
  return XXH3_64bits_digest(&state);
}

}  // namespace tamis
