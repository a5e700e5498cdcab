#include "engine/store_memory.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
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
      spare_(std::make_shared<SpareMemory>(kept_memory(context.options))),
      options_(context.options) {
  options_.memtable_bytes = share_memory(options_, MetadataWanted()).memtable;
}

Result<Options> StoreMemory::set_option(std::string_view name, std::string_view value) {
  constexpr std::string_view kNames[] = {"memory_bytes", "filter_memory"};
  MutexLock lock(mutex_);
  Options changed = options_;
  TAMIS_TRY_STATUS(tamis::set_option(changed, name, value));  // Knows names that do not exist.
  if (std::ranges::find(kNames, name) == std::end(kNames)) {
    return Status::invalid_argument(fmt::format(
        "option {} is fixed while the store is open; those that can change are {}", name, fmt::join(kNames, ", ")));
  }
  TAMIS_TRY_STATUS(check_options(changed));
  const std::uint64_t least = 4 * options_.memtable_bytes;
  if (changed.memory_bytes < least) {
    return Status::invalid_argument(
        fmt::format("option memory_bytes: '{}' is less than four times the {} that each memtable has had since the "
                    "store was opened",
                    get_option(changed, "memory_bytes"), get_option(options_, "memtable_bytes")));
  }
  options_ = changed;
  return changed;
}

Options StoreMemory::options() const {
  MutexLock lock(mutex_);
  return options_;
}

void StoreMemory::share(KeyspaceId tree, const Version& version) {
  const RunMatrix* const matrix = version.run_index().matrix();
  const std::uint64_t matrix_bytes = matrix == nullptr ? 0 : matrix->plan().bytes();
  MetadataWanted wanted = wanted_by(version.shape(), matrix_bytes);
  for (const std::shared_ptr<Table>& table : version.tables()) wanted.slot_bytes += slot_bytes(*table);
  MutexLock lock(mutex_);
  const MemoryShares shares = share_with_others(tree, wanted);
  index_budget_.set_limit(shares.indexes, shares.wanted_indexes);
  filter_budget_.set_limit(shares.filters, shares.wanted_filters, shares.run_matrices);
  cache_->set_capacity(shares.blocks);
  Wanted& now = by_tree_[tree];
  total_ -= now;
  now = {wanted.filter_bytes, wanted.usual_filter_bytes, matrix_bytes, wanted.index_bytes, wanted.slot_bytes};
  total_ += now;
}

void StoreMemory::forget(KeyspaceId tree) {
  MutexLock lock(mutex_);
  total_ -= by_tree_[tree];
  by_tree_.erase(tree);
}

MemoryShares StoreMemory::shares_for(KeyspaceId tree, const Shape& shape, std::uint64_t run_matrix_bytes) const {
  MetadataWanted wanted = wanted_by(shape, run_matrix_bytes);
  MutexLock lock(mutex_);
  return share_with_others(tree, std::move(wanted));
}

MemoryShares StoreMemory::share_with_others(KeyspaceId tree, MetadataWanted wanted) const {
  const auto own = by_tree_.find(tree);
  const Wanted before = own == by_tree_.end() ? Wanted() : own->second;
  wanted.filter_bytes += total_.filter_bytes - before.filter_bytes;
  wanted.usual_filter_bytes += total_.usual_filter_bytes - before.usual_filter_bytes;
  wanted.other_matrix_bytes += total_.matrix_bytes - before.matrix_bytes;
  wanted.index_bytes += total_.index_bytes - before.index_bytes;
  wanted.slot_bytes += total_.slot_bytes - before.slot_bytes;
  return share_memory(options_, std::move(wanted));
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
