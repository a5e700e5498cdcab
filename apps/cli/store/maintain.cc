// tamis flush, tamis compact, tamis checkpoint: work that a store otherwise schedules itself.
#include <fmt/core.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/interrupt.h"
#include "cli/numbers.h"
#include "cli/store/common.h"
#include "cli/verbs.h"
#include "show/progress.h"

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
  [[nodiscard]] JsonObject add_to(JsonObject object) const {
    return object.add("tables", tables).add("entries", entries).add("bytes", bytes);
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
    standard_output().write(after.add_to(JsonObject())
                                .add("tables_before", before.tables)
                                .add("bytes_before", before.bytes)
                                .add("seconds", seconds)
                                .line());
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

/// Sizes of the tables in a folder. Tables that vanish meanwhile are skipped.
std::map<std::string, std::uint64_t> tables_in(const std::string& directory) {
  std::map<std::string, std::uint64_t> tables;
  std::error_code error;
  std::filesystem::directory_iterator at(directory, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    if (at->path().extension() != ".tms") continue;
    std::error_code gone;
    const std::uintmax_t bytes = at->file_size(gone);
    if (!gone) tables[at->path().filename().string()] = bytes;
  }
  return tables;
}

/// Shows a compaction's progress during its lifetime, by the bytes of new tables in the store's folder. The store
/// reports only between steps, each of which may take minutes.
///
/// Threads: created and destroyed by one; if a bar is shown, a thread of its own polls the folder.
class WrittenTables {
 public:
  /// `expected_bytes` is a guess: about as much is written as exists now.
  WrittenTables(std::string directory, std::uint64_t expected_bytes, const CommonOptions& options)
      : directory_(std::move(directory)),
        expected_bytes_(expected_bytes),
        progress_("compacting", expected_bytes, options.wants_progress(), show::Progress::Unit::kBytes) {
    if (!progress_.is_shown()) return;
    progress_.call_total_a_guess();
    for (const auto& [name, bytes] : tables_in(directory_)) there_before_.insert(name);
    watcher_ = std::jthread([this](const std::stop_token& ends) { watch(ends); });
  }

 private:
  void watch(const std::stop_token& ends) {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    while (!ends.stop_requested()) {
      ended.wait_for(lock, ends, std::chrono::milliseconds(200), [] { return false; });
      if (!ends.stop_requested()) look();
    }
  }

  void look() {
    for (const auto& [name, bytes] : tables_in(directory_)) {
      if (!there_before_.contains(name)) written_[name] = bytes;
    }
    std::uint64_t done = 0;
    for (const auto& [name, bytes] : written_) done += bytes;
    progress_.set(done, expected_bytes_);
  }

  const std::string directory_;
  const std::uint64_t expected_bytes_;
  show::Progress progress_;
  std::set<std::string> there_before_;
  std::map<std::string, std::uint64_t> written_;  // Including tables that a later step has replaced.
  std::jthread watcher_;                          // Last: it stops before the others are destroyed.
};

Status compact_all(DB& db) {
  for (const KeyspaceInfo& info : db.keyspaces()) {
    Result<Keyspace> keyspace = db.keyspace(info.name);
    if (!keyspace.ok()) return keyspace.status();
    if (Status compacted = keyspace->compact(); !compacted.ok()) return compacted;
  }
  return {};
}

}  // namespace

int run_flush(Arguments arguments) {
  StoreArguments store;
  CommandLine line({.summary = "Writes the entries of all keyspaces that are only in the journal to tables.",
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
  RangeArguments range;
  CommandLine line({.summary = "Rewrites all keys, or those of a keyspace or of a range, into the last level, dropping "
                               "overwritten and deleted entries. Ctrl-C loses nothing.",
                    .usage = "DIR [--keyspace NAME] [--from A] [--to B]",
                    .example = "  tamis compact cities\n"
                               "  tamis compact cities --from a --to n",
                    .common = kJson | kHex | kQuiet | kNoProgress});
  store.declare_with_keyspace(line, "compact this keyspace; default: all, or the default one of a range");
  range.declare_bounds(line);
  if (!line.read(arguments)) return kExitOk;
  const ScanOptions wanted = range.scan(line);
  const bool compacts_all = !line.given("--keyspace") && !line.given("--from") && !line.given("--to");
  DB db = store.open(StoreUse::kWrite);
  Keyspace keyspace = store.keyspace(db, StoreUse::kWrite);
  return do_and_report(db, line.common(), [&] {
    const WrittenTables progress(store.directory, shape_of(db).bytes, line.common());
    if (!compacts_all) return keyspace.compact({.from = wanted.from.value_or(""), .to = wanted.to});
    return compact_all(db);
  });
}

int run_checkpoint(Arguments arguments) {
  StoreArguments store;
  std::string to;
  CommandLine line(
      {.summary = "Copies the store with all keyspaces as of now to a new folder, as an independent store. Tables are "
                  "hard-linked, not copied, if the file system supports it. Another process may be writing the store.",
       .usage = "DIR TO",
       .example = "  tamis checkpoint cities cities-monday",
       .common = kJson | kQuiet});
  store.declare(line);
  line.operand("TO", "the folder to create; it must not exist", to);
  if (!line.read(arguments)) return kExitOk;
  DB db = store.open(StoreUse::kCopy);
  {
    const DelayInterrupt until_whole;
    need(db.checkpoint(to));
  }
  const Shape shape = shape_of(db);
  need(db.close());
  if (line.common().json) {
    standard_output().write(shape.add_to(JsonObject().add("path", to)).line());
  } else if (!line.common().quiet) {
    standard_output().print("{}: {}\n", to, shape.text());
  }
  return kExitOk;
}

}  // namespace tamis::cli
