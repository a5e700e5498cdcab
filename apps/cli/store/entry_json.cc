// JSON lines as written by dump --json: {"key": "paris", "value": "2102650"}, with key_hex and value_hex for bytes that
// are not UTF-8.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/bytes_text.h"
#include "cli/error.h"
#include "cli/store/entry_source.h"

namespace tamis::cli {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kExample = R"(each line is an object such as {"key": "paris", "value": "2102650"})";

class JsonEntries : public EntrySource {
 public:
  explicit JsonEntries(Lines& lines) : EntrySource(lines) {}

  std::optional<Entry> next() override {
    const std::optional<std::string_view> line = lines_.next();
    if (!line) return std::nullopt;
    const Json object = parse(*line);
    for (const auto& [name, value] : object.items()) check_member(name, value);
    return Entry{bytes_of(object, "key", key_), bytes_of(object, "value", value_)};
  }

 private:
  [[nodiscard]] Json parse(std::string_view line) const {
    try {
      // The parser treats NUL as the end of its input.
      const std::size_t nul = line.find('\0');
      if (nul != std::string_view::npos) refuse_at(nul + 1);
      Json object = Json::parse(line);
      if (!object.is_object()) usage_error(fmt::format("{} is not a JSON object; {}", place(), kExample));
      return object;
    } catch (const Json::parse_error& error) {
      refuse_at(error.byte);
    }
  }

  [[noreturn]] void refuse_at(std::size_t byte) const {
    usage_error(fmt::format("{} is not JSON, at byte {} of the line; {}", place(), byte, kExample));
  }

  /// Refuses unknown members, which would otherwise be lost. "found" comes from get and scan.
  void check_member(const std::string& name, const Json& value) const {
    if (name == "found" && value == true) return;
    if (name != "key" && name != "key_hex" && name != "value" && name != "value_hex") {
      usage_error(fmt::format("{}: unknown member '{}'; remove it or move it into the value", place(), name));
    }
    if (!value.is_string()) usage_error(fmt::format("{}: '{}' is not a string; put it in quotes", place(), name));
  }

  /// The value of `name` or `name`_hex.
  std::string_view bytes_of(const Json& object, const std::string& name, std::string& into) const {
    const auto text = object.find(name);
    const auto hex = object.find(name + "_hex");
    if ((text == object.end()) == (hex == object.end())) {
      usage_error(fmt::format("{0} has {1} '{2}' {3} '{2}_hex'; {4}", place(),
                              text == object.end() ? "neither" : "both", name, text == object.end() ? "nor" : "and",
                              kExample));
    }
    if (text != object.end()) {
      into = text->get_ref<const std::string&>();
    } else if (!from_hex(hex->get_ref<const std::string&>(), into)) {
      usage_error(fmt::format("{}: '{}_hex' is not hexadecimal, two digits per byte", place(), name));
    }
    return into;
  }

  std::string key_;
  std::string value_;
};

}  // namespace

std::unique_ptr<EntrySource> json_entries(Lines& lines) { return std::make_unique<JsonEntries>(lines); }

}  // namespace tamis::cli
