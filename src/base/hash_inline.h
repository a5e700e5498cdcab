// KeyHasher's function as inline code, for the few places that hash keys in a tight loop. Heavy to compile: everybody
// else calls KeyHasher::operator().
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

/// Short keys in place: the comparison also tells the compiler to leave out XXH3's code for longer ones, whose
/// registers would have to be saved on every call.
inline std::uint64_t KeyHasher::hash_inline(std::string_view key) const {
  if (key.size() <= 16) return hash_any(key);
  return (*this)(key);
}

}  // namespace tamis
