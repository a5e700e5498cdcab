#include <fmt/core.h>

#include <charconv>

#include "tamis/filter.h"

namespace tamis {
namespace {

Status bad_rule(std::string_view text) {
  return Status::invalid_argument(
      fmt::format("prefix rule '{}': expected none, first:N with N from 1 to 65535, or until:C with C one character or "
                  "0xHH",
                  text));
}

/// Parses all of `text` in this base.
bool parse_number(std::string_view text, int base, unsigned& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<PrefixRule> PrefixRule::parse(std::string_view text) {
  if (text == "none") return PrefixRule{};
  unsigned value = 0;
  if (text.starts_with("first:")) {
    if (!parse_number(text.substr(6), 10, value) || value == 0 || value > 65535) return bad_rule(text);
    return PrefixRule{Kind::kFirst, static_cast<std::uint16_t>(value)};
  }
  if (!text.starts_with("until:")) return bad_rule(text);
  const std::string_view end = text.substr(6);
  if (end.size() == 1) return PrefixRule{Kind::kUntil, static_cast<unsigned char>(end[0])};
  if (end.size() != 4 || !end.starts_with("0x") || !parse_number(end.substr(2), 16, value)) return bad_rule(text);
  return PrefixRule{Kind::kUntil, static_cast<std::uint16_t>(value)};
}

std::string PrefixRule::to_text() const {
  switch (kind) {
    case Kind::kNone: return "none";
    case Kind::kFirst: return fmt::format("first:{}", argument);
    case Kind::kUntil: break;
  }
  if (argument > 0x20 && argument < 0x7f) return fmt::format("until:{}", static_cast<char>(argument));
  return fmt::format("until:0x{:02x}", argument);
}

std::string_view PrefixRule::prefix_of(std::string_view key) const {
  if (kind == Kind::kFirst) return key.substr(0, argument);
  if (kind == Kind::kUntil) {
    const std::size_t end = key.find(static_cast<char>(argument));
    if (end != std::string_view::npos) return key.substr(0, end + 1);
  }
  return key;
}

bool PrefixRule::decides(std::string_view scan_prefix) const {
  if (kind == Kind::kFirst) return scan_prefix.size() >= argument;
  if (kind == Kind::kUntil) return scan_prefix.find(static_cast<char>(argument)) != std::string_view::npos;
  return false;
}

}  // namespace tamis
