// tamis scan: keys in order.
#include <cstdint>
#include <optional>

#include "cli/numbers.h"
#include "cli/store/common.h"
#include "cli/store/entry_format.h"
#include "cli/verbs.h"

namespace tamis::cli {

int run_scan(Arguments arguments) {
  StoreArguments store;
  RangeArguments range;
  FormatArguments formats;
  std::optional<std::uint64_t> limit;
  bool reverse = false;
  bool keys_only = false;
  CommandLine line({.summary = "Prints keys and values in order, separated by a tab, one entry per line; or as CSV or "
                               "JSON lines, which hold any bytes and which 'tamis load' reads.",
                    .usage = "DIR [--prefix P] [--from A] [--to B] [--limit N] [--reverse] [--keys-only]",
                    .example = "  tamis scan cities --prefix p --limit 10\n"
                               "  tamis scan cities --from lyon --to paris --reverse\n"
                               "  tamis scan cities --prefix p --csv > some.csv",
                    .common = kJson | kHex});
  store.declare(line);
  range.declare(line);
  line.option("--limit", "N", "print at most this many", limit, parse_count);
  line.flag("--reverse", "print in reverse order", reverse);
  line.flag("--keys-only", "omit the values", keys_only);
  formats.declare(line);
  if (!line.read(arguments)) return kExitOk;
  const CommonOptions& options = line.common();
  const EntryFormat format = formats.written(line);
  ScanOptions wanted = range.scan(line);
  wanted.reverse = reverse;

  const DB db = store.open(StoreUse::kRead);
  print_entry_header(format, keys_only);
  Iterator entry = db.scan(wanted);
  for (std::uint64_t printed = 0; entry.valid() && (!limit || printed < *limit); ++printed) {
    print_entry(entry.key(), keys_only ? std::nullopt : std::optional(entry.value()), format, options);
    entry.advance();
  }
  need(entry.status());
  return kExitOk;
}

}  // namespace tamis::cli
