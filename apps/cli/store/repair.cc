// tamis repair: recovers a usable store from a damaged one.
#include <cstdint>
#include <string>

#include "cli/store/common.h"
#include "cli/verbs.h"
#include "show/progress.h"

namespace tamis::cli {
namespace {

JsonObject as_json(const RepairReport& report, const CommonOptions& options) {
  const auto doubt_json = [&](const RepairReport::Doubt& doubt) {
    return JsonObject()
        .add_bytes("from", doubt.from, options.hex)
        .add_bytes("to", doubt.to, options.hex)
        .add("why", doubt.why);
  };
  return JsonObject()
      .add("dry_run", report.is_dry_run)
      .add("manifest_lost", report.manifest_lost)
      .add("tables_kept", report.tables_kept)
      .add("tables_rewritten", report.tables_rewritten)
      .add("tables_left_out", report.tables_left_out)
      .add("entries", report.entries)
      .add("journal_entries", report.journal_entries)
      .add("bytes_looked_at", report.bytes_looked_at)
      .add_list("lost", report.lost, problem_json)
      .add_list("doubts", report.doubts, doubt_json);
}

/// Reading every byte takes most of the time; little is rewritten.
Result<RepairReport> repair(const std::string& directory, bool only_looks, const CommonOptions& options) {
  show::Progress progress("reading tables", 0, options.wants_progress(), show::Progress::Unit::kBytes);
  const auto show = [&](std::uint64_t done, std::uint64_t total) {
    progress.set(done, total);
    return true;
  };
  return DB::repair(directory, only_looks, {}, show);
}

}  // namespace

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
  standard_output().write(line.common().json ? as_json(*report, line.common()).line() : report->to_text());
  return kExitOk;
}

}  // namespace tamis::cli
