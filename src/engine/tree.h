// One LSM tree of an open store: its memtables and its tables.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/sync.h"
#include "compaction/filter_planner.h"
#include "compaction/level_zero.h"
#include "engine/catalog.h"
#include "engine/read_view.h"
#include "engine/store_context.h"
#include "engine/store_memory.h"
#include "engine/tree_settings.h"
#include "entry/keyspace_id.h"
#include "memtable/memtable.h"
#include "table/table.h"
#include "tamis/status.h"
#include "tree/version.h"

namespace tamis {

/// No journal.
inline constexpr std::uint64_t kNoJournal = std::numeric_limits<std::uint64_t>::max();

/// A memtable that takes no more writes.
struct SealedMemtable {
  std::shared_ptr<Memtable> memtable;
  Sequence last_sequence = {};
  std::uint64_t first_journal = 0;  ///< The journals before this one hold none of its entries.
};

/// What a follower shows of a tree.
struct FollowedTree {
  std::shared_ptr<const Version> version;
  std::shared_ptr<Memtable> active;  ///< Null: an empty one.
  std::vector<SealedMemtable> sealed;
};

/// The parts of the store that every tree uses.
struct TreeParts {
  const StoreContext& context;
  StoreMemory& memory;
  const Catalog& catalog;
  const std::atomic<int>& deletions_paused;  ///< No file is removed unless this is 0.
};

/// The tree of one keyspace: the memtable that takes writes, those that wait for their flush, and the current version
/// of the tables. Readers take all three as one ReadView. Tables that an edit removed stay on disk until no reader
/// holds them.
///
/// A tree that is not being written to has no memtable of its own: it shows an empty one that all trees share.
///
/// Invariants:
///  1. A view is replaced after the manifest edit behind it is durable.
///  2. Flushes install in the order in which memtables were sealed.
///  3. A file is removed only when the manifest durably does without it and no view holds it.
///
/// Threads: any, except as said. Its mutex is taken after the Catalog's; no I/O happens under it.
class Tree {
 public:
  Tree(const TreeParts& parts, KeyspaceId id, std::shared_ptr<const TreeSettings> settings)
      : context_(parts.context),
        memory_(parts.memory),
        catalog_(parts.catalog),
        deletions_paused_(parts.deletions_paused),
        id_(id),
        settings_(std::move(settings)) {}

  /// The first version, of the tables that the manifest names. To be called first, once.
  void open(const Shape& shape) EXCLUDES(mutex_);

  [[nodiscard]] KeyspaceId id() const { return id_; }
  [[nodiscard]] std::shared_ptr<const TreeSettings> settings() const EXCLUDES(mutex_);
  /// Applies to tables that are written from now on.
  void change_settings(std::shared_ptr<const TreeSettings> settings) EXCLUDES(mutex_);
  /// How filters of tables that are written now are planned.
  [[nodiscard]] FilterPlanOptions filter_plan_options() const EXCLUDES(mutex_);
  /// Shares the store's memory again, after memory options changed.
  void share_memory() EXCLUDES(mutex_);

  /// What readers read.
  [[nodiscard]] const CurrentView& view() const { return view_; }
  [[nodiscard]] std::shared_ptr<const Version> version() const EXCLUDES(mutex_);
  /// The memtable that takes writes; `journal` is the one that will hold its first entry. One thread at a time, as
  /// `seal`.
  std::shared_ptr<Memtable> begin_writing(std::uint64_t journal) EXCLUDES(mutex_);
  /// The memtable that took writes takes no more of them. It is not empty.
  void seal(Sequence last) noexcept EXCLUDES(mutex_);
  [[nodiscard]] std::optional<SealedMemtable> oldest_sealed() const EXCLUDES(mutex_);
  [[nodiscard]] bool has_sealed() const EXCLUDES(mutex_);
  /// Whether the memtable that takes writes has any.
  [[nodiscard]] bool has_unsealed() const EXCLUDES(mutex_);
  /// The memory of that memtable; 0 if the tree is not being written to.
  [[nodiscard]] std::uint64_t active_bytes() const EXCLUDES(mutex_);
  /// The oldest journal with entries that are only in memory, without those of `flushed`; kNoJournal if there is none.
  [[nodiscard]] std::uint64_t first_journal(const Memtable* flushed = nullptr) const EXCLUDES(mutex_);

  /// After an edit of the manifest: shows the tables of the new shape. `flushed` is the memtable that they replace, the
  /// oldest sealed one, or null. Under the Catalog's mutex.
  void show(const Shape& shape, const ShapeEdit& edit, const Memtable* flushed) EXCLUDES(mutex_);
  /// Frees the views that were replaced. Not under the Catalog's mutex.
  void drop_replaced_views() { view_.drop_replaced(); }
  /// The same tables with another run index. The version of this moment may be newer than the one that the columns were
  /// read from: it takes those that cover its runs.
  void install_columns(const RunColumns& columns) EXCLUDES(mutex_);
  /// In a follower: shows what was read of the store that another process writes, and returns the view of it.
  std::shared_ptr<const ReadView> show_followed(FollowedTree next) EXCLUDES(mutex_);
  /// After its keyspace was dropped: shows nothing any more, and all its files are obsolete.
  void clear() EXCLUDES(mutex_);

  /// The compaction debt, by the policy; 1 is the most that is tolerable.
  [[nodiscard]] double debt() const { return debt_.load(std::memory_order_relaxed); }
  /// The bytes that its policy still has to move.
  [[nodiscard]] std::uint64_t compaction_backlog() const;
  /// What its policy is asked with now, except what scans of a version have counted.
  [[nodiscard]] PolicyOptions policy_options() const EXCLUDES(mutex_);
  /// True once scans have entered twice as many extra runs as when it was last true: the policy may want to merge them.
  bool review_scans() EXCLUDES(mutex_);
  /// A merge of level 0 has found which fraction of it overwrites what is below.
  void found_overwritten(double fraction);
  /// Where the tables of a flush end besides.
  [[nodiscard]] LevelZeroCuts level_zero_cuts() const EXCLUDES(mutex_);
  /// Grows with every edit of the tables, and when there is another reason to ask the policy.
  [[nodiscard]] std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Removes the files of replaced tables and value files that no reader holds. A file that cannot be removed now is
  /// found to be redundant when the store is next opened.
  void remove_obsolete_files() EXCLUDES(mutex_);
  /// The tables whose files are still there although the manifest does without them. The files stay until each listing
  /// has ended: repair takes a rewrite for finished if a table that it lists is gone.
  class ObsoleteListing {
   public:
    explicit ObsoleteListing(Tree& tree) : tree_(tree), numbers_(tree.begin_listing()) {}
    ~ObsoleteListing() { tree_.end_listing(numbers_); }
    ObsoleteListing(const ObsoleteListing&) = delete;
    ObsoleteListing& operator=(const ObsoleteListing&) = delete;
    [[nodiscard]] const std::vector<std::uint64_t>& numbers() const { return numbers_; }

   private:
    Tree& tree_;
    const std::vector<std::uint64_t> numbers_;
  };

  /// Whether files of tables or values wait for their readers.
  [[nodiscard]] bool has_obsolete_files() const EXCLUDES(mutex_);

  [[nodiscard]] std::uint64_t entries_in_memtables() const;
  /// Of all memtables, those included that only readers hold.
  [[nodiscard]] std::uint64_t memtable_bytes() const EXCLUDES(mutex_);
  /// By level, of tables that are gone.
  [[nodiscard]] std::vector<TableCounts> retired_counts() const EXCLUDES(mutex_);

 private:
  /// A table that the manifest does without; its file goes when nobody holds it any more.
  struct Obsolete {
    std::uint64_t number = 0;
    std::uint64_t blocks = 0;
    std::weak_ptr<Table> table;
    std::uint32_t listings = 0;  ///< Those that name it.
  };
  struct ObsoleteValues {
    std::uint64_t number = 0;
    std::weak_ptr<ValueFile> file;
  };

  std::vector<std::uint64_t> begin_listing() EXCLUDES(mutex_);
  void end_listing(const std::vector<std::uint64_t>& numbers) EXCLUDES(mutex_);
  [[nodiscard]] double debt_of(const Shape& shape) const;
  [[nodiscard]] bool is_idle() const REQUIRES(mutex_) { return active_ == memory_.empty_memtable(); }
  void install_view() REQUIRES(mutex_);
  void set_level_zero_cuts(const Shape& shape) REQUIRES(mutex_);
  void retire(const Version& before, std::uint64_t number) REQUIRES(mutex_);
  void retire_values(const Version& before, std::uint64_t number) REQUIRES(mutex_);
  void drop_flushed(const Memtable* flushed) REQUIRES(mutex_);

  const StoreContext& context_;
  StoreMemory& memory_;
  const Catalog& catalog_;
  const std::atomic<int>& deletions_paused_;
  const KeyspaceId id_;
  TableContext table_context_;
  CurrentView view_;
  std::atomic<double> debt_ = 0;
  std::atomic<double> overwritten_ = 0;  // A moving average. Two merges that end at once may lose one of theirs.
  std::atomic<std::uint64_t> generation_ = 0;
  std::atomic<std::uint64_t> scans_reviewed_ = 0;  // Version::extra_runs_scanned when that was last true.

  mutable Mutex mutex_;
  std::shared_ptr<const TreeSettings> settings_ GUARDED_BY(mutex_);
  std::shared_ptr<Memtable> active_ GUARDED_BY(mutex_);
  std::uint64_t active_first_journal_ GUARDED_BY(mutex_) = kNoJournal;
  std::vector<SealedMemtable> sealed_ GUARDED_BY(mutex_);                  // Newest first.
  std::vector<std::weak_ptr<const Memtable>> flushed_ GUARDED_BY(mutex_);  // Those that readers may still hold.
  std::shared_ptr<const Version> version_ GUARDED_BY(mutex_);
  LevelZeroCuts level_zero_cuts_ GUARDED_BY(mutex_);
  std::vector<Obsolete> obsolete_ GUARDED_BY(mutex_);
  std::vector<ObsoleteValues> obsolete_values_ GUARDED_BY(mutex_);
  std::vector<TableCounts> retired_counts_ GUARDED_BY(mutex_);
};

}  // namespace tamis
