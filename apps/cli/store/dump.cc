// tamis dump: all entries, for 'tamis load' to read.
#include <fmt/core.h>

#include <string_view>

#include "cli/bytes_text.h"
#include "cli/store/common.h"
#include "cli/store/entry_format.h"
#include "cli/verbs.h"
#include "show/progress.h"

namespace tamis::cli {
namespace {

/// Refuses bytes that would not read back unchanged.
void check_line(std::string_view key, std::string_view value) {
  const bool key_breaks = key.find_first_of("\t\n") != std::string_view::npos;
  if (!key_breaks && value.find('\n') == std::string_view::npos) return;
  usage_error(
      fmt::format("the {} of the entry with key (in hexadecimal) {} contains a {}, which would break its line; "
                  "use --hex, --csv or --json",
                  key_breaks ? "key" : "value", to_hex(key),
                  key_breaks && key.find('\n') == std::string_view::npos ? "tab" : "line end"));
}

}  // namespace

int run_dump(Arguments arguments) {
  StoreArguments store;
  FormatArguments formats;
  CommandLine line(
      {.summary = "Prints every entry, as of one snapshot, in a format that 'tamis load' reads. CSV, JSON lines and "
                  "TSV with --hex hold any bytes; plain TSV does not, and dump stops with status 2 at bytes "
                  "that would break a line.",
       .usage = "DIR [--format tsv|csv|jsonl]",
       .example = "  tamis dump cities --hex > cities.txt\n"
                  "  tamis dump cities --csv > cities.csv\n"
                  "  tamis dump --json cities | tamis load --json copy",
       .common = kJson | kHex | kQuiet | kNoProgress});
  store.declare(line);
  formats.declare(line);
  if (!line.read(arguments)) return kExitOk;
  const CommonOptions& options = line.common();
  const EntryFormat format = formats.written(line);
  const DB db = store.open(StoreUse::kRead);
  print_entry_header(format, false);
  // If the entries go to the terminal, they show the progress.
  show::Progress progress("dumping", entries_in_tables(db), options.wants_progress() && !output_is_terminal());
  Iterator entry = db.scan({.fills_cache = false});
  for (; entry.valid(); entry.next()) {
    progress.count(1, "entries");
    progress.advance(1);
    if (format == EntryFormat::kTsv && !options.hex) check_line(entry.key(), entry.value());
    print_entry(entry.key(), entry.value(), format, options);
  }
  need(entry.status());
  return kExitOk;
}

}  // namespace tamis::cli
