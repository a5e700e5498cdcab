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

struct WriteOptions {
  bool sync = false;  ///< Return only when the write would survive a crash of the machine.
};

struct ReadOptions {
  const Snapshot* snapshot = nullptr;  ///< Null: as of now.
  bool fills_cache = true;
};

/// The keys from `from` on and before `to`; without `to`, all that follow.
struct Range {
  std::string_view from = {};
  std::optional<std::string_view> to = {};
};

/// How far a long task has come; `total` may grow. Return false to stop it.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

class Engine;  // src/engine/engine.h.

/// A value that stays where it is for as long as this handle lives; nothing is copied when it lies in a cached block.
///
/// Threads: one at a time. Must not outlive its DB.
class PinnedValue {
 public:
  PinnedValue() = default;
  PinnedValue(PinnedValue&&) noexcept = default;
  PinnedValue& operator=(PinnedValue&&) noexcept = default;

  [[nodiscard]] std::string_view view() const { return view_; }

 private:
  friend class Engine;
  std::string_view view_;
  std::shared_ptr<const void> keeps_;
};

/// A store in a folder. One process writes it at a time; others may read it when none does.
///
/// Promises: a write that returned ok is there after a crash of the process, and of the machine if it was synced; after
/// any crash the store holds a prefix of its writes, batches whole; no answer comes from bytes whose checksum was not
/// verified.
///
/// Nothing here throws. Memory that is not to be had is kOutOfSpace where it is as large as a value, a memtable or a
/// filter; where it is one of a program's many small pieces, the program ends, and what was promised above holds.
///
/// Threads: any number, for every function but close and the destructor.
class TAMIS_EXPORT DB {
 public:
  static Result<DB> open(const std::string& path, const Options& options = {}, const Environment& environment = {});
  /// Makes what is left of a damaged store usable: writes a new manifest and loses nothing that can be read. The
  /// report says what was lost and where deleted keys may have come back. A dry run only reports. The progress is that
  /// of looking at the tables, in bytes; stopped there, nothing was changed. A folder without a file that is provably
  /// ours, such as one of LevelDB, is left as it is: kInvalidArgument.
  static Result<RepairReport> repair(const std::string& path, bool dry_run = false, const Environment& environment = {},
                                     const Progress& progress = {});
  /// Removes the files of a store that nobody has open. The folder stays, with LOCK, lost/ and files that are not ours.
  /// CURRENT and manifests go only if their first bytes are ours; kNotSupported names any that stayed. A folder without
  /// a file that is provably ours, such as one of LevelDB, is left as it is: kInvalidArgument.
  static Status destroy(const std::string& path, const Environment& environment = {});

  DB(DB&&) noexcept;
  DB& operator=(DB&&) noexcept;
  /// Closes. Handles that are still alive answer kClosed from then on.
  ~DB();

  /// A key has at most 65,535 bytes; key and value together at most a quarter of Options::memory_bytes, and less than
  /// 4 GiB. kInvalidArgument otherwise.
  Status put(std::string_view key, std::string_view value, const WriteOptions& options = {});
  /// Removing a key that is not there is no error.
  Status remove(std::string_view key, const WriteOptions& options = {});
  /// All of the batch or nothing. kInvalidArgument for one of more than a quarter of Options::memory_bytes.
  Status write(const Batch& batch, const WriteOptions& options = {});
  /// As write, but kBusy instead of waiting while compaction is behind.
  Status try_write(const Batch& batch, const WriteOptions& options = {});
  /// Makes all earlier writes durable.
  Status sync();

  [[nodiscard]] Result<std::optional<std::string>> get(std::string_view key, const ReadOptions& options = {}) const;
  /// Into a buffer that is reused: true when found. Allocates nothing once the buffer is large enough.
  [[nodiscard]] Result<bool> get(std::string_view key, std::string* value, const ReadOptions& options = {}) const;
  /// Without a copy.
  [[nodiscard]] Result<std::optional<PinnedValue>> get_pinned(std::string_view key,
                                                              const ReadOptions& options = {}) const;
  /// What get would return for each, all as of one moment.
  [[nodiscard]] std::vector<Result<std::optional<std::string>>> multi_get(std::span<const std::string_view> keys,
                                                                          const ReadOptions& options = {}) const;
  /// The same into strings that are reused, one element for each key; none where the key is absent, or where an error
  /// kept it from being read: the first of these is returned.
  [[nodiscard]] Status multi_get(std::span<const std::string_view> keys,
                                 std::vector<std::optional<std::string>>* values,
                                 const ReadOptions& options = {}) const;

  /// Stands on the first key of the range (the last, with `reverse`).
  [[nodiscard]] Iterator scan(const ScanOptions& options = {}, Caller caller = Caller::here()) const;
  [[nodiscard]] Snapshot snapshot(Caller caller = Caller::here());

  /// Writes what is in memory to tables; they are durable when it returns.
  Status flush();
  /// Rewrites the range into the last level, leaving out what no reader can see.
  Status compact(const Range& range = {}, const Progress& progress = {});
  /// Waits until no flush or compaction is due or running, and brings the run index up to date if lookups want one.
  Status wait_idle();
  /// After a background error whose cause was removed: writes go on, through new files.
  Status resume();
  /// A copy of the store as of now in a folder that must not exist; tables are linked where the file system can.
  Status checkpoint(const std::string& path);
  /// Reads every byte. Errors are in the report; the status says whether the verification itself could be done.
  [[nodiscard]] Result<VerifyReport> verify(const Progress& progress = {}) const;

  /// Bytes of tables that hold the range, to about a block.
  [[nodiscard]] Result<std::uint64_t> approximate_size(const Range& range) const;
  [[nodiscard]] Stats stats() const;
  [[nodiscard]] Result<Explanation> explain(std::string_view key, const ReadOptions& options = {}) const;
  /// The plan for the runs that there are, with the filter memory of the options or another.
  [[nodiscard]] PlanReport plan(std::optional<std::uint64_t> filter_memory = {}) const;

  /// kBusy while iterators or snapshots are alive, naming each by where it was made; the store stays open then. More
  /// than 4 MiB in memory are flushed, so that the next opening does not have to read them back from the journal.
  Status close();

 private:
  explicit DB(std::shared_ptr<Engine> engine);
  template <typename Change>
  Status write_one(const WriteOptions& options, Change change);

  std::shared_ptr<Engine> engine_;
};

}  // namespace tamis
