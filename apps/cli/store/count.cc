// tamis count: counts keys.
#include <cstdint>

#include "cli/store/common.h"
#include "cli/verbs.h"
#include "show/progress.h"

namespace tamis::cli {

int run_count(Arguments arguments) {
  StoreArguments store;
  RangeArguments range;
  CommandLine line(
      {.summary = "Counts the keys of a store or of a range, exactly, by scanning them. 'tamis stats' shows the number "
                  "of entries in the tables without a scan, including overwritten and deleted ones.",
       .usage = "DIR [--prefix P] [--from A] [--to B]",
       .example = "  tamis count cities\n"
                  "  tamis count cities --prefix p",
       .common = kJson | kHex | kQuiet | kNoProgress});
  store.declare(line);
  range.declare(line);
  if (!line.read(arguments)) return kExitOk;
  const CommonOptions& options = line.common();
  const ScanOptions wanted = range.scan(line);
  const bool is_part = line.given("--prefix") || line.given("--from") || line.given("--to");

  const DB db = store.open(StoreUse::kRead);
  std::uint64_t count = 0;
  {
    show::Progress progress("counting", is_part ? 0 : entries_in_tables(db), options.wants_progress());
    Iterator entry = db.scan(wanted);
    for (; entry.valid(); entry.next()) {
      ++count;
      progress.count(1, "keys");
      progress.advance(1);
    }
    need(entry.status());
  }
  standard_output().write(options.json ? JsonObject().add("count", count).line() : fmt::format("{}\n", count));
  return kExitOk;
}

}  // namespace tamis::cli
