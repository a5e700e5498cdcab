#include "engine/store_memory.h"

#include <utility>

#include "base/try.h"

namespace tamis {
namespace {

constexpr std::size_t kMaxOpenTables = 512;

}  // namespace

/// The cache chooses its number of shards by its capacity, so it is made with the capacity of a store without tables.
Result<std::unique_ptr<StoreMemory>> StoreMemory::make(const StoreContext& context) {
  const std::uint64_t cache_bytes = share_memory(context.options, MetadataWanted()).blocks;
  TAMIS_TRY(std::unique_ptr<BlockCache> cache, BlockCache::make({.capacity_bytes = cache_bytes}));
  return std::unique_ptr<StoreMemory>(new StoreMemory(context, std::move(cache)));
}

StoreMemory::StoreMemory(const StoreContext& context, std::unique_ptr<BlockCache> cache)
    : context_(context),
      cache_(std::move(cache)),
      handles_(context.files, files_to_keep_open(kMaxOpenTables),
               context.options.direct_reads ? ReadMode::kDirect : ReadMode::kCached),
      spare_(std::make_shared<SpareMemory>(kept_memory(context.options))) {}

void StoreMemory::share(KeyspaceId tree, const Version& version) {
  const RunMatrix* const matrix = version.run_index().matrix();
  const std::uint64_t matrix_bytes = matrix == nullptr ? 0 : matrix->plan().bytes();
  const MemoryShares shares = shares_for(tree, version.shape(), matrix_bytes);
  index_budget_.set_limit(shares.indexes, shares.wanted_indexes);
  filter_budget_.set_limit(shares.filters, shares.wanted_filters, shares.run_matrices);
  cache_->set_capacity(shares.blocks);
  const MetadataWanted wanted = wanted_by(version.shape());
  MutexLock lock(mutex_);
  Wanted& now = by_tree_[tree];
  total_ -= now;
  now = {wanted.filter_bytes, wanted.usual_filter_bytes, matrix_bytes, wanted.index_bytes};
  total_ += now;
}

void StoreMemory::forget(KeyspaceId tree) {
  MutexLock lock(mutex_);
  total_ -= by_tree_[tree];
  by_tree_.erase(tree);
}

MemoryShares StoreMemory::shares_for(KeyspaceId tree, const Shape& shape, std::uint64_t run_matrix_bytes) const {
  MetadataWanted wanted = wanted_by(shape, run_matrix_bytes);
  {
    MutexLock lock(mutex_);
    const auto own = by_tree_.find(tree);
    const Wanted before = own == by_tree_.end() ? Wanted() : own->second;
    wanted.filter_bytes += total_.filter_bytes - before.filter_bytes;
    wanted.usual_filter_bytes += total_.usual_filter_bytes - before.usual_filter_bytes;
    wanted.other_matrix_bytes += total_.matrix_bytes - before.matrix_bytes;
    wanted.index_bytes += total_.index_bytes - before.index_bytes;
  }
  return share_memory(context_.options, std::move(wanted));
}

TableContext StoreMemory::table_context() {
  return {.directory = context_.directory,
          .identity = context_.identity,
          .handles = &handles_,
          .cache = cache_.get(),
          .index_budget = &index_budget_,
          .filter_budget = &filter_budget_};
}

}  // namespace tamis
