// Keys from typed values: the byte order of the keys is the order of the values.
//
//     std::string key = tamis::pack_key("user", std::uint64_t{42}, -1.5);
//     auto parts = tamis::unpack_key<std::string, std::uint64_t, double>(key);
//     tamis::Iterator user = db.scan({.prefix = tamis::pack_key("user", std::uint64_t{42})});
//
// Stores order keys by their bytes, and by nothing else. Values are packed one after the other, so keys order by their
// first value, then by their second, and so on; the key of some first values is a prefix of every key that begins with
// them. Values are not tagged: unpack_key must name the types that pack_key got.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tamis {

/// Appends an integer: big-endian, in the size of its type, the sign bit of a signed one inverted.
template <std::integral Number>
void append_ordered(std::string& key, Number number) {
  using Unsigned = std::make_unsigned_t<std::conditional_t<std::same_as<Number, bool>, unsigned char, Number>>;
  auto bits = static_cast<Unsigned>(number);
  if constexpr (std::is_signed_v<Number>) bits ^= static_cast<Unsigned>(Unsigned{1} << (8 * sizeof(Unsigned) - 1));
  for (std::size_t shift = 8 * sizeof(Unsigned); shift > 0; shift -= 8) {
    key.push_back(static_cast<char>(static_cast<unsigned char>(bits >> (shift - 8))));
  }
}

/// Appends a float or double: -inf to inf, with -0 directly before +0 and NaNs at both ends by their sign.
template <std::floating_point Number>
requires(sizeof(Number) == 4 || sizeof(Number) == 8) void append_ordered(std::string& key, Number number) {
  using Bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const auto bits = std::bit_cast<Bits>(number);
  append_ordered(key, (bits & kSign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | kSign));
}

/// Appends a string of any bytes: a zero byte becomes 00 ff, and 00 01 ends the string. Prefixes sort first.
inline void append_ordered(std::string& key, std::string_view text) {
  for (const char byte : text) {
    key.push_back(byte);
    if (byte == '\0') key.push_back('\xff');
  }
  key.append("\0\1", 2);
}

/// Removes an integer from the front of the key; false if the key is too short, or not a bool's.
template <std::integral Number>
[[nodiscard]] bool take_ordered(std::string_view& key, Number& number) {
  using Unsigned = std::make_unsigned_t<std::conditional_t<std::same_as<Number, bool>, unsigned char, Number>>;
  if (key.size() < sizeof(Unsigned)) return false;
  Unsigned bits = 0;
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
    if constexpr (sizeof(Unsigned) > 1) bits = static_cast<Unsigned>(bits << 8);
    bits = static_cast<Unsigned>(bits | static_cast<unsigned char>(key[i]));
  }
  if constexpr (std::is_signed_v<Number>) bits ^= static_cast<Unsigned>(Unsigned{1} << (8 * sizeof(Unsigned) - 1));
  if constexpr (std::same_as<Number, bool>) {
    if (bits > 1) return false;
  }
  number = static_cast<Number>(bits);
  key.remove_prefix(sizeof(Unsigned));
  return true;
}

/// The same for a float or double.
template <std::floating_point Number>
requires(sizeof(Number) == 4 || sizeof(Number) == 8)
    [[nodiscard]] bool take_ordered(std::string_view& key, Number& number) {
  using Bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  Bits bits = 0;
  if (!take_ordered(key, bits)) return false;
  number = std::bit_cast<Number>((bits & kSign) != 0 ? static_cast<Bits>(bits & ~kSign) : static_cast<Bits>(~bits));
  return true;
}

/// The same for a string; false if it has no end, or a zero byte that is followed by another than 01 or ff.
[[nodiscard]] inline bool take_ordered(std::string_view& key, std::string& text) {
  text.clear();
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] != '\0') {
      text.push_back(key[i]);
      continue;
    }
    if (++i == key.size() || (key[i] != '\1' && key[i] != '\xff')) return false;
    if (key[i] == '\1') {
      key.remove_prefix(i + 1);
      return true;
    }
    text.push_back('\0');
  }
  return false;
}

/// A key of these values: integers, bools, floats, doubles and strings.
template <typename... Values>
[[nodiscard]] std::string pack_key(const Values&... values) {
  std::string key;
  (append_ordered(key, values), ...);
  return key;
}

/// The values of a key that pack_key made from values of these types; none if the bytes cannot be such a key. Strings
/// come as std::string.
template <typename... Values>
[[nodiscard]] std::optional<std::tuple<Values...>> unpack_key(std::string_view key) {
  std::optional<std::tuple<Values...>> values(std::in_place);
  const bool are_there = std::apply([&](Values&... value) { return (take_ordered(key, value) && ...); }, *values);
  if (!are_there || !key.empty()) values.reset();
  return values;
}

}  // namespace tamis
