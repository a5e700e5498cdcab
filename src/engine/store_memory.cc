#include "engine/store_memory.h"

#include <utility>

#include "base/try.h"
#include "engine/memory_shares.h"

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
      handles_(context.files, files_to_keep_open(kMaxOpenTables)),
      spare_(std::make_shared<SpareMemory>(kept_memory(context.options))) {}

void StoreMemory::share(const Version& version) {
  const RunMatrix* const matrix = version.run_index().matrix();
  const MemoryShares shares =
      share_memory(context_.options, version.shape(), matrix == nullptr ? 0 : matrix->plan().bytes());
  index_budget_.set_limit(shares.indexes, shares.wanted_indexes);
  filter_budget_.set_limit(shares.filters);
  cache_->set_capacity(shares.blocks);
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
