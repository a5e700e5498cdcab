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
  /// Cuts off what is beyond the bound, as seen from the key.
  void cut(std::string_view key, std::string_view bound) {
    if (bound <= key) {
      from = std::max(from, bound);
    } else if (!to || bound < *to) {
      to = bound;
    }
  }
  void cut(std::string_view key, const KeyRange& range) {
    cut(key, std::string_view(range.from));
    if (range.to) cut(key, std::string_view(*range.to));
  }
};

}  // namespace tamis
