// An interval of keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tamis {

/// The keys from `from` (inclusive) to `to` (exclusive); unbounded without `to`. By default every key. May be empty.
///
/// Threads: a value.
struct KeyRange {
  std::string from = {};
  std::optional<std::string> to = {};

  /// The keys that begin with `prefix`.
  static KeyRange of_prefix(std::string_view prefix);

  [[nodiscard]] bool begins_after(std::string_view key) const { return key < from; }
  [[nodiscard]] bool ends_before(std::string_view key) const { return to && key >= *to; }
  [[nodiscard]] bool contains(std::string_view key) const { return !begins_after(key) && !ends_before(key); }
  /// Intersects with another range.
  void narrow(std::optional<std::string_view> other_from, std::optional<std::string_view> other_to);

  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

/// The exclusive end of an interval whose last key is this one.
inline std::string after_key(std::string_view key) {
  std::string end;
  end.reserve(key.size() + 1);
  end.assign(key);
  end.push_back('\0');
  return end;
}

}  // namespace tamis
