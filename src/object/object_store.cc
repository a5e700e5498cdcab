#include "object/object_store.h"

#include <algorithm>

#include "text/byte_text.h"

namespace tamis {

std::string_view to_string(ObjectAnswer answer) {
  switch (answer) {
    case ObjectAnswer::kDone: return "done";
    case ObjectAnswer::kRefused: return "refused";
    case ObjectAnswer::kAbsent: return "absent";
    case ObjectAnswer::kUnknown: return "unknown";
  }
  return "?";
}

bool is_object_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxObjectName || !is_utf8(name)) return false;
  if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) return false;
  while (true) {
    const std::string_view part = name.substr(0, name.find('/'));
    if (part.empty() || part == "." || part == "..") return false;
    if (part.size() == name.size()) return true;
    name.remove_prefix(part.size() + 1);
  }
}

}  // namespace tamis
