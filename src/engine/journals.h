// The write-ahead journals of an open store, from the writer's side.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/sync.h"
#include "io/file_system.h"
#include "journal/journal_writer.h"
#include "tamis/status.h"
#include "tree/manifest.h"

namespace tamis {

/// The journal that is being written, and those before it that recovery would still need.
///
/// Invariants:
///  1. A journal that was closed cleanly is reopened by the first append, not before: a store that is only read leaves
///     it as it is.
///  2. A journal is recycled or removed only when the manifest durably says that it is not needed (rule 3).
///
/// Threads: the commit leader; `release_before`, `prepare_next` and `counts` may be called by any.
class Journals {
 public:
  /// `window_bytes`: how much of the current journal may be mapped; counts as memory.
  Journals(FileSystem& files, std::string directory, RandomSource& random, std::uint64_t window_bytes)
      : files_(files), directory_(std::move(directory)), random_(random), most_window_bytes_(window_bytes) {}

  /// Of the store. To be called first, once.
  void open(const StoreId& store_id) { store_id_ = store_id; }

  /// A journal that recovery found closed and that is to be continued.
  void continue_closed(std::uint64_t number, const JournalHeader& header, const JournalEnd& end);
  /// A store that is only read continues nothing, but its stats tell how much stands in the last journal.
  void only_show(const JournalEnd& end) { current_bytes_ = end.offset; }
  /// A new journal that takes over from the one there is, if any. After an error the old one is still the current one.
  Status begin(std::uint64_t number, Sequence first) EXCLUDES(mutex_);
  /// The same, but the old one failed: it is left behind as it is.
  Status begin_after_failure(std::uint64_t number, Sequence first) EXCLUDES(mutex_);

  Status append(Bytes payload, std::uint32_t count);
  Status sync();
  /// Whether the journal cannot be written any more: after a failed sync, when it could not be continued, or when its
  /// file was cut short by somebody else.
  [[nodiscard]] bool is_lost() const { return !reopened_.ok() || (writer_ != nullptr && !writer_->status().ok()); }
  /// Closes with the clean mark and tells where the end is. Nothing happens, and `known` is returned, when nothing was
  /// written since it was opened.
  Result<KnownJournalEnd> close(const KnownJournalEnd& known);

  /// Journals below this number are not needed any more, durably.
  void release_before(std::uint64_t number) EXCLUDES(mutex_);
  /// Does for the next journal what can be done beforehand, so that beginning it takes less of the leader's time.
  void prepare_next() EXCLUDES(mutex_);
  /// A number for the next journal, taken beforehand. It may be overtaken by a journal with a larger one.
  void reserve_number(std::uint64_t number) { reserved_number_.store(number, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t reserved_number() const { return reserved_number_.load(std::memory_order_relaxed); }
  /// Of the newest journal; 0: there is none.
  [[nodiscard]] std::uint64_t newest() const EXCLUDES(mutex_);
  /// A journal that recovery has read and that is needed still.
  void keep(std::uint64_t number, std::uint64_t bytes) EXCLUDES(mutex_);

  struct Counts {
    std::uint64_t files = 0;
    std::uint64_t recycled_files = 0;
    std::uint64_t bytes = 0;  // Of all that are needed.
    std::uint64_t bytes_written = 0;
    std::uint64_t records = 0;
    std::uint64_t syncs = 0;
    std::uint64_t window_bytes = 0;
  };
  [[nodiscard]] Counts counts() const EXCLUDES(mutex_);

 private:
  /// A journal that is needed still.
  struct Live {
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;  // Of the current one: what it began with.
  };
  /// A file for the next journal.
  struct Recycled {
    std::uint64_t was = 0;  // The journal whose file it was.
    TemporaryFile file;     // Empty: it still bears that journal's name.
  };

  Result<std::unique_ptr<JournalWriter>> create(std::uint64_t number, Sequence first) EXCLUDES(mutex_);
  std::optional<Recycled> take_recycled() EXCLUDES(mutex_);
  Status open_if_closed();
  void forget_flushed();
  void remove_recycled() EXCLUDES(mutex_);

  FileSystem& files_;
  const std::string directory_;
  RandomSource& random_;
  const std::uint64_t most_window_bytes_;
  StoreId store_id_ = {};

  // The leader's.
  std::unique_ptr<JournalWriter> writer_;
  struct Closed {
    std::uint64_t number = 0;
    JournalHeader header;
    JournalEnd end;
  };
  std::optional<Closed> closed_;
  Status reopened_;  // A failure to continue it may be a failed sync: it is not tried again (rule 5).

  // Written by the leader alone, read by anybody.
  std::atomic<std::uint64_t> current_bytes_ = 0;
  std::atomic<std::uint64_t> bytes_written_ = 0;
  std::atomic<std::uint64_t> records_ = 0;
  std::atomic<std::uint64_t> syncs_ = 0;
  std::atomic<std::uint64_t> window_bytes_ = 0;
  std::atomic<std::uint64_t> first_needed_ = 0;  // The largest number that release_before was told.

  std::atomic<std::uint64_t> reserved_number_ = 0;

  mutable Mutex mutex_;
  std::vector<Live> live_ GUARDED_BY(mutex_);  // Ascending; the last one is the current one.
  std::optional<Recycled> recycled_ GUARDED_BY(mutex_);
  std::uint64_t first_trusted_ GUARDED_BY(mutex_) = 0;  // One before it failed: they are not recycled (rule 5).
};

}  // namespace tamis
