// For the tests of filter/formats: the golden files of other systems, under tests/golden/foreign.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "io/file.h"
#include "support/source_file.h"
#include "tamis/foreign.h"

namespace tamis::foreign {

inline std::string golden_path(std::string_view relative) {
  return source_file("tests/golden/foreign/").append(relative);
}

/// Ends the test program if the file does not exist.
inline std::string golden_bytes(std::string_view relative) {
  const Result<MappedFile> file = MappedFile::open(golden_path(relative));
  return std::string(as_text(file->bytes()));
}

inline nlohmann::json golden_json(std::string_view relative) {
  return nlohmann::json::parse(golden_bytes(relative), nullptr, false);
}

inline std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

inline std::vector<std::string> golden_lines(std::string_view relative) {
  const std::string text = golden_bytes(relative);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// One key per line, in hexadecimal.
inline std::vector<std::string> golden_keys(std::string_view relative) {
  std::vector<std::string> keys = golden_lines(relative);
  for (std::string& key : keys) key = from_hex(key);
  return keys;
}

/// The entries of a section of index.json.
inline const nlohmann::json& golden_index(const char* section) {
  static const nlohmann::json index = golden_json("index.json");
  return index[section];
}

/// What a reader needs besides the file.
inline OpenOptions golden_open_options(const nlohmann::json& entry) {
  OpenOptions options = {.format = entry["format"]};
  const nlohmann::json params = entry.value("params", nlohmann::json::object());
  if (options.format == "pychapter") options.bits = params["m"];
  if (options.format == "pychapter" || options.format.starts_with("go-article")) options.hashes = params["k"];
  if (options.format == "parquet") {
    options.column = params["column"];
    options.row_group = params["row_group"];
  }
  return options;
}

}  // namespace tamis::foreign
