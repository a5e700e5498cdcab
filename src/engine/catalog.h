// The manifest of an open store, and the numbers of its files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/sync.h"
#include "engine/health.h"
#include "engine/store_context.h"
#include "tamis/status.h"
#include "tree/manifest.h"

namespace tamis {

/// Commits edits one after another, and hands out file numbers.
///
/// Invariants:
///  1. A number is reserved in the manifest before it is used, so that a file of an unfinished rewrite can be told from
///     a file that is not ours (rule 19).
///  2. After a failed commit writes have stopped, and nothing is committed until `renew_if_failed`.
///
/// Threads: any. I/O happens under its mutex; it is taken before a Tree's.
class Catalog {
 public:
  Catalog(const StoreContext& context, Health& health) : context_(context), health_(health) {}

  /// Reads the manifest that CURRENT names, or makes the first one. To be called first, once.
  Status open(bool exists) EXCLUDES(mutex_);

  /// Takes what a follower has read of the manifest that another process writes.
  void follow(ManifestState state, const Current& current) EXCLUDES(mutex_);

  using Look = std::function<void(const ManifestState&)>;
  /// Makes the edit durable, then calls `show` with the state after it, under the mutex: versions appear in the order
  /// of the manifest's edits. `complete` is called with the state before, and may change the edit. kClosed, and nothing
  /// is done, if the edit names a keyspace that was dropped. An allocation that fails in between ends the process
  /// (docs/decisions/0016).
  Status commit(const ManifestEdit& edit, const Look& show, const Look& complete = {}) noexcept EXCLUDES(mutex_);
  Result<std::uint64_t> new_number() noexcept EXCLUDES(mutex_);
  /// The next term, durable in CURRENT: to be called before a journal of it begins (rule 42).
  Result<std::uint64_t> begin_term() noexcept EXCLUDES(mutex_);
  /// Calls `look` with the state, under the mutex.
  void inspect(const Look& look) const EXCLUDES(mutex_);

  /// All writes up to here are in tables.
  [[nodiscard]] std::uint64_t flushed_sequence() const EXCLUDES(mutex_);
  /// The writes of this keyspace up to here are in tables.
  [[nodiscard]] std::uint64_t flushed_sequence(KeyspaceId keyspace) const EXCLUDES(mutex_);
  /// The newest write that is in a table, of any keyspace, as far as the manifest says.
  [[nodiscard]] std::uint64_t newest_flushed_sequence() const EXCLUDES(mutex_);
  /// In use in the store.
  [[nodiscard]] Features features() const EXCLUDES(mutex_);
  [[nodiscard]] std::uint64_t first_journal() const EXCLUDES(mutex_);
  /// No file has this number or a larger one yet.
  [[nodiscard]] std::uint64_t next_number() const EXCLUDES(mutex_);
  [[nodiscard]] std::uint64_t manifest_number() const EXCLUDES(mutex_);
  [[nodiscard]] KnownJournalEnd known_journal_end() const EXCLUDES(mutex_);

  [[nodiscard]] bool has_failed() const EXCLUDES(mutex_);
  Status renew_if_failed() EXCLUDES(mutex_);
  /// Marks the end of the manifest and notes the journal's in CURRENT. To be called last.
  Status close(const KnownJournalEnd& journal) EXCLUDES(mutex_);

 private:
  Status commit_locked(ManifestEdit edit) REQUIRES(mutex_);

  const StoreContext& context_;
  Health& health_;
  mutable Mutex mutex_;
  std::unique_ptr<Manifest> manifest_ GUARDED_BY(mutex_);
  std::uint64_t next_number_ GUARDED_BY(mutex_) = 0;
  bool has_failed_ GUARDED_BY(mutex_) = false;
};

}  // namespace tamis
