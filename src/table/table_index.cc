// Provides a table's index: whole and in memory, or part by part through the block cache.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/try.h"
#include "table/table_inside.h"
#include "table/table_sections.h"

namespace tamis {

Result<IndexPart> Table::open_index(bool fills_cache, std::uint32_t& metadata_reads) {
  IndexPart part;
  part.index = inside_->loaded_index();
  if (part.index != nullptr) return part;
  TAMIS_TRY(const TableProperties* read, properties());
  const LoadingTurn turn(inside_->is_loading);
  std::optional<Charge> charge;
  if (turn.is_mine()) charge.emplace(*context_.index_budget, Index::memory_bytes_for(read->index.bytes));
  if (charge && !charge->is_taken()) charge.reset();
  if (charge || read->index_top_bytes == 0) {
    TAMIS_TRY(part.index, load_index(*read, std::move(charge), metadata_reads));
    return part;
  }
  const BlockPosition at = {read->index.bytes - read->index_top_bytes, read->index_top_bytes};
  TAMIS_TRY(part.top, cached_part(*read, 0, at, fills_cache, metadata_reads));
  if (part.top->is_top_of(facts_->blocks, at.offset)) return part;
  return Status::corruption(
      fmt::format("{}: index at offset {}: a top of other parts", path(), read->index.offset + at.offset));
}

/// Keeps it if it is charged.
Result<std::shared_ptr<const Index>> Table::load_index(const TableProperties& properties, std::optional<Charge> charge,
                                                       std::uint32_t& metadata_reads) {
  const std::string name = path();
  TAMIS_TRY(const std::shared_ptr<const ReadableFile> file, open_file());
  TAMIS_TRY(std::unique_ptr<const Index> index, read_index(*file, properties, name));
  ++metadata_reads;
  inside_->metadata_loads.fetch_add(1, std::memory_order_relaxed);
  if (!charge) return std::shared_ptr<const Index>(std::move(index));
  charge->shrink_to(index->memory_bytes());
  const auto charged = std::make_shared<const ChargedIndex>(std::move(index), *std::move(charge));
  const MutexLock lock(inside_->mutex);
  if (inside_->owned_index == nullptr) {
    inside_->owned_index = charged;
    inside_->charged_index.store(charged.get());
    index_.store(charged->index.get(), std::memory_order_release);
    make_slots(charged->index->blocks());
  }
  return inside_->owned_index->share();
}

/// For the loading thread.
void Table::make_slots(std::uint32_t blocks) {
  if (slots_.load(std::memory_order_relaxed) != nullptr) return;
  if (!context_.index_budget->holds_all() || !context_.index_budget->try_charge(blocks * sizeof(BlockSlot))) return;
  inside_->owned_slots = std::make_unique<BlockSlot[]>(blocks);
  slots_.store(inside_->owned_slots.get(), std::memory_order_release);
}

/// The top is number 0, the parts follow. The cache knows them as blocks behind the table's last one.
Result<std::shared_ptr<const Index>> Table::cached_part(const TableProperties& properties, std::uint32_t number,
                                                        BlockPosition at, bool fills_cache,
                                                        std::uint32_t& metadata_reads) const {
  const BlockKey key{facts_->number, static_cast<std::uint32_t>(facts_->blocks) + number};
  const std::string name = path();
  if (const PinnedBlock cached = context_.cache->find(key, nullptr, BlockKind::kIndex)) {
    TAMIS_TRY(std::unique_ptr<const Index> index,
              Index::open_again(cached.bytes(), name, properties.index.offset + at.offset));
    return std::shared_ptr<const Index>(std::move(index));
  }
  TAMIS_TRY(const std::shared_ptr<const ReadableFile> file, open_file());
  TAMIS_TRY(ReadIndexPart read, read_index_part(*file, properties, at, name));
  ++metadata_reads;
  inside_->metadata_loads.fetch_add(1, std::memory_order_relaxed);
  if (fills_cache) (void)context_.cache->insert(key, std::move(read.bytes), at.bytes);
  return std::shared_ptr<const Index>(std::move(read.index));
}

Status Table::enter_part(IndexPart& part, std::uint32_t number, bool fills_cache, std::uint32_t& metadata_reads) {
  if (part.index != nullptr && part.number == number) return {};
  TAMIS_TRY(const TableProperties* read, properties());
  const BlockPosition at = part.top->position(number);
  TAMIS_TRY(std::shared_ptr<const Index> index, cached_part(*read, number + 1, at, fills_cache, metadata_reads));
  const std::uint64_t blocks_before = number * std::uint64_t{kIndexGroupBlocks};
  if (index->blocks() != std::min<std::uint64_t>(kIndexGroupBlocks, facts_->blocks - blocks_before)) {
    return Status::corruption(fmt::format("{}: index at offset {}: a part of {} blocks", path(),
                                          read->index.offset + at.offset, index->blocks()));
  }
  part.index = std::move(index);
  part.number = number;
  return {};
}

Result<IndexPart> Table::index_part(std::string_view key, bool fills_cache, std::uint32_t& metadata_reads) {
  TAMIS_TRY(IndexPart part, open_index(fills_cache, metadata_reads));
  if (!part.is_whole()) TAMIS_TRY_STATUS(enter_part(part, part.top->locate(key), fills_cache, metadata_reads));
  return part;
}

}  // namespace tamis
