// The keys in LevelDB's tables: the user's key, then u64 little-endian sequence << 8 | kind (0 deletion, 1 value).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "entry/entry.h"

namespace tamis::leveldb {

inline constexpr std::size_t kInternalSuffixBytes = 8;

/// The entry of this internal key; nullopt if it is too short or of a kind that LevelDB does not have.
inline std::optional<Entry> entry_of(std::string_view internal_key, std::string_view value) {
  if (internal_key.size() < kInternalSuffixBytes) return std::nullopt;
  const std::size_t key_bytes = internal_key.size() - kInternalSuffixBytes;
  const auto suffix = load_le<std::uint64_t>(internal_key.data() + key_bytes);
  const std::uint64_t kind = suffix & 0xff;
  if (kind > 1) return std::nullopt;
  return Entry{.key = internal_key.substr(0, key_bytes),
               .value = kind == 1 ? value : std::string_view(),
               .sequence = Sequence{suffix >> 8},
               .kind = kind == 1 ? EntryKind::kPut : EntryKind::kDelete};
}

}  // namespace tamis::leveldb
