// The keyspaces of an open store.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/change_signal.h"
#include "base/sync.h"
#include "engine/catalog.h"
#include "engine/live_handles.h"
#include "engine/open_keyspace.h"
#include "entry/keyspace_id.h"
#include "tamis/keyspace.h"
#include "tamis/status.h"
#include "tree/manifest_state.h"

namespace tamis {

/// One tree's part of an edit.
struct TreeChange {
  OpenKeyspace* keyspace = nullptr;
  KeyspaceEdit edit = {};
  const Memtable* flushed = nullptr;  ///< The oldest sealed memtable, which the added tables replace; null: none.
};

/// A memtable that waits for its flush, and whose it is.
struct SealedOfTree {
  std::shared_ptr<OpenKeyspace> keyspace;
  SealedMemtable sealed;
};

/// Lists the open keyspaces, and installs edits of their trees.
///
/// Invariants:
///  1. Every keyspace that the manifest names is here, and the default one always.
///  2. An edit is durable before it is visible. An edit of several trees is one record of the manifest.
///  3. A dropped keyspace stays readable for snapshots that are older than the drop. Its files go with the last of
///     them.
///
/// Threads: any, except as said. Its mutex is taken after the Catalog's and before a Tree's.
class Keyspaces {
 public:
  Keyspaces(const StoreContext& context, StoreMemory& memory, Catalog& catalog, const Health& health,
            const PublishedSequence& published, LiveHandles& handles, ChangeSignal& changes);

  /// The keyspaces that the manifest names. To be called first, once.
  Status open() EXCLUDES(mutex_);

  /// A keyspace that the manifest names, not listed yet and without its tree.
  Result<std::shared_ptr<OpenKeyspace>> make_stored(KeyspaceId id, const KeyspaceState& state);
  /// In a follower: another process has made it.
  void add_followed(const std::shared_ptr<OpenKeyspace>& keyspace) EXCLUDES(mutex_) { add(keyspace); }
  /// In a follower: another process has dropped it.
  void drop_followed(OpenKeyspace& keyspace) EXCLUDES(mutex_);

  [[nodiscard]] OpenKeyspace& default_keyspace() { return default_; }
  /// Null if there is none.
  [[nodiscard]] std::shared_ptr<OpenKeyspace> find(KeyspaceId id) const EXCLUDES(mutex_);
  [[nodiscard]] std::shared_ptr<OpenKeyspace> find(std::string_view name) const EXCLUDES(mutex_);
  /// By ascending id.
  [[nodiscard]] std::vector<std::shared_ptr<OpenKeyspace>> all() const EXCLUDES(mutex_);
  [[nodiscard]] std::size_t size() const { return size_.load(std::memory_order_relaxed); }

  /// Makes a keyspace, durably. The commit leader, as `drop` and `change`.
  Result<std::shared_ptr<OpenKeyspace>> create(std::string_view name, const KeyspaceOptions& options) EXCLUDES(mutex_);
  /// Durable on return. The snapshots of this moment still see it.
  Status drop(OpenKeyspace& keyspace) EXCLUDES(mutex_);
  /// Adds these to the options that the keyspace sets for itself.
  Status change(OpenKeyspace& keyspace, const KeyspaceOptions& options);
  /// Gives the keyspace its operator: the one that is stored for it or, if none is, the one of the store's options.
  /// kInvalidArgument if the default keyspace has another one than the options (rule 32).
  Status take_operator(OpenKeyspace& keyspace, const KeyspaceOptions& stored);
  /// Stores the operator of the keyspace, if it is not stored yet. The commit leader.
  Status store_operator(OpenKeyspace& keyspace);
  /// Frees dropped keyspaces that no snapshot sees, and removes their files.
  void release_dropped() EXCLUDES(mutex_);
  /// What was asked of keyspaces that have been dropped since the store was opened.
  [[nodiscard]] ReadCounts reads_of_dropped() const EXCLUDES(mutex_);

  /// Seals the memtables of these trees, which wait for their flush from now on. The commit leader.
  void seal(std::span<const std::shared_ptr<OpenKeyspace>> keyspaces, Sequence last) EXCLUDES(mutex_);
  [[nodiscard]] bool has_sealed() const { return sealed_count_.load(std::memory_order_acquire) != 0; }
  /// The memtables that were sealed together, of those that wait the oldest.
  [[nodiscard]] std::vector<SealedOfTree> oldest_sealed() const EXCLUDES(mutex_);
  /// The oldest journal with entries that are in memory alone, without those that `flushes` put into tables.
  [[nodiscard]] std::uint64_t first_journal(std::span<const SealedOfTree> flushes) const EXCLUDES(mutex_);

  /// Makes one edit of these trees durable and then visible, together with `rest`, which names no tree. kClosed if one
  /// of them has been dropped.
  Status install(std::span<const TreeChange> changes, ManifestEdit rest = {}) noexcept EXCLUDES(mutex_);

  /// Of the memtables that take writes.
  [[nodiscard]] std::uint64_t active_bytes() const EXCLUDES(mutex_);
  /// The largest debt of a tree.
  [[nodiscard]] double debt() const { return debt_.load(std::memory_order_relaxed); }
  /// As Tree::review_scans, of any tree.
  bool review_scans() EXCLUDES(mutex_);
  /// Grows with every edit of any tree, and with every other reason to ask a policy.
  [[nodiscard]] std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  void remove_obsolete_files() EXCLUDES(mutex_);
  /// No file of any tree is removed between these two calls.
  void pause_deletions() { ++deletions_paused_; }
  void resume_deletions() { --deletions_paused_; }

 private:
  [[nodiscard]] std::shared_ptr<OpenKeyspace> make(KeyspaceId id, std::string_view name,
                                                   const KeyspaceOptions& options) const;
  [[nodiscard]] std::shared_ptr<const TreeSettings> settings_for(const KeyspaceOptions& own) const;
  void add(std::shared_ptr<OpenKeyspace> keyspace) EXCLUDES(mutex_);
  void hide(OpenKeyspace& keyspace) EXCLUDES(mutex_);
  [[nodiscard]] Result<KeyspaceOptions> stored_options(const OpenKeyspace& keyspace) const;
  void was_flushed(const OpenKeyspace& keyspace) EXCLUDES(mutex_);
  void sum_up() EXCLUDES(mutex_);

  std::atomic<int> deletions_paused_ = 0;
  const TreeParts parts_;
  Catalog& catalog_;
  const Health& health_;
  const PublishedSequence& published_;
  LiveHandles& handles_;
  ChangeSignal& changes_;
  OpenKeyspace default_;  // Here, so that DB::get needs no further pointer.
  std::atomic<double> debt_ = 0;
  std::atomic<std::uint64_t> generation_ = 1;
  std::atomic<std::size_t> size_ = 0;
  std::atomic<std::size_t> sealed_count_ = 0;

  mutable Mutex mutex_;
  std::map<KeyspaceId, std::shared_ptr<OpenKeyspace>> by_id_ GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<OpenKeyspace>, std::less<>> by_name_ GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<OpenKeyspace>> sealed_ GUARDED_BY(mutex_);  // Oldest first.
  std::vector<std::shared_ptr<OpenKeyspace>> dropped_ GUARDED_BY(mutex_);
  ReadCounts released_reads_ GUARDED_BY(mutex_);  // Of those that are not even there any more.
};

}  // namespace tamis
