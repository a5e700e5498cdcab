// Deterministic sorted keys of several shapes, and the value that belongs to each.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"

namespace tamis::layout {

inline constexpr std::size_t kValueBytes = 100;
inline constexpr std::size_t kMostKeyBytes = 256;  // Of the keys made here; bounds the buffers of cursors.

/// Keys in one buffer, sorted and distinct.
struct KeySet {
  std::string name;
  std::string text;
  std::vector<std::string_view> keys;
};

/// The value of the key with this number: eight bytes that identify it, 42 that do not compress, 50 that do.
inline void write_value(std::uint64_t number, char* to) {
  store_le(to, remix(number));
  for (std::size_t at = 8; at < 50; at += 7) store_le(to + at, remix(number * 8 + at));
  std::memset(to + 50, 'v', kValueBytes - 50);
}
inline std::uint64_t value_mark(std::uint64_t number) { return remix(number); }

inline void append_binary_key(std::string& to, std::uint64_t i) {
  append_be(to, remix(i + 1));
  append_be(to, remix(~i));
}
inline void append_counter_key(std::string& to, std::uint64_t i) { to += fmt::format("{:016}", i * 3); }
/// Few hosts with many pages, as crawls have them; the shared part is 30 to 60 bytes long.
inline void append_url_key(std::string& to, std::uint64_t i) {
  const std::uint64_t dice = remix(i);
  const std::uint64_t host = fast_range(remix(dice), 1 + fast_range(dice, 3000));
  static constexpr std::array kShelves = {"articles/archive", "images/thumbnails", "products/electronics",
                                          "users/profile"};
  to += fmt::format("https://www.example-{:04}.com/{}/{:04}/item-{:09}.html", host, kShelves[dice & 3],
                    1990 + (dice >> 8) % 35, i);
}
/// Four bytes of group, sixteen that all keys share, eight of their own: what defeats short heads.
inline void append_grouped_key(std::string& to, std::uint64_t i, std::uint64_t group_size) {
  append_be(to, static_cast<std::uint32_t>(remix(i / group_size)));
  to += "sixteen-the-same";
  append_be(to, remix(i));
}

/// `shape` is one of key_set_names().
inline KeySet make_key_set(const std::string& shape, std::size_t count) {
  KeySet set{shape, {}, {}};
  std::vector<std::size_t> ends;
  ends.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (shape == "binary") append_binary_key(set.text, i);
    if (shape == "counter") append_counter_key(set.text, i);
    if (shape == "url") append_url_key(set.text, i);
    if (shape == "groups of 1500") append_grouped_key(set.text, i, 1500);
    if (shape == "groups of 10") append_grouped_key(set.text, i, 10);
    ends.push_back(set.text.size());
  }
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    set.keys.emplace_back(set.text.data() + begin, end - begin);
    begin = end;
  }
  std::ranges::sort(set.keys);
  return set;
}

inline std::vector<std::string> key_set_names() {
  return {"binary", "counter", "url", "groups of 1500", "groups of 10"};
}

inline std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t i = 0;
  while (i < most && a[i] == b[i]) ++i;
  return i;
}

}  // namespace tamis::layout
