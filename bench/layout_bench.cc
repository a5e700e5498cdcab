// Candidates for what the store writes to disk and keeps in memory, on bare data: data blocks, the sparse index, the
// two together, journal records, the memtable. The decisions are in docs/decisions/0007 to 0009.
//
//     layout_bench [--section block|index|path|journal|memtable] [--entries N] [--rounds N] [--only NAME] [--json FILE]
//
// Contestants alternate within each round, every answer is checked, a cell is the median over the rounds.
#include <fmt/core.h>

#include <hwy/targets.h>

#include <charconv>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include "layout/samples.h"

namespace tamis::layout {
namespace {

struct Options {
  Settings settings;
  std::string section;
  std::string json;
};

struct SectionRow {
  const char* name;
  Report (*run)(const Settings&);
};
constexpr SectionRow kSections[] = {{"block", bench_blocks},
                                    {"index", bench_index},
                                    {"path", bench_path},
                                    {"journal", bench_journal},
                                    {"memtable", bench_memtable}};

[[noreturn]] void usage(const std::string& why) {
  fmt::print(stderr,
             "layout_bench: {}\nusage: layout_bench [--section NAME] [--entries N] [--rounds N] [--only NAME] "
             "[--json FILE]\n",
             why);
  std::exit(2);
}

std::uint64_t number_of(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0)
    usage(fmt::format("'{}' is not a number above 0", text));
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (i + 1 == argc) usage(fmt::format("'{}' needs a value", name));
    const std::string value = argv[++i];
    if (name == "--section") {
      options.section = value;
    } else if (name == "--entries") {
      options.settings.entries = number_of(value);
    } else if (name == "--rounds") {
      options.settings.rounds = static_cast<int>(number_of(value));
    } else if (name == "--only") {
      options.settings.only = value;
    } else if (name == "--json") {
      options.json = value;
    } else {
      usage(fmt::format("unknown option '{}'", name));
    }
  }
  return options;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

nlohmann::json machine() {
  std::string best = "none";
  if (const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets(); !targets.empty()) {
    best = hwy::TargetName(targets.front());
  }
  return {{"cores", std::thread::hardware_concurrency()}, {"instruction_set", best}, {"compiler", __VERSION__}};
}

int run(const Options& options) {
  nlohmann::json all = {{"command", "layout_bench"},
                        {"date", today()},
                        {"machine", machine()},
                        {"entries", options.settings.entries},
                        {"rounds", options.settings.rounds}};
  std::uint64_t checksum = 0;
  bool any = false;
  for (const SectionRow& section : kSections) {
    if (!options.section.empty() && options.section != section.name) continue;
    any = true;
    const Report report = section.run(options.settings);
    checksum += report.checksum;
    for (const Table& table : report.tables) all["sections"][section.name].push_back(table.json());
  }
  if (!any) usage(fmt::format("no section '{}'", options.section));
  fmt::print("\nchecksum of the work: {:016x}\n", checksum);
  if (options.json.empty()) return 0;
  std::ofstream out(options.json);
  out << all.dump(1) << '\n';
  return out.good() ? 0 : 3;
}

}  // namespace
}  // namespace tamis::layout

int main(int argc, char** argv) { return tamis::layout::run(tamis::layout::parse(argc, argv)); }
