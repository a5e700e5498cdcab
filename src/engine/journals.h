// The write-ahead journals of an open store.
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

/// The journal being written, and the older ones that recovery would need.
///
/// Invariants:
///  1. A journal that was closed cleanly is reopened by the first append: a store that is only read leaves it alone.
///  2. A journal is recycled or removed only when the manifest durably says that it is not needed (rule 3).
///
/// Threads: the commit leader; `release_before`, `prepare_next` and `counts` may be called by any.
class Journals {
 public:
  /// `window_bytes`: how much of the current journal may be mapped; counts as memory.
  Journals(FileSystem& files, std::string directory, RandomSource& random, std::uint64_t window_bytes)
      : files_(files), directory_(std::move(directory)), random_(random), most_window_bytes_(window_bytes) {}

  /// Of the store. To be called first, once.
  void open(const StoreId& store_id, std::uint64_t term, const Features& features) {
    store_id_ = store_id;
    term_ = term;
    features_ = features;
  }
  /// Of the journals that begin from now on (rule 42). The term is durable in CURRENT.
  void begin_term(std::uint64_t term) { term_ = term; }
  /// From now on at most this much of the current journal may be mapped. A larger limit is for later journals.
  void limit_window(std::uint64_t window_bytes);
  /// For the journals that begin from now on (rule 36). They are durable in the manifest's header.
  void use(const Features& features) { features_ |= features; }

  /// Whether the header of the journal that the next record goes to names them.
  [[nodiscard]] bool current_has(const Features& features) const {
    const Features& named = writer_ != nullptr ? writer_->header().features
                            : closed_          ? closed_->header.features
                                               : features_;
    return named.includes(features);
  }

  /// Continues a journal that recovery found closed.
  void continue_closed(std::uint64_t number, const JournalHeader& header, const JournalEnd& end);
  /// For a read-only store: its stats show the size of the last journal.
  void only_show(const JournalEnd& end) { current_bytes_ = end.offset; }
  /// For a follower: how much it has read of the writer's.
  void only_show(std::size_t files, std::uint64_t bytes) EXCLUDES(mutex_);
  /// Begins a new journal. After an error the old one, if any, is still current.
  Status begin(std::uint64_t number, Sequence first) EXCLUDES(mutex_);
  /// The same, after sequences that no journal holds: they and everything before them are in tables.
  Status begin_after_gap(std::uint64_t number, Sequence first) EXCLUDES(mutex_);
  /// The sequences of that gap are not in tables after all. Writes have stopped, and another journal is begun first.
  void abandon() { writer_.reset(); }
  /// The same after the old one failed; its file is left alone.
  Status begin_after_failure(std::uint64_t number, Sequence first) EXCLUDES(mutex_);

  /// `commit_time` is in milliseconds since 1970; 0: not known.
  Status append(Bytes payload, std::uint32_t count, std::uint64_t commit_time = 0);
  Status sync();
  /// Whether the journal can no longer be written: a sync failed, it could not be continued, or its file was truncated
  /// from outside.
  [[nodiscard]] bool is_lost() const { return !reopened_.ok() || (writer_ != nullptr && !writer_->status().ok()); }
  /// Closes with the clean mark and returns where the end is. Returns `known` if nothing was written since it was
  /// opened.
  Result<KnownJournalEnd> close(const KnownJournalEnd& known);

  /// The manifest durably says that journals below this number are not needed.
  void release_before(std::uint64_t number) EXCLUDES(mutex_);
  /// Prepares the next journal, so that the leader can begin it faster.
  void prepare_next() EXCLUDES(mutex_);
  /// A number for the next journal. It is stale once a journal with a larger one was begun.
  void reserve_number(std::uint64_t number) { reserved_number_.store(number, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t reserved_number() const { return reserved_number_.load(std::memory_order_relaxed); }
  /// The number of the newest journal; 0 if there is none.
  [[nodiscard]] std::uint64_t newest() const EXCLUDES(mutex_);
  /// The first sequence of a journal that is still needed.
  [[nodiscard]] Sequence first_sequence(std::uint64_t number) const EXCLUDES(mutex_);
  /// A journal that recovery has read and still needs.
  void keep(std::uint64_t number, Sequence first, std::uint64_t bytes) EXCLUDES(mutex_);

  struct Counts {
    std::uint64_t files = 0;
    std::uint64_t recycled_files = 0;
    std::uint64_t bytes = 0;  // In all journals that are needed.
    std::uint64_t bytes_written = 0;
    std::uint64_t records = 0;
    std::uint64_t syncs = 0;
    std::uint64_t window_bytes = 0;
  };
  [[nodiscard]] Counts counts() const EXCLUDES(mutex_);

 private:
  /// A journal that recovery would need.
  struct Live {
    std::uint64_t number = 0;
    Sequence first = {};
    std::uint64_t bytes = 0;  // For the current one: its size at the beginning.
  };
  /// A file for the next journal.
  struct Recycled {
    std::uint64_t was = 0;  // The journal that the file belonged to.
    TemporaryFile file;     // Empty: it still has that journal's name.
  };

  Result<std::unique_ptr<JournalWriter>> create(std::uint64_t number, Sequence first) EXCLUDES(mutex_);
  std::optional<Recycled> take_recycled() EXCLUDES(mutex_);
  Status open_if_closed();
  void forget_flushed();
  void remove_recycled() EXCLUDES(mutex_);

  FileSystem& files_;
  const std::string directory_;
  RandomSource& random_;
  StoreId store_id_ = {};
  std::uint64_t term_ = 0;
  Features features_ = {};

  // Belongs to the leader.
  std::uint64_t most_window_bytes_;
  std::unique_ptr<JournalWriter> writer_;
  struct Closed {
    std::uint64_t number = 0;
    JournalHeader header;
    JournalEnd end;
  };
  std::optional<Closed> closed_;
  Status reopened_;  // A failure may have been a failed sync, so it is final (rule 5).

  // Written by the leader, read by any thread.
  std::atomic<std::uint64_t> current_bytes_ = 0;
  std::atomic<std::uint64_t> bytes_written_ = 0;
  std::atomic<std::uint64_t> records_ = 0;
  std::atomic<std::uint64_t> syncs_ = 0;
  std::atomic<std::uint64_t> window_bytes_ = 0;
  std::atomic<std::uint64_t> first_needed_ = 0;  // The largest number given to release_before.

  std::atomic<std::uint64_t> reserved_number_ = 0;

  mutable Mutex mutex_;
  std::vector<Live> live_ GUARDED_BY(mutex_);  // Ascending; the last one is the current one.
  std::optional<Recycled> recycled_ GUARDED_BY(mutex_);
  std::uint64_t first_trusted_ GUARDED_BY(mutex_) = 0;  // Older journals are not recycled: one of them failed (rule 5).
};

}  // namespace tamis
