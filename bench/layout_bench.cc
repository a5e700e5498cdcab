// Candidates for what the store writes to disk and keeps in memory, on bare data: data blocks, the sparse index, the
// two together, journal records, records that are synced, the memtable. The decisions are in docs/decisions/0007 to
// 0009 and 0026.
//
//     layout_bench [--section block|index|path|journal|sync|memtable] [--entries N] [--rounds N] [--only NAME]
//                  [--json FILE]
//
// Contestants alternate within each round, every answer is checked, a cell is the median over the rounds.
#include <fmt/core.h>

#include <cstdlib>

#include "bench_run.h"
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
constexpr SectionRow kSections[] = {{"block", bench_blocks},    {"index", bench_index}, {"path", bench_path},
                                    {"journal", bench_journal}, {"sync", bench_syncs},  {"memtable", bench_memtable}};

[[noreturn]] void usage(const std::string& why) {
  fmt::print(stderr,
             "layout_bench: {}\nusage: layout_bench [--section NAME] [--entries N] [--rounds N] [--only NAME] "
             "[--json FILE]\n",
             why);
  std::exit(2);
}

std::uint64_t number_of(const std::string& text) {
  const std::optional<std::uint64_t> value = bench::parse_count(text);
  if (!value) usage(fmt::format("'{}' is not a number above 0", text));
  return *value;
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

int run(const Options& options) {
  nlohmann::json all = {{"command", "layout_bench"},
                        {"date", bench::today()},
                        {"machine", bench::machine()},
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
  return bench::write_json(all, options.json);
}

}  // namespace
}  // namespace tamis::layout

int main(int argc, char** argv) { return tamis::layout::run(tamis::layout::parse(argc, argv)); }
