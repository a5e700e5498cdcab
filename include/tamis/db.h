// An embedded, durable, ordered key-value store.
//
//     auto opened = tamis::DB::open("cities");
//     if (!opened.ok()) return fail(opened.status());
//     tamis::DB& db = *opened;
//     tamis::Status s = db.put("paris", "2102650");
//     tamis::Result<std::optional<std::string>> v = db.get("paris");
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/batch.h"
#include "tamis/caller.h"
#include "tamis/environment.h"
#include "tamis/export.h"
#include "tamis/iterator.h"
#include "tamis/options.h"
#include "tamis/snapshot.h"
#include "tamis/stats.h"
#include "tamis/status.h"

namespace tamis {

/// How one write is done.
struct WriteOptions {
  bool sync = false;  ///< Return only when the write would survive a crash of the machine.
};

/// How one read is done.
struct ReadOptions {
  const Snapshot* snapshot = nullptr;  ///< Read the store as of this snapshot; null: as of now.
  bool fills_cache = true;             ///< Whether blocks read from disk are kept in the cache.
};

/// The keys from `from` up to and excluding `to`.
struct Range {
  std::string_view from = {};               ///< The first key; empty: from the beginning.
  std::optional<std::string_view> to = {};  ///< The first key after the range; none: to the end.
};

/// Called during a long task with how much of it is done; `total` may grow. Return false to stop the task.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

class Engine;  // src/engine/engine.h.

/// A value that stays where it is for as long as this handle lives; nothing is copied when it lies in a cached block.
/// A handle that was default-constructed or moved from holds no value.
///
/// It may outlive its DB: it keeps the store's memory, though not the store open, until it goes.
///
/// Threads: one at a time.
class PinnedValue {
 public:
  /// Holds no value.
  PinnedValue() = default;
  /// Takes over the value of the other handle, which then holds none.
  PinnedValue(PinnedValue&& other) noexcept
      : view_(std::exchange(other.view_, {})), keeps_(std::exchange(other.keeps_, {})) {}
  /// The same; the value held before is released.
  PinnedValue& operator=(PinnedValue&& other) noexcept {
    PinnedValue taken(std::move(other));
    std::swap(view_, taken.view_);
    std::swap(keeps_, taken.keeps_);
    return *this;
  }

  /// The value, as a view that lives as long as this handle; empty when it holds none.
  [[nodiscard]] std::string_view view() const { return view_; }

 private:
  friend class Reader;  // src/engine.
  std::string_view view_;
  std::shared_ptr<const void> keeps_;
};

/// A store in a folder. One process writes it at a time; others may read it when none does.
///
/// Promises: a write that returned ok survives a crash of the process, and a crash of the machine if it was synced.
/// After any crash the store holds a prefix of its writes, and batches whole. No answer comes from bytes whose checksum
/// was not verified.
///
/// Nothing here throws. When memory for a value, a memtable or a filter cannot be allocated, the answer is kOutOfSpace.
/// When one of the many small allocations fails, the process aborts; the promises above still hold.
///
/// A DB that was default-constructed or moved from belongs to no store. Every call answers kClosed, a scan is an
/// Iterator that belongs to no store, a snapshot likewise, and stats and plan are empty.
///
/// Threads: any number, for every function but close, assignment and the destructor.
class TAMIS_EXPORT DB {
 public:
  /// Opens the store in the folder `path`, or creates it. kBusy while another process holds it, kInvalidArgument for
  /// options out of range and for a store that must not exist yet, kIoError when one that must exist is missing.
  static Result<DB> open(const std::string& path, const Options& options = {}, const Environment& environment = {});
  /// Makes what is left of a damaged store usable: writes a new manifest and keeps everything that can be read. The
  /// report says what was lost and where deleted keys may have come back. With `dry_run`, it only reports. `progress`
  /// counts the bytes of tables surveyed; stopped there, nothing was changed. A folder without a file that is provably
  /// ours, such as one of LevelDB, is left as it is: kInvalidArgument.
  static Result<RepairReport> repair(const std::string& path, bool dry_run = false, const Environment& environment = {},
                                     const Progress& progress = {});
  /// Removes the files of a store that nobody has open. The folder stays, with LOCK, lost/ and files that are not ours.
  /// CURRENT and manifests go only if their first bytes are ours; kNotSupported names any that stayed. A folder without
  /// a file that is provably ours, such as one of LevelDB, is left as it is: kInvalidArgument.
  static Status destroy(const std::string& path, const Environment& environment = {});

  /// Belongs to no store.
  DB() noexcept = default;
  /// Takes over the store of the other DB, which then belongs to no store.
  DB(DB&&) noexcept;
  /// The same; the store this DB had is closed.
  DB& operator=(DB&&) noexcept;
  /// Closes. Handles that are still alive answer kClosed from then on.
  ~DB();

  /// Sets the value of a key. A key has at most 65,535 bytes; key and value together have at most a quarter of
  /// Options::memory_bytes, and less than 4 GiB. kInvalidArgument otherwise.
  Status put(std::string_view key, std::string_view value, const WriteOptions& options = {});
  /// Removes a key. It is no error if the key is absent.
  Status remove(std::string_view key, const WriteOptions& options = {});
  /// Applies all of the batch or nothing. kInvalidArgument for one of more than a quarter of Options::memory_bytes.
  Status write(const Batch& batch, const WriteOptions& options = {});
  /// Like write, but kBusy instead of waiting while compaction is behind.
  Status try_write(const Batch& batch, const WriteOptions& options = {});
  /// Makes all earlier writes durable.
  Status sync();

  /// The value of a key, or none if the key is absent.
  [[nodiscard]] Result<std::optional<std::string>> get(std::string_view key, const ReadOptions& options = {}) const;
  /// Whether the key is present; its value is copied to `*value`. Allocates nothing once that has the capacity.
  [[nodiscard]] Result<bool> get(std::string_view key, std::string* value, const ReadOptions& options = {}) const;
  /// Whether the key is present. The lookup is that of get, filters included, but the value is not copied.
  [[nodiscard]] Result<bool> exists(std::string_view key, const ReadOptions& options = {}) const;
  /// The value of a key without a copy, or none if the key is absent.
  [[nodiscard]] Result<std::optional<PinnedValue>> get_pinned(std::string_view key,
                                                              const ReadOptions& options = {}) const;
  /// What get would return for each key, all as of one moment.
  [[nodiscard]] std::vector<Result<std::optional<std::string>>> multi_get(std::span<const std::string_view> keys,
                                                                          const ReadOptions& options = {}) const;
  /// The same into strings that are reused: `*values` gets one element per key, none where the key is absent or could
  /// not be read. The first error is returned.
  [[nodiscard]] Status multi_get(std::span<const std::string_view> keys,
                                 std::vector<std::optional<std::string>>* values,
                                 const ReadOptions& options = {}) const;

  /// An iterator over a range of keys. It stands on the first key, or on the last with `reverse`.
  ///
  ///     tamis::Iterator cities = db.scan({.from = "l", .to = "q"});
  ///     for (const auto& [key, value] : cities) use(key, value);
  ///     if (!cities.status().ok()) return cities.status();
  [[nodiscard]] Iterator scan(const ScanOptions& options = {}, Caller caller = Caller::here()) const;
  /// The store as it is now, to read from later.
  [[nodiscard]] Snapshot snapshot(Caller caller = Caller::here());

  /// Writes what is in memory to tables, which are durable when it returns.
  Status flush();
  /// Rewrites the range into the last level, dropping what no reader can see.
  Status compact(const Range& range = {}, const Progress& progress = {});
  /// Waits until no flush or compaction is due or running, and brings the run index up to date if lookups want one.
  Status wait_idle();
  /// Lets writes continue, through new files, after the cause of a background error was removed.
  Status resume();
  /// Copies the store as of now into a folder that must not exist; tables are hard-linked where the file system can.
  Status checkpoint(const std::string& path);
  /// Reads every byte. Damage is listed in the report; the status says whether the verification itself could be done.
  [[nodiscard]] Result<VerifyReport> verify(const Progress& progress = {}) const;

  /// How many bytes of tables hold the range, to about a block.
  [[nodiscard]] Result<std::uint64_t> approximate_size(const Range& range) const;
  /// Counters, and what there is now.
  [[nodiscard]] Stats stats() const;
  /// Every step of looking up one key, and what it cost.
  [[nodiscard]] Result<Explanation> explain(std::string_view key, const ReadOptions& options = {}) const;
  /// The filter plan for the current runs, with the filter memory of the options or with another amount.
  [[nodiscard]] PlanReport plan(std::optional<std::uint64_t> filter_memory = {}) const;

  /// Closes the store. kBusy while iterators or snapshots are alive, naming each by where it was made; the store stays
  /// open then. More than 4 MiB in memory are flushed, so that the next opening need not replay them from the journal.
  Status close();

 private:
  explicit DB(std::shared_ptr<Engine> engine);

  std::shared_ptr<Engine> engine_;
};

}  // namespace tamis
