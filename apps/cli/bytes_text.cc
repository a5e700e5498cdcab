#include "cli/bytes_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "cli/error.h"

namespace tamis::cli {
namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool from_hex(std::string_view text, std::string& bytes) {
  bytes.clear();
  if (text.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit_value(text[i]);
    const int low = digit_value(text[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes += static_cast<char>(high << 4 | low);
  }
  return true;
}

std::string_view hint_on_hex(std::string_view text) {
  if (text.ends_with('\r')) return ": it ends with a carriage return; remove carriage returns with tr -d '\\r'";
  return text.size() % 2 == 0 ? ", which --hex expects" : ", which --hex expects: two digits per byte";
}

std::string bytes_of_word(std::string_view word, std::string_view what, const CommonOptions& options) {
  if (!options.hex) return std::string(word);
  std::string bytes;
  if (!from_hex(word, bytes)) usage_error(fmt::format("{} '{}' is not hexadecimal{}", what, word, hint_on_hex(word)));
  return bytes;
}

std::string shown(std::string_view bytes, const CommonOptions& options) {
  return options.hex ? to_hex(bytes) : std::string(bytes);
}

std::string quoted(std::string_view bytes) {
  constexpr std::size_t kShown = 40;
  const std::string_view dots = bytes.size() > kShown ? "..." : "";
  std::string_view part = bytes.substr(0, kShown);
  if (!is_printable(bytes)) return fmt::format("0x{}{}", to_hex(part), dots);
  while (!is_utf8(part)) part.remove_suffix(1);  // Do not cut a character.
  return fmt::format("'{}'{}", part, dots);
}

bool is_printable(std::string_view bytes) {
  const bool has_control =
      std::ranges::any_of(bytes, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return is_utf8(bytes) && !has_control;
}

}  // namespace tamis::cli
