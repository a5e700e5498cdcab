#include "tree/table_range_deletes.h"

#include <utility>

namespace tamis {

std::shared_ptr<const TableRangeDeletes> TableRangeDeletes::of(std::span<const std::shared_ptr<Table>> tables,
                                                               const std::shared_ptr<const TableRangeDeletes>& before) {
  std::vector<std::uint64_t> numbers;
  for (const std::shared_ptr<Table>& table : tables) {
    if (table->facts().range_deletes > 0) numbers.push_back(table->facts().number);
  }
  if (numbers.empty()) return nullptr;
  if (before != nullptr && before->unread_.empty() && before->numbers_ == numbers) return before;
  return std::make_shared<const TableRangeDeletes>(tables);
}

TableRangeDeletes::TableRangeDeletes(std::span<const std::shared_ptr<Table>> tables) {
  std::vector<RangeTombstone> all;
  for (const std::shared_ptr<Table>& table : tables) {
    if (table->facts().range_deletes == 0) continue;
    numbers_.push_back(table->facts().number);
    const auto read = table->range_deletes();
    if (read.ok()) {
      all.insert(all.end(), (*read)->begin(), (*read)->end());
    } else {
      unread_.push_back({table->facts().range_extent, read.status()});
    }
  }
  set_ = std::make_unique<const RangeTombstones>(std::move(all));
}

Result<const RangeTombstone*> TableRangeDeletes::newest_covering(std::string_view key, Sequence moment) const {
  for (const Unread& unread : unread_) {
    if (unread.extent.contains(key)) return unread.why;
  }
  return set_->newest_covering(key, moment);
}

}  // namespace tamis
