#include "store/command.h"

#include <fmt/core.h>

namespace tamis::bench {
namespace {

bool is_row_or_group(const std::string& name) {
  return std::ranges::any_of(row_table(), [&](const RowInfo& row) { return name == row.name || name == row.group; });
}

}  // namespace

std::optional<Settings> read_command(int count, char** arguments, std::string& why) {
  Settings settings;
  const OptionReaders readers = {
      {"--keys", into(settings.entries)},        {"--entries", into(settings.entries)},
      {"--rounds", into(settings.rounds)},       {"--json", into(settings.json)},
      {"--directory", into(settings.directory)}, {"--svg", into(settings.svg)},
      {"--from", into(settings.figures)},        {"--only", into(settings.only)},
      {"--engine", into(settings.engines)},
  };
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--help" || word == "-h") return std::nullopt;
    if (word == "--growth") {
      settings.growth = true;
    } else if (word == "--no-progress") {
      settings.shows_progress = false;
    } else if (!word.starts_with("-")) {
      settings.only.push_back(word);
    } else if (!read_option(i++, count, arguments, readers)) {
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
