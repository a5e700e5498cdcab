#include "entry/entry_kind.h"

#include <fmt/core.h>

#include <array>
#include <string_view>

namespace tamis {
namespace {

constexpr unsigned kKindMask = 7;
constexpr unsigned kExpires = 8;
constexpr unsigned kIsApart = 16;
constexpr std::array<std::string_view, kKindMask + 1> kNames = {"", "a put", "a delete", "a merge operand",
                                                                "a range delete"};

/// Empty if nothing is known of the kind.
std::string name_of(unsigned number) {
  const std::string_view kind = kNames[number & kKindMask];
  if (kind.empty() || (number & ~(kKindMask | kExpires | kIsApart)) != 0) return {};
  std::string name(kind);
  if ((number & kExpires) != 0) name += " that expires";
  if ((number & kIsApart) != 0) name += (number & kExpires) != 0 ? " and has its value apart" : " with its value apart";
  return name;
}

}  // namespace

std::string unknown_kind_text(std::uint8_t number) {
  const std::string name = name_of(number);
  if (name.empty()) return fmt::format("entry kind {}, which this build does not know; use a newer tamis", number);
  return fmt::format("entry kind {}: {}, which this build does not know; use a newer tamis", number, name);
}

}  // namespace tamis
