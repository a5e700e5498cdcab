// tamis scan, tamis count, tamis dump: entries in order.
#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/bytes_text.h"
#include "cli/numbers.h"
#include "cli/store/common.h"
#include "cli/store/entry_text.h"
#include "cli/store/merge.h"
#include "cli/verbs.h"
#include "show/progress.h"

namespace tamis::cli {
namespace {

/// Of this keyspace, or of all. Including overwritten and deleted ones: about what a scan shows.
std::uint64_t entries_in(const DB& db, std::optional<std::string_view> keyspace = {}) {
  std::uint64_t entries = 0;
  for (const KeyspaceInfo& info : db.keyspaces()) {
    if (!keyspace || info.name == *keyspace) entries += info.entries;
  }
  return entries;
}

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

/// TSV and CSV have no column for the keyspace.
void refuse_several_keyspaces(const DB& db, const std::string& directory) {
  const std::size_t keyspaces = db.keyspaces().size();
  if (keyspaces == 1) return;
  usage_error(
      fmt::format("{0}: the store has {1} keyspaces, and only JSON lines hold several; use --json, or dump one with "
                  "--keyspace NAME; 'tamis keyspaces {0}' lists them",
                  directory, keyspaces));
}

/// TSV and CSV have no column for the time.
[[noreturn]] void refuse_expiry(std::string_view key) {
  usage_error(fmt::format("the value of the key {} expires, and only JSON lines hold when; use --json", quoted(key)));
}

/// What dump writes, and how far it is.
struct Dump {
  EntryFormat format;
  const CommonOptions& options;
  show::Progress& progress;

  /// `name` is written with each entry; empty: it is not.
  void write(const Keyspace& keyspace, std::string_view name, const Snapshot& snapshot) const {
    Iterator entry = keyspace.scan({.snapshot = &snapshot, .fills_cache = false});
    for (; entry.valid(); entry.next()) {
      progress.count(1, "entries");
      progress.advance(1);
      if (format == EntryFormat::kTsv && !options.hex) check_line(entry.key(), entry.value());
      if (format != EntryFormat::kJsonLines && entry.expires_at()) refuse_expiry(entry.key());
      print_entry(entry.key(), entry.value(), format, options, name, entry.expires_at());
    }
    need(entry.status());
  }
};

}  // namespace

int run_scan(Arguments arguments) {
  StoreArguments store;
  RangeArguments range;
  FormatArguments formats;
  std::optional<std::uint64_t> limit;
  bool reverse = false;
  bool keys_only = false;
  bool are_numbers = false;
  CommandLine line({.summary = "Prints keys and values in order, separated by a tab, one entry per line; or as CSV or "
                               "JSON lines, which hold any bytes and which 'tamis load' reads.",
                    .usage = "DIR [--keyspace NAME] [--prefix P] [--from A] [--to B] [--limit N] [--reverse] "
                             "[--keys-only] [--number]",
                    .example = "  tamis scan cities --prefix p --limit 10\n"
                               "  tamis scan cities --from lyon --to paris --reverse\n"
                               "  tamis scan cities --prefix p --csv > some.csv",
                    .common = kJson | kHex});
  store.declare_with_keyspace(line);
  range.declare(line);
  line.option("--limit", "N", "print at most this many", limit, parse_count);
  line.flag("--reverse", "print in reverse order", reverse);
  line.flag("--keys-only", "omit the values", keys_only);
  line.flag("--number", "print values of eight bytes, as 'tamis merge' makes them, as numbers", are_numbers);
  formats.declare(line);
  if (!line.read(arguments)) return kExitOk;
  const CommonOptions& options = line.common();
  const EntryFormat format = formats.written(line);
  ScanOptions wanted = range.scan(line);
  wanted.reverse = reverse;

  DB db = store.open(StoreUse::kRead);
  const Keyspace keyspace = store.keyspace(db, StoreUse::kRead);
  const std::string merge_operator = are_numbers ? operator_of(db, store.keyspace_name) : std::string();
  print_entry_header(format, keys_only);
  Iterator entry = keyspace.scan(wanted);
  for (std::uint64_t printed = 0; entry.valid() && (!limit || printed < *limit); ++printed) {
    const std::string number = are_numbers && !keys_only ? number_text(entry.value(), merge_operator) : std::string();
    const std::string_view value = are_numbers ? std::string_view(number) : entry.value();
    print_entry(entry.key(), keys_only ? std::nullopt : std::optional(value), format, options, {}, entry.expires_at());
    entry.advance();
  }
  need(entry.status());
  return kExitOk;
}

int run_count(Arguments arguments) {
  StoreArguments store;
  RangeArguments range;
  CommandLine line(
      {.summary =
           "Counts the keys of a keyspace or of a range, exactly, by scanning them. 'tamis stats' shows the number "
           "of entries in the tables without a scan, including overwritten and deleted ones.",
       .usage = "DIR [--keyspace NAME] [--prefix P] [--from A] [--to B]",
       .example = "  tamis count cities\n"
                  "  tamis count cities --prefix p",
       .common = kJson | kHex | kQuiet | kNoProgress});
  store.declare_with_keyspace(line);
  range.declare(line);
  if (!line.read(arguments)) return kExitOk;
  const CommonOptions& options = line.common();
  const ScanOptions wanted = range.scan(line);
  const bool is_part = line.given("--prefix") || line.given("--from") || line.given("--to");

  DB db = store.open(StoreUse::kRead);
  const Keyspace keyspace = store.keyspace(db, StoreUse::kRead);
  std::uint64_t count = 0;
  {
    show::Progress progress("counting", is_part ? 0 : entries_in(db, keyspace.name()), options.wants_progress());
    Iterator entry = keyspace.scan(wanted);
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

int run_dump(Arguments arguments) {
  StoreArguments store;
  FormatArguments formats;
  CommandLine line(
      {.summary = "Prints every entry, as of one snapshot, in a format that 'tamis load' reads. CSV, JSON lines and "
                  "TSV with --hex hold any bytes; plain TSV does not, and dump stops with status 2 at bytes "
                  "that would break a line. JSON lines hold all keyspaces of a store, and when values expire; the "
                  "others hold one keyspace, of values that do not: name it if there are several. To copy options and "
                  "empty keyspaces too, use 'tamis checkpoint'.",
       .usage = "DIR [--keyspace NAME] [--format tsv|csv|jsonl]",
       .example = "  tamis dump cities --hex > cities.txt\n"
                  "  tamis dump cities --csv > cities.csv\n"
                  "  tamis dump --json cities | tamis load --json copy",
       .common = kJson | kHex | kQuiet | kNoProgress});
  store.declare_with_keyspace(line, "dump this keyspace; default: the only one, or all as JSON lines");
  formats.declare(line);
  if (!line.read(arguments)) return kExitOk;
  const CommonOptions& options = line.common();
  const EntryFormat format = formats.written(line);
  DB db = store.open(StoreUse::kRead);
  const bool writes_all = !line.given("--keyspace");
  if (writes_all && format != EntryFormat::kJsonLines) refuse_several_keyspaces(db, store.directory);
  const Keyspace keyspace = store.keyspace(db, StoreUse::kRead);
  print_entry_header(format, false);
  // If the entries go to the terminal, they show the progress.
  show::Progress progress("dumping", writes_all ? entries_in(db) : entries_in(db, keyspace.name()),
                          options.wants_progress() && !output_is_terminal());
  const Dump dump{format, options, progress};
  const Snapshot snapshot = db.snapshot();
  dump.write(keyspace, "", snapshot);
  for (const KeyspaceInfo& other : writes_all ? db.keyspaces() : std::vector<KeyspaceInfo>()) {
    if (other.id != keyspace.id()) dump.write(need(db.keyspace(other.name)), other.name, snapshot);
  }
  return kExitOk;
}

}  // namespace tamis::cli
