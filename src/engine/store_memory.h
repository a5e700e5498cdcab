// What a store keeps in memory for its tables, within its budget.
#pragma once

#include <memory>

#include "cache/block_cache.h"
#include "engine/store_context.h"
#include "io/file_handles.h"
#include "memtable/spare_memory.h"
#include "table/table.h"
#include "tree/version.h"

namespace tamis {

/// The block cache, open files, the budgets of indexes and filters, and the spare memory of memtables. Shares
/// memory_bytes among them (memory_shares.h).
///
/// Threads: any; `share` by one at a time.
class StoreMemory {
 public:
  static Result<std::unique_ptr<StoreMemory>> make(const StoreContext& context);

  /// Call when the tables change. What no longer fits is unloaded by the next review of residency.
  void share(const Version& version);
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

 private:
  StoreMemory(const StoreContext& context, std::unique_ptr<BlockCache> cache);

  const StoreContext& context_;
  const std::unique_ptr<BlockCache> cache_;
  FileHandles handles_;
  MetadataBudget index_budget_{0};
  MetadataBudget filter_budget_{0};
  const std::shared_ptr<SpareMemory> spare_;
};

}  // namespace tamis
