#include "entry/key_range.h"

namespace tamis {

KeyRange KeyRange::of_prefix(std::string_view prefix) {
  KeyRange range{.from = std::string(prefix)};
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return range;  // Nothing follows "\xff\xff…" but keys that begin with it.
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  range.to = std::move(end);
  return range;
}

void KeyRange::narrow(std::optional<std::string_view> other_from, std::optional<std::string_view> other_to) {
  if (other_from && *other_from > from) from = *other_from;
  if (other_to && !ends_before(*other_to)) to = *other_to;
}

}  // namespace tamis
