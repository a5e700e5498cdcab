#include "cli/filter/key_lines.h"

#include <fmt/core.h>

#include "cli/bytes_text.h"
#include "cli/error.h"

namespace tamis::cli {

KeyLines::KeyLines(const std::string& path, const CommonOptions& options)
    : is_hex_(options.hex), lines_(path, "reading keys", options) {
  lines_.warn_of_carriage_return("which is part of the key; if unintended, remove carriage returns with tr -d '\\r'");
}

std::optional<std::string_view> KeyLines::next() {
  const std::optional<std::string_view> line = lines_.next();
  if (!line || !is_hex_) return line;
  if (from_hex(*line, decoded_)) return decoded_;
  usage_error(fmt::format("{} is not hexadecimal{}", lines_.place(), hint_on_hex(*line)));
}

std::vector<std::string> read_keys(const std::string& path, const CommonOptions& options) {
  std::vector<std::string> keys;
  KeyLines lines(path, options);
  while (const auto key = lines.next()) keys.emplace_back(*key);
  return keys;
}

std::string key_of_operand(const std::string& operand, const CommonOptions& options) {
  if (!options.hex) return operand;
  std::string key;
  if (!from_hex(operand, key))
    usage_error(fmt::format("the key '{}' is not hexadecimal{}", operand, hint_on_hex(operand)));
  return key;
}

}  // namespace tamis::cli
