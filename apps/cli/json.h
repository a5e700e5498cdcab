// JSON output of the command: one object per line, fields in insertion order.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tamis::cli {

/// A value as JSON. Missing numbers, NaN and infinities become null.
std::string json_value(std::string_view text);
inline std::string json_value(const char* text) { return json_value(std::string_view(text)); }
inline std::string json_value(const std::string& text) { return json_value(std::string_view(text)); }
inline std::string json_value(bool value) { return value ? "true" : "false"; }
inline std::string json_value(std::nullptr_t) { return "null"; }
inline std::string json_value(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }
template <std::integral T>
std::string json_value(T value) {
  return fmt::format("{}", value);
}
template <typename T>
std::string json_value(const std::optional<T>& value) {
  return value ? json_value(*value) : json_value(nullptr);
}

/// An object under construction.
class JsonObject {
 public:
  template <typename T>
  JsonObject& add(std::string_view name, const T& value) {
    return add_text(name, json_value(value));
  }
  /// User bytes: as text if they are UTF-8, otherwise in hexadecimal under `name`_hex.
  JsonObject& add_bytes(std::string_view name, std::string_view bytes);
  JsonObject& add_object(std::string_view name, const JsonObject& object) { return add_text(name, object.text()); }
  JsonObject& add_list(std::string_view name, const std::vector<std::string>& json_values);
  [[nodiscard]] std::string text() const { return "{" + fields_ + "}"; }

 private:
  JsonObject& add_text(std::string_view name, std::string_view json);

  std::string fields_;
};

}  // namespace tamis::cli
