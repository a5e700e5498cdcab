// tamis verify, tamis repair: check every byte of a store; recover a usable store from a damaged one.
#include <fmt/core.h>

#include <cstdint>
#include <string>

#include "cli/numbers.h"
#include "cli/store/common.h"
#include "cli/verbs.h"
#include "show/progress.h"

namespace tamis::cli {
namespace {

/// Shows what the store reports of its progress.
auto shown_by(show::Progress& progress) {
  return [&progress](std::uint64_t done, std::uint64_t total) {
    progress.set(done, total);
    return true;
  };
}

/// For a store too damaged to open, that error is the only problem.
VerifyReport verify(const StoreArguments& store, const CommonOptions& options) {
  show::Progress progress("verifying", 0, options.wants_progress(), show::Progress::Unit::kBytes);
  try {
    return need(store.open(StoreUse::kRead).verify(shown_by(progress)));
  } catch (const CommandError& error) {
    if (error.exit_status() != kExitCorruption) throw;
    VerifyReport report;
    report.problems.push_back({.file = store.directory, .offset = 0, .what = error.what()});
    return report;
  }
}

std::string count_of(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", with_thousands(count), count == 1 ? one : many);
}

void print_text(const VerifyReport& report, const CommonOptions& options) {
  Output& out = standard_output();
  for (const Problem& problem : report.problems) {
    // The library's message about a file begins with its path and includes the offset.
    const bool says_where = problem.what.substr(0, problem.what.find(':')).ends_with(problem.file);
    out.print("{}\n",
              says_where ? problem.what : fmt::format("{} at {}: {}", problem.file, problem.offset, problem.what));
  }
  if (options.quiet) return;
  const std::string what = report.ok() ? "ok"
                                       : fmt::format("{}; run 'tamis repair' to recover what is left",
                                                     count_of(report.problems.size(), "problem", "problems"));
  out.print("{}: {}, {}, {} read", what, count_of(report.files, "table", "tables"), human_bytes(report.bytes),
            count_of(report.entries, "entry", "entries"));
  if (report.journal_entries > 0) {
    out.print("; {} in the journal, {}", count_of(report.journal_entries, "entry", "entries"),
              human_bytes(report.journal_bytes));
  }
  out.write("\n");
}

/// Reading every byte takes most of the time; little is rewritten.
Result<RepairReport> repair(const std::string& directory, bool only_looks, const CommonOptions& options) {
  show::Progress progress("reading tables", 0, options.wants_progress(), show::Progress::Unit::kBytes);
  return DB::repair(directory, only_looks, {}, shown_by(progress));
}

}  // namespace

int run_verify(Arguments arguments) {
  StoreArguments store;
  CommandLine line({.summary =
                        "Reads every byte of a store: checks checksums, key order, and that no filter denies a key of "
                        "its table. Lists all problems and exits with status 1 if there are any.",
                    .usage = "DIR",
                    .example = "  tamis verify cities",
                    .common = kJson | kQuiet | kNoProgress});
  store.declare(line);
  if (!line.read(arguments)) return kExitOk;
  const VerifyReport report = verify(store, line.common());
  if (line.common().json) {
    standard_output().write(report.to_json() + "\n");
  } else {
    print_text(report, line.common());
  }
  return report.ok() ? kExitOk : kExitNo;
}

int run_repair(Arguments arguments) {
  StoreArguments store;
  bool dry_run = false;
  CommandLine line({.summary =
                        "Makes a damaged store usable: builds a new manifest from the readable tables and journals. "
                        "Lists exactly what was lost, and where deleted keys may have returned. Removes nothing.",
                    .usage = "DIR [--dry-run]",
                    .example = "  tamis repair cities --dry-run",
                    .common = kJson | kHex | kQuiet | kNoProgress});
  store.declare_folder(line);
  line.flag("--dry-run", "show what would be done; change nothing", dry_run);
  if (!line.read(arguments)) return kExitOk;
  const bool only_looks = dry_run || store.options(StoreUse::kWrite).read_only;
  store.need_folder(false);
  const Result<RepairReport> report = repair(store.directory, only_looks, line.common());
  if (!report.ok()) throw error_of_opening(report.status());
  standard_output().write(line.common().json ? report->to_json(line.common().hex) + "\n" : report->to_text());
  return kExitOk;
}

}  // namespace tamis::cli
