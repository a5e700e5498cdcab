// What every block candidate stores per entry, and the numbers it is written with.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "layout/key_sets.h"

namespace tamis::layout {

inline constexpr std::size_t kBlockBytes = 4096;  // The target for a block with its trailer.
inline constexpr std::size_t kTrailerBytes = 13;  // Codec u8, uncompressed length u32, checksum u64.
inline constexpr std::size_t kBlockSlack = 64;    // Bytes that vector loads may read past a block's end.
inline constexpr unsigned kKindBits = 3;
inline constexpr std::uint64_t kPut = 1;

struct SourceEntry {
  std::string_view key;
  std::string_view value;
  std::uint64_t hash;
  std::uint64_t sequence;
};

struct Found {
  const char* value = nullptr;
  std::size_t size = 0;
};

/// A byte of the hash that depends on all of it.
inline std::uint8_t tag_of(std::uint64_t hash) { return static_cast<std::uint8_t>((hash * 0x9e3779b97f4a7c15U) >> 56); }

inline void append_varint(std::string& to, std::uint64_t value) {
  while (value >= 128) {
    to.push_back(static_cast<char>(value | 128));
    value >>= 7;
  }
  to.push_back(static_cast<char>(value));
}
inline std::size_t varint_bytes(std::uint64_t value) {
  std::size_t bytes = 1;
  while (value >= 128) ++bytes, value >>= 7;
  return bytes;
}
/// Unchecked: blocks are checked once when they are loaded.
inline std::uint64_t take_varint(const char*& at) {
  auto byte = static_cast<unsigned char>(*at++);
  if (byte < 128) [[likely]]
    return byte;
  std::uint64_t value = byte & 127U;
  for (unsigned shift = 7;; shift += 7) {
    byte = static_cast<unsigned char>(*at++);
    value |= std::uint64_t{byte & 127U} << shift;
    if (byte < 128) return value;
  }
}

/// Sequence offset and kind in one number, so that a put of the last level (offset 0) takes one byte.
inline std::uint64_t sequence_and_kind(const SourceEntry& entry, std::uint64_t base) {
  return ((entry.sequence - base) << kKindBits) | kPut;
}

/// The key of a cursor's entry, put together from its parts; the first `fixed` bytes stay between entries.
class KeyBuffer {
 public:
  void set(std::size_t fixed, const char* rest, std::size_t rest_bytes) {
    TAMIS_INVARIANT(fixed + rest_bytes <= kMostKeyBytes);
    std::memcpy(text_.data() + fixed, rest, rest_bytes);
    size_ = fixed + rest_bytes;
  }
  [[nodiscard]] std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, kMostKeyBytes> text_;
  std::size_t size_ = 0;
};

}  // namespace tamis::layout
