// The part of a key that a filter hashes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tamis/export.h"
#include "tamis/status.h"

namespace tamis {

/// The part of a key that a filter hashes: the whole key, its first N bytes, or everything through the first byte C. A
/// key shorter than N bytes or without C is its own prefix.
struct TAMIS_EXPORT PrefixRule {
  /// The three rules. The numbers are stored in files.
  enum class Kind : std::uint8_t {
    kNone = 0,   ///< The whole key.
    kFirst = 1,  ///< The first `argument` bytes.
    kUntil = 2,  ///< Everything through the first byte equal to `argument`.
  };
  Kind kind = Kind::kNone;     ///< The rule.
  std::uint16_t argument = 0;  ///< N for kFirst (1 … 65535), the byte for kUntil.

  /// Reads "none", "first:N" or "until:C", where C is one character or 0xHH.
  static Result<PrefixRule> parse(std::string_view text);
  /// The form that parse() reads.
  [[nodiscard]] std::string to_text() const;
  /// The part of `key` that is hashed, as a view.
  [[nodiscard]] std::string_view prefix_of(std::string_view key) const;
  /// Whether all keys that begin with `scan_prefix` share one prefix_of, so that a scan can use the filter.
  [[nodiscard]] bool decides(std::string_view scan_prefix) const;

  /// Compares rule and argument.
  friend bool operator==(const PrefixRule&, const PrefixRule&) = default;
};

}  // namespace tamis
