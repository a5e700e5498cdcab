#include "text/json.h"

#include "text/byte_text.h"

namespace tamis {

std::string json_value(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': quoted += "\\\""; break;
      case '\\': quoted += "\\\\"; break;
      case '\n': quoted += "\\n"; break;
      case '\r': quoted += "\\r"; break;
      case '\t': quoted += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          quoted += c;
        }
    }
  }
  return quoted + "\"";
}

JsonObject& JsonObject::add_bytes(std::string_view name, std::string_view bytes, bool in_hex) {
  if (!in_hex && is_utf8(bytes)) return add(name, bytes);
  return add(fmt::format("{}_hex", name), to_hex(bytes));
}

JsonObject& JsonObject::add_fields(std::string_view object) {
  const std::string_view fields = object.substr(1, object.size() - 2);  // Without the braces.
  fields_ += fmt::format("{}{}", fields_.empty() || fields.empty() ? "" : ", ", fields);
  return *this;
}

}  // namespace tamis
