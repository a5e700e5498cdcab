// Where an interval of keys ends.
#pragma once

#include <cstdint>
#include <string_view>

namespace tamis {

/// The end of an interval: with a key, before a key, or nowhere. The view belongs to someone else.
///
/// Threads: a value.
struct KeyEnd {
  enum class Kind : std::uint8_t {
    kBefore,  ///< The key is not part of the interval.
    kWith,    ///< It is the last one.
    kNowhere,
  };
  std::string_view key = {};
  Kind kind = Kind::kWith;

  static KeyEnd with(std::string_view key) { return {key, Kind::kWith}; }
  static KeyEnd before(std::string_view key) { return {key, Kind::kBefore}; }
  static KeyEnd nowhere() { return {{}, Kind::kNowhere}; }

  /// Whether the interval ends before it comes to this key.
  [[nodiscard]] bool is_before(std::string_view other) const {
    if (kind == Kind::kNowhere) return false;
    return kind == Kind::kWith ? key < other : key <= other;
  }
  /// Of two ends, the one that is reached first.
  friend bool operator<(const KeyEnd& a, const KeyEnd& b) {
    if (a.kind == Kind::kNowhere || b.kind == Kind::kNowhere)
      return a.kind != Kind::kNowhere && b.kind == Kind::kNowhere;
    return a.key != b.key ? a.key < b.key : a.kind < b.kind;
  }
  friend bool operator==(const KeyEnd&, const KeyEnd&) = default;
};

}  // namespace tamis
