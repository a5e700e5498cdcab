// tamis bench: runs tamis-bench, the only program that links other stores.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/numbers.h"
#include "cli/start_program.h"
#include "cli/verbs.h"

namespace tamis::cli {
namespace {

constexpr std::string_view kWhereItIs =
    "the benchmark is a separate program that links other stores and comes only with the sources; './scripts/build' "
    "builds it there, beside the command";

}  // namespace

int run_bench(Arguments arguments) {
  std::vector<std::string> workloads;
  std::string engines;
  std::optional<std::uint64_t> entries;
  std::optional<std::uint64_t> rounds;
  std::string svg;
  std::string directory;
  bool growth = false;
  CommandLine line({.summary = "Measures stores side by side in one run: medians, spread, ratios. Creates stores in "
                               "the current folder and removes them. 'tamis-bench --help' lists the workloads.",
                    .usage = "[WORKLOAD...] [--engine A,B] [--entries N] [--svg PATH]",
                    .example = "  tamis bench hit absent --entries 100000\n"
                               "  tamis bench fills --engine tamis,rocksdb --json",
                    .common = kJson | kQuiet | kNoProgress});
  line.operands("WORKLOAD", "rows or groups of rows; default: all", workloads);
  line.option("--engine", "A,B", "tamis, rocksdb, leveldb, lmdb, wiredtiger; default: all but the last", engines);
  line.option("--entries", "N", "entries in the large store; default: 5,000,000", entries, parse_count);
  line.option("--rounds", "N", "rounds to run; default: 5", rounds, parse_count);
  line.option("--svg", "PATH", "write charts: one .svg file, or a folder for one per group", svg);
  line.option("--directory", "DIR", "where to create the stores", directory);
  line.flag("--growth", "instead, measure operations as a store and its runs grow", growth);
  if (!line.read(arguments)) return kExitOk;

  std::vector<std::string> words = std::move(workloads);
  const auto pass_on = [&words](const char* option, std::string value) {
    words.emplace_back(option);
    words.push_back(std::move(value));
  };
  if (line.given("--engine")) pass_on("--engine", engines);
  if (entries) pass_on("--entries", std::to_string(*entries));
  if (rounds) pass_on("--rounds", std::to_string(*rounds));
  if (line.given("--svg")) pass_on("--svg", svg);
  if (line.given("--directory")) pass_on("--directory", directory);
  if (line.common().json) pass_on("--json", "-");
  if (growth) words.emplace_back("--growth");
  if (!line.common().wants_progress()) words.emplace_back("--no-progress");
  become("tamis-bench", std::move(words), kWhereItIs);
}

}  // namespace tamis::cli
