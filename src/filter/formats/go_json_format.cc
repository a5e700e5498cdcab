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

}  // namespace tamis::foreign
