// JSON objects, fields in insertion order: the reports of the library and the output of the command.
#pragma once

#include <fmt/ranges.h>

#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tamis {

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
template <typename T>
std::string json_value(const std::vector<T>& list) {
  std::vector<std::string> values;
  values.reserve(list.size());
  for (const T& value : list) values.push_back(json_value(value));
  return fmt::format("[{}]", fmt::join(values, ", "));
}

/// An object under construction.
class JsonObject {
 public:
  template <typename T>
  JsonObject& add(std::string_view name, const T& value) {
    fields_ += fmt::format("{}{}: {}", fields_.empty() ? "" : ", ", json_value(name), json_value(value));
    return *this;
  }
  /// User bytes: as text if they are UTF-8 and `in_hex` is false, otherwise in hexadecimal under `name`_hex.
  JsonObject& add_bytes(std::string_view name, std::string_view bytes, bool in_hex = false);
  /// A list with an object per item.
  template <typename List, typename AsJson>
  JsonObject& add_list(std::string_view name, const List& items, const AsJson& as_json) {
    std::vector<JsonObject> objects;
    objects.reserve(items.size());
    for (const auto& item : items) objects.push_back(as_json(item));
    return add(name, objects);
  }
  /// The fields of another object, given as text.
  JsonObject& add_fields(std::string_view object);
  [[nodiscard]] std::string text() const { return "{" + fields_ + "}"; }
  /// With the line end.
  [[nodiscard]] std::string line() const { return text() + "\n"; }

 private:
  std::string fields_;
};

inline std::string json_value(const JsonObject& object) { return object.text(); }

}  // namespace tamis
