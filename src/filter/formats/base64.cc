#include "filter/formats/base64.h"

#include <cstdint>

namespace tamis::foreign {
namespace {

constexpr std::string_view kUrlAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The six bits of a character, or 64 if it is not one.
constexpr std::uint32_t sextet(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<std::uint32_t>(c - 'a') + 26;
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0') + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return 64;
}

}  // namespace

std::string base64url_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes.remove_prefix(bytes.size() < 3 ? bytes.size() : 3)) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text.push_back(i <= bytes.size() ? kUrlAlphabet[group >> (18 - 6 * i) & 63] : '=');
    }
  }
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const bool standard = text.find_first_of("+/") != std::string_view::npos;
  if (standard && text.find_first_of("-_") != std::string_view::npos) return std::nullopt;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);

  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t held = 0;  // Pending bits, in the low `held_bits` bits.
  std::uint32_t held_bits = 0;
  for (const char c : text) {
    const std::uint32_t bits = sextet(c);
    if (bits == 64) return std::nullopt;
    held = held << 6 | bits;
    held_bits += 6;
    if (held_bits < 8) continue;
    held_bits -= 8;
    bytes.push_back(static_cast<char>(held >> held_bits & 0xff));
    held &= (1U << held_bits) - 1;
  }
  if (held != 0 || held_bits == 6) return std::nullopt;
  return bytes;
}

}  // namespace tamis::foreign
