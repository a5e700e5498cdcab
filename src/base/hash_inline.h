// KeyHasher inlined, for the few tight loops that hash keys. Slow to compile; other code calls KeyHasher::operator().
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"

namespace tamis {

inline std::uint64_t KeyHasher::hash_any(std::string_view key) const {
  switch (mode_) {
    case Mode::kPlain: return XXH3_64bits(key.data(), key.size());
    case Mode::kSeeded: return XXH3_64bits_withSeed(key.data(), key.size(), seed_);
    case Mode::kKeyed: break;
  }
  return XXH3_64bits_withSecret(key.data(), key.size(), secret_.data(), kSecretBytes);
}

/// Short keys are hashed in place: the comparison also lets the compiler drop XXH3's code for longer keys, whose
/// registers every call would have to save.
inline std::uint64_t KeyHasher::hash_inline(std::string_view key) const {
  if (key.size() <= 16) return hash_any(key);
  return (*this)(key);
}

}  // namespace tamis
