// One LSM tree of an open store: its memtables and its tables.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/change_signal.h"
#include "base/sync.h"
#include "engine/catalog.h"
#include "engine/read_view.h"
#include "engine/store_context.h"
#include "engine/store_memory.h"
#include "memtable/memtable.h"
#include "table/table.h"
#include "tamis/status.h"
#include "tree/version.h"

namespace tamis {

/// A memtable that takes no more writes, and what its flush tells the manifest.
struct SealedMemtable {
  std::shared_ptr<Memtable> memtable;
  Sequence last_sequence = {};
  std::uint64_t next_journal = 0;  ///< The journals before this one hold nothing newer than the memtable.
};

/// The memtable that takes writes, those that wait for their flush, and the current version of the tables. Readers take
/// all three as one ReadView. Tables that an edit removed stay on disk until no reader holds them.
///
/// Invariants:
///  1. A view is replaced after the manifest edit behind it is durable.
///  2. Flushes install in the order in which memtables were sealed.
///  3. A file is removed only when the manifest durably does without it and no view holds it.
///
/// Threads: any, except as said. Its mutex is taken after the Catalog's; no I/O happens under it.
class Tree {
 public:
  Tree(const StoreContext& context, StoreMemory& memory, Catalog& catalog, ChangeSignal& changes)
      : context_(context), memory_(memory), catalog_(catalog), changes_(changes) {}

  /// The first version, of the tables that the manifest names. To be called first, once.
  void open(const Shape& shape) EXCLUDES(mutex_);

  /// What readers read.
  [[nodiscard]] const CurrentView& view() const { return view_; }
  [[nodiscard]] std::shared_ptr<const Version> version() const EXCLUDES(mutex_);
  /// The memtable that takes writes.
  [[nodiscard]] std::shared_ptr<Memtable> active() const EXCLUDES(mutex_);
  /// Replaces the active memtable by an empty one, which it returns. One thread at a time.
  std::shared_ptr<Memtable> seal(Sequence last, std::uint64_t next_journal) noexcept EXCLUDES(mutex_);
  [[nodiscard]] std::optional<SealedMemtable> oldest_sealed() const EXCLUDES(mutex_);
  [[nodiscard]] bool has_sealed() const EXCLUDES(mutex_);

  /// Makes the edit durable and then visible; `flushed` is the memtable that it replaces, the oldest sealed one.
  Status install(const ManifestEdit& edit, const Memtable* flushed) noexcept EXCLUDES(mutex_);
  /// The same tables with another run index. The version of this moment may be newer than the one that the columns were
  /// read from: it takes those that cover its runs.
  void install_columns(const RunColumns& columns) EXCLUDES(mutex_);

  /// The compaction debt, by the policy; 1 is the most that is tolerable.
  [[nodiscard]] double debt() const { return debt_.load(std::memory_order_relaxed); }
  /// Grows with every edit of the tables.
  [[nodiscard]] std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Removes the files of replaced tables that no reader holds. A file that cannot be removed now is found to be
  /// redundant when the store is next opened.
  void remove_obsolete_files() EXCLUDES(mutex_);
  /// Tables whose files are still there although the manifest does without them.
  void add_obsolete_numbers(std::vector<std::uint64_t>& numbers) const EXCLUDES(mutex_);
  /// No file is removed between these two calls.
  void pause_deletions() EXCLUDES(mutex_);
  void resume_deletions() EXCLUDES(mutex_);

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
  };

  void show(const Shape& shape, const ShapeEdit& edit, const Memtable* flushed) EXCLUDES(mutex_);
  void install_view() REQUIRES(mutex_);
  void retire(const Version& before, std::uint64_t number) REQUIRES(mutex_);
  void drop_flushed(const Memtable* flushed) REQUIRES(mutex_);

  const StoreContext& context_;
  StoreMemory& memory_;
  Catalog& catalog_;
  ChangeSignal& changes_;
  TableContext table_context_;
  CurrentView view_;
  std::atomic<double> debt_ = 0;
  std::atomic<std::uint64_t> generation_ = 0;

  mutable Mutex mutex_;
  std::shared_ptr<Memtable> active_ GUARDED_BY(mutex_);
  std::vector<SealedMemtable> sealed_ GUARDED_BY(mutex_);                  // Newest first.
  std::vector<std::weak_ptr<const Memtable>> flushed_ GUARDED_BY(mutex_);  // Those that readers may still hold.
  std::shared_ptr<const Version> version_ GUARDED_BY(mutex_);
  std::vector<Obsolete> obsolete_ GUARDED_BY(mutex_);
  int deletions_paused_ GUARDED_BY(mutex_) = 0;
  std::vector<TableCounts> retired_counts_ GUARDED_BY(mutex_);
};

}  // namespace tamis
