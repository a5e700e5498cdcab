#include "tree/table_range_deletes.h"

#include <algorithm>
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
      unread_.push_back({table, read.status()});
    }
  }
  set_ = std::make_unique<const RangeTombstones>(std::move(all));
}

Result<const RangeTombstone*> TableRangeDeletes::newest_covering(std::string_view key, Sequence moment,
                                                                 KeyStretch* same) const {
  const RangeTombstone* newest = set_->newest_covering(key, moment, same);
  for (const Unread& unread : unread_) {
    if (same != nullptr) same->cut(key, unread.table->facts().range_extent);
    if (!unread.table->facts().range_extent.contains(key)) continue;
    const std::vector<RangeTombstone>* const fragments = unread.table->range_deletes_in_memory();
    if (fragments == nullptr) return unread.why;
    for (const RangeTombstone& fragment : *fragments) {
      if (same != nullptr) same->cut(key, fragment.range);
      if (fragment.sequence <= moment && fragment.range.contains(key)) newest = newer_of(newest, &fragment);
    }
  }
  return newest;
}

bool TableRangeDeletes::lacks(std::string_view key) const {
  return std::ranges::any_of(unread_, [&](const Unread& unread) {
    return unread.table->facts().range_extent.contains(key) && unread.table->range_deletes_in_memory() == nullptr;
  });
}

void TableRangeDeletes::read_again() const {
  for (const Unread& unread : unread_) (void)unread.table->range_deletes().ok();
}

}  // namespace tamis
