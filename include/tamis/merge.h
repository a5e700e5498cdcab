// Merge operators: changes that depend on the value before them, without reading it first.
//
//     auto db = tamis::DB::open("visits", {.merge_operator = "add_i64"});
//     tamis::Status s = db->merge("paris", tamis::pack_i64(1));       // Adds 1; an absent key counts as 0.
//     auto value = db->get("paris");
//     std::optional<std::int64_t> visits = tamis::unpack_i64(value->value_or(""));
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tamis/export.h"

namespace tamis {

/// A merge operator of the program, for Options::merge_operators. DB::merge writes an operand without reading the key;
/// reads, flushes and compactions call `fold` later, in any grouping. So it must be associative:
/// fold(fold(a, b), c) = fold(a, fold(b, c)). The first operand of an absent key becomes its value unchanged.
///
/// What `fold` does must not change while a store has operands for it: give a new behaviour a new name.
struct MergeOperator {
  std::string name;  ///< 1 to 255 bytes, no line break; not the name of an operator that is built in.
  /// Sets `result`, which is empty, to the fold of a value or operand and the operand after it. False if it cannot:
  /// reads of the key then fail, and the operands stay as they are. Called by any thread, by several at once; it must
  /// not throw, and must not call the store.
  std::function<bool(std::string_view older, std::string_view newer, std::string& result)> fold;
};

/// The operators that are built in. add_i64 adds numbers of eight bytes (pack_i64) and wraps around; max_u64 and
/// min_u64 keep the largest and the smallest of such numbers without a sign (pack_u64); append puts the operand behind
/// the value. The first three cannot fold a value that does not have eight bytes.
TAMIS_EXPORT std::span<const std::string_view> merge_operator_names();

/// A number as eight bytes, little-endian: an operand or a value of max_u64 and min_u64.
inline std::string pack_u64(std::uint64_t number) {
  std::string bytes(8, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(number);
    number >>= 8;
  }
  return bytes;
}
/// The same for add_i64, in two's complement.
inline std::string pack_i64(std::int64_t number) { return pack_u64(static_cast<std::uint64_t>(number)); }
/// The number that pack_u64 packed; none if these are not eight bytes.
inline std::optional<std::uint64_t> unpack_u64(std::string_view bytes) {
  if (bytes.size() != 8) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = 8; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}
/// The number that pack_i64 packed; none if these are not eight bytes.
inline std::optional<std::int64_t> unpack_i64(std::string_view bytes) {
  const std::optional<std::uint64_t> number = unpack_u64(bytes);
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

}  // namespace tamis
