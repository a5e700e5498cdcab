// Reads and writes integers in byte strings, bounds-checked if the bytes are untrusted.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "tamis/status.h"

namespace tamis {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

inline Bytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }
inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

template <std::unsigned_integral T>
constexpr T byte_swapped(T value) {
  if constexpr (sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}

/// Unchecked loads and stores: the caller guarantees sizeof(T) bytes.
template <std::unsigned_integral T>
T load_le(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return std::endian::native == std::endian::little ? value : byte_swapped(value);
}
template <std::unsigned_integral T>
T load_be(const void* from) {
  return byte_swapped(load_le<T>(from));
}
template <std::unsigned_integral T>
void store_le(void* to, T value) {
  if constexpr (std::endian::native != std::endian::little) value = byte_swapped(value);
  std::memcpy(to, &value, sizeof value);
}
template <std::unsigned_integral T>
void store_be(void* to, T value) {
  store_le(to, byte_swapped(value));
}

template <std::unsigned_integral T>
void append_le(std::string& to, T value) {
  char raw[sizeof(T)];
  store_le(raw, value);
  to.append(raw, sizeof raw);
}
template <std::unsigned_integral T>
void append_be(std::string& to, T value) {
  append_le(to, byte_swapped(value));
}

/// How many bytes both begin with.
inline std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t most = a.size() < b.size() ? a.size() : b.size();
  std::size_t same = 0;
  for (; same + 8 <= most; same += 8) {
    const std::uint64_t difference = load_le<std::uint64_t>(a.data() + same) ^ load_le<std::uint64_t>(b.data() + same);
    if (difference != 0) return same + static_cast<std::size_t>(std::countr_zero(difference)) / 8;
  }
  while (same < most && a[same] == b[same]) ++same;
  return same;
}

/// Varints are LEB128: seven bits per byte, low bits first; the top bit says that another byte follows.
inline constexpr std::size_t kMaxVarintBytes = 10;
constexpr std::size_t varint_bytes(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}
/// Unchecked, as load_le: the caller guarantees a whole varint of at most 64 bits. Advances `from` past it.
inline std::uint64_t load_varint(const char*& from) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto next = static_cast<unsigned char>(*from++);
    value |= static_cast<std::uint64_t>(next & 0x7f) << shift;
    if (next < 0x80) return value;
  }
}
inline void append_varint(std::string& to, std::uint64_t value) {
  char raw[kMaxVarintBytes];
  std::size_t count = 0;
  for (; value >= 0x80; value >>= 7) raw[count++] = static_cast<char>(value | 0x80);
  raw[count++] = static_cast<char>(value);
  to.append(raw, count);
}

/// Reads untrusted bytes in order. Every read is checked, so any input yields a value or kCorruption, whose message
/// names what was being read and where; nothing is read past the end.
///
/// Threads: one at a time. The bytes must outlive it.
class ByteReader {
 public:
  /// `name` is used in error messages: a file name, or "filter".
  ByteReader(Bytes bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  [[nodiscard]] std::size_t offset() const { return offset_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - offset_; }
  [[nodiscard]] bool at_end() const { return remaining() == 0; }

  template <std::unsigned_integral T>
  Result<T> read_le(std::string_view what) {
    Result<Bytes> raw = read(sizeof(T), what);
    if (!raw.ok()) return raw.status();
    return load_le<T>(raw->data());
  }
  template <std::unsigned_integral T>
  Result<T> read_be(std::string_view what) {
    Result<T> value = read_le<T>(what);
    if (value.ok()) *value = byte_swapped(*value);
    return value;
  }

  /// The next `count` bytes, without copying.
  Result<Bytes> read(std::uint64_t count, std::string_view what);
  Status skip(std::uint64_t count, std::string_view what);
  /// LEB128, at most 64 bits: seven bits per byte, low bits first.
  Result<std::uint64_t> read_varint(std::string_view what);
  /// Refuses trailing bytes.
  [[nodiscard]] Status expect_end() const;
  /// kCorruption naming the bytes and the current offset.
  [[nodiscard]] Status corruption(std::string_view why) const;

 private:
  Bytes bytes_;
  std::string_view name_;
  std::size_t offset_ = 0;
};

}  // namespace tamis
