#include "store/command.h"

#include <fmt/core.h>

#include <set>

namespace tamis::bench {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) words.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return words;
}

bool is_row_or_group(const std::string& name) {
  for (const RowInfo& row : row_table()) {
    if (name == row.name || name == row.group) return true;
  }
  return false;
}

/// False if the option or its value is invalid.
bool take(const std::string& option, const std::string& value, Settings& settings) {
  const std::optional<std::uint64_t> number = parse_count(value);
  if ((option == "--keys" || option == "--entries") && number) {
    settings.entries = *number;
  } else if (option == "--rounds" && number) {
    settings.rounds = *number;
  } else if (option == "--directory") {
    settings.directory = value;
  } else if (option == "--json") {
    settings.json = value;
  } else if (option == "--svg") {
    settings.svg = value;
  } else if (option == "--from") {
    settings.figures = value;
  } else if (option == "--only") {
    for (std::string& name : split(value)) settings.only.push_back(std::move(name));
  } else if (option == "--engine") {
    for (std::string& name : split(value)) settings.engines.push_back(std::move(name));
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::optional<Settings> read_command(int count, char** arguments, std::string& why) {
  Settings settings;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--help" || word == "-h") return std::nullopt;
    if (word == "--growth") {
      settings.growth = true;
    } else if (word == "--no-progress") {
      settings.shows_progress = false;
    } else if (!word.starts_with("-")) {
      settings.only.push_back(word);
    } else if (i + 1 == count || !take(word, arguments[++i], settings)) {
      why = fmt::format("{}: unknown option or invalid value", word);
      return std::nullopt;
    }
  }
  for (const std::string& name : settings.only) {
    if (is_row_or_group(name)) continue;
    why = fmt::format("unknown workload '{}'; 'tamis-bench --help' lists them", name);
    return std::nullopt;
  }
  if (!settings.figures.empty() && settings.svg.empty()) {
    why = "--from: name the charts' destination with --svg";
    return std::nullopt;
  }
  return settings;
}

std::string usage_text() {
  std::string text =
      "Usage: tamis-bench [WORKLOAD...] [OPTION...]\n\n"
      "Measures stores side by side, alternating in one run: medians, spread, ratios, targets.\n\n"
      "  --only A,B       these workloads or groups; same as naming them\n"
      "  --engine A,B     tamis, rocksdb, leveldb, lmdb, wiredtiger; default: all but the last;\n"
      "                   tamis:NAME=VALUE is tamis with one option changed\n"
      "  --keys N         entries in the large store (also --entries); default: 5,000,000\n"
      "  --rounds N       rounds to run; default: 5\n"
      "  --directory DIR  where stores are created and removed; default: the current folder\n"
      "  --json FILE      write the figures; - is standard output, without the table\n"
      "  --svg PATH       write charts: one .svg file, or a folder with one per group\n"
      "  --from FILE      draw the figures of an earlier run's --json; measure nothing\n"
      "  --no-progress    no progress line on the terminal\n"
      "  --growth         instead of the table: cost as a store and its runs grow\n\n"
      "Workloads, by group:\n";
  std::string_view group;
  for (const RowInfo& row : row_table()) {
    if (row.group != group) text += fmt::format("{}{}:\n", "  ", row.group);
    group = row.group;
    text += fmt::format("    {:24} {} ({})\n", row.name, row.title, row.unit);
  }
  return text;
}

}  // namespace tamis::bench
