// Reads a store that another process writes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/sync.h"
#include "engine/catalog.h"
#include "engine/followed_moment.h"
#include "engine/followed_view.h"
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
  /// All must outlive it, `tables` also every view. `context` and `tables` get the store's identity.
  Follower(StoreContext& context, StoreMemory& memory, TableContext& tables, Catalog& catalog, Keyspaces& keyspaces,
           Journals& journals, PublishedSequence& published);
  ~Follower();

  /// To be called first, once; kStale as catch_up.
  Status open() EXCLUDES(mutex_);
  /// Shows what the writer has committed meanwhile: the sequence that is shown now. kStale if the writer replaced files
  /// faster than they could be opened, many times in a row.
  Result<std::uint64_t> catch_up() EXCLUDES(mutex_);
  /// Copies what the writer has committed by now into a new folder: tables by links, as far as they still have names,
  /// and the records of the journals. The copy is then opened once, so that its tables have everything.
  Status checkpoint(const std::string& path) EXCLUDES(mutex_);  // follower_copy.cc
  /// What readers read.
  [[nodiscard]] FollowedMoment now() const EXCLUDES(moment_mutex_);

 private:
  Status move_on() REQUIRES(mutex_);
  Status try_once(const Current& current) REQUIRES(mutex_);
  /// Calls `attempt` with CURRENT until it succeeds, or fails while CURRENT stays as it is, or too often.
  Status attempt(const std::function<Status(const Current&)>& once);
  Status copy_once(const Current& current, const std::string& path) REQUIRES(mutex_);
  Status begin_anew(const Current& current) REQUIRES(mutex_);
  Status advance(const Current& current) REQUIRES(mutex_);
  Result<ManifestState> read_manifest(const Current& current) REQUIRES(mutex_);
  Result<JournalTail> open_journals(const ManifestState& state, const KnownJournalEnd& known) const;
  Result<bool> add_new_journals(FollowedView& view);
  Status open_tables(FollowedView& view) REQUIRES(mutex_);
  using TakeRecord = std::function<Status(const JournalRecord& record)>;
  Result<std::uint64_t> read_on(FollowedView& view, const TakeRecord& take);
  Status take_record(FollowedView& view, const JournalRecord& record);
  TakeRecord into_memtables(FollowedView& view) {
    return [this, &view](const JournalRecord& record) { return take_record(view, record); };
  }
  Status check_still(FollowedView& view, const Current& current) const;
  void show(const Current& current) REQUIRES(mutex_);
  static std::shared_ptr<const FollowedMoment::Views> show_trees(FollowedView& view,
                                                                 const FollowedMoment::Views* before);

  StoreContext& context_;
  StoreMemory& memory_;
  TableContext& table_context_;
  Catalog& catalog_;
  Keyspaces& keyspaces_;
  Journals& journals_;
  PublishedSequence& published_;

  Mutex mutex_;
  std::optional<ManifestReader> manifest_ GUARDED_BY(mutex_);
  Current current_ GUARDED_BY(mutex_);
  std::unique_ptr<FollowedView> view_ GUARDED_BY(mutex_);  // What is shown; null before the store is open.
  bool begins_anew_ GUARDED_BY(mutex_) = true;             // Parts of view_ were changed and not shown.
  std::map<KeyspaceId, std::shared_ptr<const Version>> newest_versions_ GUARDED_BY(mutex_);

  mutable Mutex moment_mutex_;
  FollowedMoment moment_ GUARDED_BY(moment_mutex_);
};

}  // namespace tamis
