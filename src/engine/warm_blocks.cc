#include "engine/warm_blocks.h"

#include <algorithm>
#include <utility>

#include "table/data_block_format.h"

namespace tamis {

void WarmBlocks::add(std::uint64_t table, std::uint32_t block, std::string_view bytes) {
  const std::uint64_t cached = input_.cached - seen_.cached;
  const std::uint64_t read = input_.read - seen_.read;
  seen_ = input_;
  if (cached + read > 0) is_warm_ = cached >= read;  // Otherwise it has the same input as the block before.
  if (!is_warm_) return;
  BlockBuffer frame = BlockBuffer::unset(bytes.size() + kBlockSlackBytes);
  if (frame.size() == 0) return;  // No memory: it stays cold.
  std::ranges::copy(as_bytes(bytes), frame.span().begin());
  std::ranges::fill(frame.span().last(kBlockSlackBytes), std::byte{0});
  const std::size_t charge_bytes = frame.size();
  const PinnedBlock kept =
      cache_.insert({table, block}, std::move(frame), charge_bytes, nullptr, BlockOrigin::kRewritten);
  if (tables_.empty() || tables_.back().table != table) tables_.push_back({table, 0});
  tables_.back().blocks = block + 1;
}

void WarmBlocks::erase() {
  for (const Cached& cached : tables_) cache_.erase_table(cached.table, cached.blocks);
  tables_.clear();
}

}  // namespace tamis
