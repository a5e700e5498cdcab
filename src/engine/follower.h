// Reads a store that another process writes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/sync.h"
#include "engine/catalog.h"
#include "engine/followed_moment.h"
#include "engine/journals.h"
#include "engine/keyspaces.h"
#include "engine/published_sequence.h"
#include "engine/replay.h"
#include "engine/store_context.h"
#include "engine/store_memory.h"
#include "journal/journal_tail.h"
#include "tamis/status.h"
#include "tree/manifest_reader.h"

namespace tamis {

/// Shows a prefix of the commits of a store that this or another process writes, and moves on when it is asked to. It
/// takes no lock and writes nothing.
///
/// It reads CURRENT, the manifest as far as CURRENT says that it is durable, and the journals to their end for now. It
/// holds every file of its view open, so the writer may remove them. A file that is missing, a journal that was
/// recycled while it was read, and any other error while CURRENT changes make the whole attempt void: it begins again.
///
/// Invariants:
///  1. What it shows is one prefix for all keyspaces, and appears in one step.
///  2. The sequence never falls, unless the writer has begun a new term (rule 42). Then everything taken from journals
///     is read anew.
///  3. A call that fails changes nothing that readers see.
///
/// Memory: the memtables hold what the writer's journals hold and its tables do not, as the writer's own memtables do.
/// A follower cannot flush them, so its budget does not limit them.
///
/// Threads: any. One at a time moves on; readers do not wait for it.
class Follower {
 public:
  /// All must outlive it. `context` gets the store's identity.
  Follower(StoreContext& context, StoreMemory& memory, Catalog& catalog, Keyspaces& keyspaces, Journals& journals,
           PublishedSequence& published);
  ~Follower();

  /// To be called first, once; kStale as catch_up.
  Status open() EXCLUDES(mutex_);
  /// Shows what the writer has committed meanwhile: the sequence that is shown now. kStale if the writer replaced files
  /// faster than they could be opened, many times in a row.
  Result<std::uint64_t> catch_up() EXCLUDES(mutex_);
  /// What readers read.
  [[nodiscard]] FollowedMoment now() const EXCLUDES(moment_mutex_);

 private:
  struct View;

  Status move_on() REQUIRES(mutex_);
  Status try_once(const Current& current) REQUIRES(mutex_);
  Status begin_anew(const Current& current) REQUIRES(mutex_);
  Status advance(const Current& current) REQUIRES(mutex_);
  Result<ManifestState> read_manifest(const Current& current) REQUIRES(mutex_);
  Result<JournalTail> open_journals(const ManifestState& state, const KnownJournalEnd& known) const;
  Result<bool> add_new_journals(View& view);
  Status open_tables(View& view) REQUIRES(mutex_);
  Result<std::uint64_t> read_on(View& view);
  Status take_record(View& view, const JournalRecord& record);
  Status check_still(View& view, const Current& current) const;
  void show(const Current& current) REQUIRES(mutex_);
  static std::shared_ptr<const FollowedMoment::Views> show_trees(View& view, const FollowedMoment::Views* before);

  StoreContext& context_;
  StoreMemory& memory_;
  Catalog& catalog_;
  Keyspaces& keyspaces_;
  Journals& journals_;
  PublishedSequence& published_;
  TableContext table_context_;  // Set with the store's identity.

  Mutex mutex_;
  std::optional<ManifestReader> manifest_ GUARDED_BY(mutex_);
  Current current_ GUARDED_BY(mutex_);
  std::unique_ptr<View> view_ GUARDED_BY(mutex_);  // What is shown; null before the store is open.
  bool begins_anew_ GUARDED_BY(mutex_) = true;     // Parts of view_ were changed and not shown.
  std::map<KeyspaceId, std::shared_ptr<const Version>> newest_versions_ GUARDED_BY(mutex_);

  mutable Mutex moment_mutex_;
  FollowedMoment moment_ GUARDED_BY(moment_mutex_);
};

}  // namespace tamis
