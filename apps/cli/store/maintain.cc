// tamis flush, tamis compact, tamis checkpoint: work that a store otherwise schedules itself.
#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/command_line.h"
#include "cli/error.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/store/common.h"
#include "cli/store/written_tables.h"
#include "cli/verbs.h"
#include "tamis/db.h"

namespace tamis::cli {
namespace {

/// Totals of all tables.
struct Shape {
  std::uint64_t tables = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;

  [[nodiscard]] std::string text() const {
    return fmt::format("{} {}, {} {}, {}", with_thousands(tables), tables == 1 ? "table" : "tables",
                       with_thousands(entries), entries == 1 ? "entry" : "entries", human_bytes(bytes));
  }
};

Shape shape_of(const DB& db) {
  Shape shape;
  for (const Stats::Level& level : db.stats().levels) {
    shape.tables += level.tables;
    shape.bytes += level.bytes;
    shape.entries += level.entries;
  }
  return shape;
}

/// "3 tables, 1,000 entries, 1.23 MiB (before: …)", or the same as JSON.
void report(const Shape& before, const Shape& after, double seconds, const CommonOptions& options) {
  if (options.json) {
    standard_output().print("{}\n", JsonObject()
                                        .add("tables", after.tables)
                                        .add("entries", after.entries)
                                        .add("bytes", after.bytes)
                                        .add("tables_before", before.tables)
                                        .add("bytes_before", before.bytes)
                                        .add("seconds", seconds)
                                        .text());
  } else if (!options.quiet) {
    standard_output().print("before: {}\nnow:    {}\n", before.text(), after.text());
  }
}

/// Does the work and reports the tables before and after.
template <typename Work>
int do_and_report(DB& db, const CommonOptions& options, const Work& work) {
  const Shape before = shape_of(db);
  const auto begun = std::chrono::steady_clock::now();
  need(work());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  report(before, shape_of(db), seconds, options);
  need(db.close());
  return kExitOk;
}

}  // namespace

int run_flush(Arguments arguments) {
  StoreArguments store;
  CommandLine line({.name = "flush",
                    .summary = "Writes the entries that are only in the journal to tables.",
                    .usage = "DIR",
                    .example = "  tamis flush cities",
                    .common = kJson | kQuiet});
  store.declare(line);
  if (!line.read(arguments)) return kExitOk;
  DB db = store.open(StoreUse::kWrite);
  return do_and_report(db, line.common(), [&] { return db.flush(); });
}

int run_compact(Arguments arguments) {
  StoreArguments store;
  std::string from;
  std::string to;
  CommandLine line({.name = "compact",
                    .summary = "Rewrites all keys, or those of a range, into the last level, dropping overwritten and "
                               "deleted entries. Ctrl-C loses nothing.",
                    .usage = "DIR [--from A] [--to B]",
                    .example = "  tamis compact cities\n"
                               "  tamis compact cities --from a --to n",
                    .common = kJson | kHex | kQuiet | kNoProgress});
  store.declare(line);
  line.option("--from", "A", "keys from this one (inclusive)", from);
  line.option("--to", "B", "keys up to this one (exclusive)", to);
  if (!line.read(arguments)) return kExitOk;
  from = bytes_of_word(from, "--from:", line.common());
  to = bytes_of_word(to, "--to:", line.common());
  Range range = {.from = from};
  if (line.given("--to")) range.to = to;

  DB db = store.open(StoreUse::kWrite);
  return do_and_report(db, line.common(), [&] {
    const WrittenTables progress(store.directory, shape_of(db).bytes, line.common());
    return db.compact(range);
  });
}

int run_checkpoint(Arguments arguments) {
  StoreArguments store;
  std::string to;
  CommandLine line({.name = "checkpoint",
                    .summary = "Copies the store as of now to a new folder, as an independent store. Tables are "
                               "hard-linked, not copied, if the file system supports it.",
                    .usage = "DIR TO",
                    .example = "  tamis checkpoint cities cities-monday",
                    .common = kJson | kQuiet});
  store.declare(line);
  line.operand("TO", "the folder to create; it must not exist", to);
  if (!line.read(arguments)) return kExitOk;
  DB db = store.open(StoreUse::kWrite);
  {
    const DelayInterrupt until_whole;
    need(db.checkpoint(to));
  }
  const Shape shape = shape_of(db);
  need(db.close());
  if (line.common().json) {
    standard_output().print("{}\n", JsonObject()
                                        .add("path", to)
                                        .add("tables", shape.tables)
                                        .add("entries", shape.entries)
                                        .add("bytes", shape.bytes)
                                        .text());
  } else if (!line.common().quiet) {
    standard_output().print("{}: {}\n", to, shape.text());
  }
  return kExitOk;
}

}  // namespace tamis::cli
