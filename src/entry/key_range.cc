#include "entry/key_range.h"

#include <algorithm>

namespace tamis {

KeyRange KeyRange::of_prefix(std::string_view prefix) {
  KeyRange range{.from = std::string(prefix)};
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return range;  // Nothing stands behind "\xff\xff…" but what begins with it.
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  range.to = std::move(end);
  return range;
}

KeyRange KeyRange::intersection(const KeyRange& other) const {
  KeyRange both{.from = std::max(from, other.from), .to = to};
  if (!both.to || (other.to && *other.to < *both.to)) both.to = other.to;
  return both;
}

}  // namespace tamis
