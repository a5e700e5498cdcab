// A user of a whole store: commits, flushes, compactions, checkpoints, closing and opening, in a fixed order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "crash/store_ledger.h"
#include "io/file_system.h"
#include "support/passing_file_system.h"
#include "tamis/db.h"

namespace tamis::test {

inline constexpr std::string_view kStore = "/store";
inline constexpr std::string_view kCopy = "/copy";

/// Steps, one letter each:
///   p put   r remove   b batch   w a value larger than a block   l a key of six thousand bytes   (capitals: synced)
///   s sync   f flush   c compact   k checkpoint   o close and reopen
///   m make a keyspace   x drop the newest one   q put into it   n a batch over it and the default one
///   v a value of twenty thousand bytes
///   d a batch with a range delete   a a batch of merges
///   e a batch with values that expire   h an hour passes
///   t a transaction that reads, scans and writes   u one that conflicts with a put after its begin
///   y a transaction that removes ranges of the default keyspace and the newest one   i a conditional put
struct StoreScript {
  std::string_view name;
  std::string_view steps;
  std::uint64_t memtable_bytes = 256 << 10;  ///< 64 KiB: three large values fill one.
  std::string_view compaction = "leveled";
  bool can_link = true;  ///< False: a checkpoint copies its tables.
  std::uint64_t value_bytes_apart = 0;
};

/// Each contains a flush, a compaction and a manifest edit.
std::span<const StoreScript> store_scripts();

Options options_of(const StoreScript& script);
/// One thread; everything is drawn from the seed.
Environment environment_on(FileSystem& files, std::uint64_t seed);
/// The same, with the ledger's clock.
Environment environment_on(FileSystem& files, std::uint64_t seed, const StoreLedger& ledger);

/// How often the store did what crashes should hit.
struct EventCounts final : public EventListener {
  void on_event(const StoreEvent& event) override {
    flushes += event.kind == StoreEvent::Kind::kFlushed ? 1 : 0;
    compactions += event.kind == StoreEvent::Kind::kCompacted || event.kind == StoreEvent::Kind::kMoved ? 1 : 0;
    expired += event.kind == StoreEvent::Kind::kCompacted && event.what == "tables have expired" ? 1 : 0;
    covered += event.kind == StoreEvent::Kind::kCompacted && event.what == "range deletes cover whole tables" ? 1 : 0;
    recoveries += event.kind == StoreEvent::Kind::kRecovered ? 1 : 0;
  }
  int flushes = 0;
  int compactions = 0;
  int expired = 0;  ///< Compactions that dropped tables unread.
  int covered = 0;  ///< Removals of tables that range deletes cover whole.
  int recoveries = 0;
};

/// Runs a script. When calls fail it continues with the next step while the store is open.
///
/// Threads: one at a time.
class StoreWorkload {
 public:
  StoreWorkload(FileSystem& files, StoreLedger& ledger, const StoreScript& script, std::uint64_t seed)
      : without_links_(files),
        files_(script.can_link ? files : without_links_),
        ledger_(ledger),
        script_(script),
        seed_(seed),
        random_(seed) {}

  /// Called after every step that left the store open; `failed` is the step's error, or ok.
  using Observer = std::function<void(DB& db, const Status& failed)>;
  void after_each_step(Observer observer) { observer_ = std::move(observer); }

  void run();

  /// The store, unless opening it failed or the script closed it.
  [[nodiscard]] std::optional<DB>& db() { return db_; }
  [[nodiscard]] const EventCounts& events() const { return events_; }
  /// Errors of steps, in order. Without faults there are none.
  [[nodiscard]] const std::vector<Status>& errors() const { return errors_; }
  /// Wrong answers of the store.
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

 private:
  Status open();
  Status step(char what);
  Status write(char what);
  Status commit(const Batch& batch, bool syncs);
  Status run_transaction(char what);
  Status put_if(bool syncs);
  Status reopen();
  Status make_keyspace();
  Status drop_keyspace();
  Status find_newest_keyspace();
  Status compact();
  [[nodiscard]] Batch make_batch(char what);
  void remove_range_of_newest(Batch& batch);
  [[nodiscard]] std::string some_key();

  FileSystemWithoutLinks without_links_;
  FileSystem& files_;
  StoreLedger& ledger_;
  const StoreScript script_;
  const std::uint64_t seed_;
  SplitMix64 random_;
  Observer observer_;
  EventCounts events_;
  std::uint64_t openings_ = 0;
  std::uint64_t values_ = 0;
  std::optional<DB> db_;
  Keyspace newest_;  // Empty if there is none but the default one.
  int made_keyspaces_ = 0;
  std::vector<Status> errors_;
  std::vector<std::string> violations_;
};

}  // namespace tamis::test
