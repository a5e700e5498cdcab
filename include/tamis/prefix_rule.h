// Which part of a key a filter is about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tamis/export.h"
#include "tamis/status.h"

namespace tamis {

/// The part of a key that a filter hashes: all of it, its first N bytes, or everything up to and including the first
/// byte C. A key that is shorter than N bytes, or that does not contain C, is its own prefix.
struct TAMIS_EXPORT PrefixRule {
  /// The three rules. The numbers are stored in files.
  enum class Kind : std::uint8_t {
    kNone = 0,   ///< The whole key.
    kFirst = 1,  ///< The first `argument` bytes.
    kUntil = 2,  ///< Up to and including the first byte equal to `argument`.
  };
  Kind kind = Kind::kNone;     ///< Which rule.
  std::uint16_t argument = 0;  ///< N for kFirst (1 … 65535), the byte for kUntil.

  /// Reads "none", "first:N" or "until:C", where C is one character or 0xHH.
  static Result<PrefixRule> parse(std::string_view text);
  /// The text that parse() reads.
  [[nodiscard]] std::string to_text() const;
  /// The part of the key that is hashed: a view into `key`.
  [[nodiscard]] std::string_view prefix_of(std::string_view key) const;
  /// Whether all keys that begin with `scan_prefix` have the same prefix_of, so that a scan can use the filter.
  [[nodiscard]] bool decides(std::string_view scan_prefix) const;

  /// Equal when both use the same rule with the same argument.
  friend bool operator==(const PrefixRule&, const PrefixRule&) = default;
};

}  // namespace tamis
