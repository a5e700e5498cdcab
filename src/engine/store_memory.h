// What a store keeps in memory for its tables, within its budget.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>

#include "base/sync.h"
#include "cache/block_cache.h"
#include "engine/memory_shares.h"
#include "engine/store_context.h"
#include "entry/keyspace_id.h"
#include "io/file_handles.h"
#include "memtable/memtable.h"
#include "memtable/spare_memory.h"
#include "table/table.h"
#include "tree/version.h"

namespace tamis {

/// The block cache, open files, the budgets of indexes and filters, and the spare memory of memtables. Shares
/// memory_bytes among them (memory_shares.h). memory_bytes and filter_memory may change while the store is open; the
/// share of memtables stays as it was when it was opened.
///
/// Threads: any. While its mutex is held to share memory, those of the cache are taken.
class StoreMemory {
 public:
  static Result<std::unique_ptr<StoreMemory>> make(const StoreContext& context);

  /// Changes memory_bytes or filter_memory, and returns the options with it. Applies once memory is shared again.
  /// kInvalidArgument for any other option and for values out of range.
  Result<Options> set_option(std::string_view name, std::string_view value) EXCLUDES(mutex_);
  /// Those of the store, with what has changed since it was opened.
  [[nodiscard]] Options options() const EXCLUDES(mutex_);

  /// Call when the tables of a tree change. What no longer fits is unloaded by the next review of residency.
  void share(KeyspaceId tree, const Version& version) EXCLUDES(mutex_);
  /// The tree has no tables any more.
  void forget(KeyspaceId tree) EXCLUDES(mutex_);
  /// How memory is shared for a tree of this shape, beside the other trees.
  [[nodiscard]] MemoryShares shares_for(KeyspaceId tree, const Shape& shape, std::uint64_t run_matrix_bytes = 0) const
      EXCLUDES(mutex_);
  /// For the store's tables, which this must outlive.
  [[nodiscard]] TableContext table_context();

  [[nodiscard]] BlockCache& cache() { return *cache_; }
  [[nodiscard]] const BlockCache& cache() const { return *cache_; }
  [[nodiscard]] FileHandles& handles() { return handles_; }
  [[nodiscard]] MetadataBudget& index_budget() { return index_budget_; }
  [[nodiscard]] const MetadataBudget& index_budget() const { return index_budget_; }
  [[nodiscard]] MetadataBudget& filter_budget() { return filter_budget_; }
  [[nodiscard]] const MetadataBudget& filter_budget() const { return filter_budget_; }
  /// Of two memtables.
  [[nodiscard]] const std::shared_ptr<SpareMemory>& spare() const { return spare_; }
  /// Shown by trees that are not being written to; never written.
  [[nodiscard]] const std::shared_ptr<Memtable>& empty_memtable() const { return empty_memtable_; }

 private:
  StoreMemory(const StoreContext& context, std::unique_ptr<BlockCache> cache);

  [[nodiscard]] MemoryShares share_with_others(KeyspaceId tree, MetadataWanted wanted) const REQUIRES(mutex_);

  const StoreContext& context_;
  const std::unique_ptr<BlockCache> cache_;
  FileHandles handles_;
  MetadataBudget index_budget_{0};
  MetadataBudget filter_budget_{0};
  const std::shared_ptr<SpareMemory> spare_;
  const std::shared_ptr<Memtable> empty_memtable_ = std::make_shared<Memtable>();
  /// What the tables of a tree would take.
  struct Wanted {
    Wanted& operator+=(const Wanted& other) {
      filter_bytes += other.filter_bytes;
      usual_filter_bytes += other.usual_filter_bytes;
      matrix_bytes += other.matrix_bytes;
      index_bytes += other.index_bytes;
      slot_bytes += other.slot_bytes;
      return *this;
    }
    Wanted& operator-=(const Wanted& other) {
      filter_bytes -= other.filter_bytes;
      usual_filter_bytes -= other.usual_filter_bytes;
      matrix_bytes -= other.matrix_bytes;
      index_bytes -= other.index_bytes;
      slot_bytes -= other.slot_bytes;
      return *this;
    }

    std::uint64_t filter_bytes = 0;
    std::uint64_t usual_filter_bytes = 0;
    std::uint64_t matrix_bytes = 0;  // Its run index.
    std::uint64_t index_bytes = 0;
    std::uint64_t slot_bytes = 0;  // Of blocks, in memory now.
  };
  mutable Mutex mutex_;
  Options options_ GUARDED_BY(mutex_);  // With memtable_bytes as it was shared.
  std::unordered_map<KeyspaceId, Wanted> by_tree_ GUARDED_BY(mutex_);
  Wanted total_ GUARDED_BY(mutex_);
};

}  // namespace tamis
