#include "filter/formats/go_json_format.h"

#include <charconv>
#include <utility>

#include "base/try.h"

namespace tamis::foreign {
namespace {

/// A cursor over a JSON text.
///
/// Threads: one at a time.
class JsonText {
 public:
  JsonText(Bytes text, std::string_view name) : text_(as_text(text)), name_(name) {}

  /// The next character after white space; 0 at the end.
  char peek() {
    const std::size_t next = text_.find_first_not_of(" \t\r\n", at_);
    at_ = next == std::string_view::npos ? text_.size() : next;
    return at_ == text_.size() ? '\0' : text_[at_];
  }
  Status expect(char wanted) {
    if (peek() != wanted) return unexpected();
    ++at_;
    return {};
  }
  Status expect_end() { return peek() == '\0' && at_ == text_.size() ? Status() : unexpected(); }
  [[nodiscard]] Status unexpected() const {
    return Status::corruption(std::string(name_) + ": offset " + std::to_string(at_) + ": not the JSON of a filter");
  }

  Result<std::string> read_string() {
    TAMIS_TRY_STATUS(expect('"'));
    std::string value;
    while (at_ < text_.size()) {
      const char next = text_[at_++];
      if (next == '"') return value;
      if (static_cast<unsigned char>(next) < 0x20) return unexpected();
      if (next != '\\') {
        value += next;
      } else {
        TAMIS_TRY(const char escaped, read_escape());
        value += escaped;
      }
    }
    return unexpected();
  }

  Result<std::uint64_t> read_number() {
    std::uint64_t value = 0;
    const char first = peek();
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    const auto digits = static_cast<std::size_t>(end - (text_.data() + at_));
    if (error != std::errc() || (first == '0' && digits > 1)) return unexpected();
    at_ += digits;
    return value;
  }

 private:
  Result<char> read_escape() {
    if (at_ == text_.size()) return unexpected();
    const char next = text_[at_++];
    if (next == '"' || next == '\\' || next == '/') return next;
    if (next != 'u' || text_.size() - at_ < 4) return unexpected();
    unsigned code = 0;
    const char* const first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, first + 4, code, 16);
    if (error != std::errc() || end != first + 4 || code >= 0x80) return unexpected();
    at_ += 4;
    return static_cast<char>(code);
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
};

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

Result<std::string> read_go_json_string(Bytes text, std::string_view name) {
  JsonText json(text, name);
  TAMIS_TRY(std::string value, json.read_string());
  TAMIS_TRY_STATUS(json.expect_end());
  return value;
}

Result<std::map<std::string, GoJsonValue>> read_go_json_object(Bytes text, std::string_view name) {
  JsonText json(text, name);
  std::map<std::string, GoJsonValue> object;
  TAMIS_TRY_STATUS(json.expect('{'));
  while (json.peek() != '}') {
    if (!object.empty()) TAMIS_TRY_STATUS(json.expect(','));
    TAMIS_TRY(std::string key, json.read_string());
    TAMIS_TRY_STATUS(json.expect(':'));
    GoJsonValue value;
    if (json.peek() == '"') {
      TAMIS_TRY(value, json.read_string());
    } else {
      TAMIS_TRY(value, json.read_number());
    }
    if (!object.emplace(std::move(key), std::move(value)).second) return json.unexpected();
  }
  TAMIS_TRY_STATUS(json.expect('}'));
  TAMIS_TRY_STATUS(json.expect_end());
  return object;
}

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
