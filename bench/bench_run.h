// What every benchmark shares: the rounds of a cell, where and when it ran, numbers on the command line, the JSON file.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/instruction_set.h"

namespace tamis::bench {

/// Rounds of one cell.
struct Samples {
  std::vector<double> values;

  [[nodiscard]] double median() const {
    std::vector<double> sorted = values;
    std::ranges::sort(sorted);
    return sorted.empty() ? 0 : sorted[sorted.size() / 2];
  }
  [[nodiscard]] double low() const { return values.empty() ? 0 : *std::ranges::min_element(values); }
  [[nodiscard]] double high() const { return values.empty() ? 0 : *std::ranges::max_element(values); }
};

/// A whole number above 0, or nothing.
inline std::optional<std::uint64_t> parse_count(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0) return std::nullopt;
  return value;
}

/// The words between commas.
inline std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) words.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return words;
}

/// By name; a reader returns false for an invalid value.
using OptionReaders = std::map<std::string, std::function<bool(const std::string& value)>>;
/// Reads the option at `words[i]` and its value.
inline bool read_option(int i, int count, char** words, const OptionReaders& readers) {
  const auto reader = readers.find(words[i]);
  return reader != readers.end() && i + 1 < count && reader->second(words[i + 1]);
}
/// Reads "NAME VALUE" pairs and reports the first that is invalid.
inline bool read_options(int count, char** words, const OptionReaders& readers) {
  for (int i = 1; i < count; i += 2) {
    if (read_option(i, count, words, readers)) continue;
    fmt::print(stderr, "{}: {}: unknown option or invalid value; options:", words[0], words[i]);
    for (const auto& [name, read] : readers) fmt::print(stderr, " {}", name);
    fmt::print(stderr, "\n");
    return false;
  }
  return true;
}
inline auto into(std::string& text) {
  return [&text](const std::string& value) {
    text = value;
    return true;
  };
}
inline auto into(std::vector<std::string>& words) {
  return [&words](const std::string& value) {
    for (std::string& word : split(value)) words.push_back(std::move(word));
    return true;
  };
}
inline auto into(std::uint64_t& number) {
  return [&number](const std::string& value) {
    const std::optional<std::uint64_t> read = parse_count(value);
    number = read.value_or(0);
    return read.has_value();
  };
}

inline std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

inline nlohmann::json machine() {
  return {{"cores", std::thread::hardware_concurrency()},
          {"instruction_set", name_of(best_instruction_set())},
          {"compiler", __VERSION__}};
}

/// The exit status of the program: 0, or 3 when the file could not be written. No path: nothing to do.
inline int write_json(const nlohmann::json& json, const std::string& path) {
  if (path.empty()) return 0;
  std::ofstream out(path);
  out << json.dump(1) << '\n';
  out.close();
  if (out.good()) return 0;
  fmt::print(stderr, "{}: cannot be written\n", path);
  return 3;
}

}  // namespace tamis::bench
