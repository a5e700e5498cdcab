#include "store/command.h"

#include <fmt/core.h>

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

/// False when the option or its value is not one.
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
      why = fmt::format("{}: no such option, or not a value of it", word);
      return std::nullopt;
    }
  }
  for (const std::string& name : settings.only) {
    if (is_row_or_group(name)) continue;
    why = fmt::format("there is no workload '{}'; 'tamis-bench --help' lists them", name);
    return std::nullopt;
  }
  if (!settings.figures.empty() && settings.svg.empty()) {
    why = "--from: say with --svg where the charts go";
    return std::nullopt;
  }
  return settings;
}

std::string usage_text() {
  std::string text =
      "Usage: tamis-bench [WORKLOAD...] [OPTION...]\n\n"
      "Stores side by side: contestants alternate in one run; medians, spread, ratios, what was to be reached.\n\n"
      "  --only A,B       these workloads or groups; the same as naming them\n"
      "  --engine A,B     tamis, rocksdb, leveldb, lmdb, wiredtiger; all but the last unless told;\n"
      "                   tamis:NAME=VALUE is tamis with one option changed\n"
      "  --keys N         entries of the large store (--entries is the same); 5,000,000 unless told\n"
      "  --rounds N       5 unless told\n"
      "  --directory DIR  where stores are made and removed; here unless told\n"
      "  --json FILE      the figures; - is standard output, without the table\n"
      "  --svg PATH       charts: one file that ends with .svg, or a folder with one for each group\n"
      "  --from FILE      draws the figures that an earlier run wrote with --json, and measures nothing\n"
      "  --no-progress    no line on the terminal that tells how far it is\n"
      "  --growth         instead of the table: cost as a store grows and its runs become more\n\n"
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
