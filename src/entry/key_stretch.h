// The keys around one that have the same answer to a question.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "entry/key_range.h"

namespace tamis {

/// An interval of keys; at first all of them. The views belong to whoever cut it.
///
/// Threads: a value.
struct KeyStretch {
  std::string_view from = {};
  std::optional<std::string_view> to = {};  ///< Exclusive; none: to the end.

  [[nodiscard]] bool contains(std::string_view key) const { return from <= key && (!to || key < *to); }
  /// Cuts off the keys before the bound, or from it on.
  void begin_at(std::string_view bound) { from = std::max(from, bound); }
  void end_at(std::string_view bound) {
    if (!to || bound < *to) to = bound;
  }
  /// Cuts at the bounds of the range, so that the key stays. Whether the range has the key.
  bool cut(std::string_view key, const KeyRange& range) {
    if (range.begins_after(key)) {
      end_at(range.from);
      return false;
    }
    if (range.ends_before(key)) {
      begin_at(*range.to);
      return false;
    }
    begin_at(range.from);
    if (range.to) end_at(*range.to);
    return true;
  }
};

}  // namespace tamis
