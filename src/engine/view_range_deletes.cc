#include "engine/view_range_deletes.h"

#include <algorithm>

#include "base/try.h"

namespace tamis {

Result<const RangeTombstone*> ViewRangeDeletes::newest_covering(std::string_view key, Sequence moment,
                                                                KeyStretch* same) const {
  TAMIS_TRY(const RangeTombstone* const written, newest_written(key, moment, same));
  return newer_of(written, empty_around(key, same));
}

/// Memtables are newer than each other and than the tables in this order, so the first answer is the newest.
Result<const RangeTombstone*> ViewRangeDeletes::newest_written(std::string_view key, Sequence moment,
                                                               KeyStretch* same) const {
  for (const std::shared_ptr<Memtable>& memtable : memtables_) {
    if (!memtable->has_range_deletes()) continue;
    TAMIS_TRY(const RangeTombstone* const found, memtable->range_deletes().newest_covering(key, moment, same));
    if (found != nullptr) return found;
  }
  if (of_tables_ == nullptr) return nullptr;
  return of_tables_->newest_covering(key, moment, same);
}

const RangeTombstone* ViewRangeDeletes::empty_around(std::string_view key, KeyStretch* same) const {
  if (empty_.empty()) return nullptr;
  const auto after =
      std::ranges::partition_point(empty_, [&](const auto& empty) { return !empty->range().begins_after(key); });
  if (same != nullptr && after != empty_.end()) same->end_at((*after)->range().from);
  if (after == empty_.begin()) return nullptr;
  const EmptyRange& before = **(after - 1);
  const bool is_inside = same != nullptr ? same->cut(key, before.range()) : before.range().contains(key);
  return is_inside ? &before.as_deleted : nullptr;
}

Sequence ViewRangeDeletes::newest(Sequence moment) const {
  Sequence newest = of_tables_ == nullptr ? Sequence{0} : of_tables_->newest(moment);
  for (const std::shared_ptr<Memtable>& memtable : memtables_) {
    newest = std::max(newest, memtable->range_deletes().newest(moment));
  }
  for (const auto& empty : empty_) newest = std::max(newest, empty->as_deleted.sequence);
  return newest;
}

namespace {

Result<const RangeTombstone*> newest_covering(const ReadView& view, const Lookup& lookup) {
  const RangeTombstone* found = nullptr;
  const auto ask = [&](const Memtable& memtable) -> Status {
    if (!memtable.has_range_deletes()) return {};
    TAMIS_TRY(found, memtable.range_deletes().newest_covering(lookup.key, lookup.sequence));
    return {};
  };
  TAMIS_TRY_STATUS(ask(*view.active));
  for (const std::shared_ptr<Memtable>& sealed : view.sealed) {
    if (found == nullptr) TAMIS_TRY_STATUS(ask(*sealed));
  }
  if (found != nullptr || view.version->range_deletes() == nullptr) return found;
  return view.version->range_deletes()->newest_covering(lookup.key, lookup.sequence);
}

}  // namespace

Result<bool> hide_covered(const ReadView& view, StagedLookup& staged) {
  TAMIS_TRY(const RangeTombstone* const newest, newest_covering(view, staged.lookup));
  if (newest == nullptr || newest->sequence <= staged.found.sequence) return false;
  staged.found = {.kind = EntryKind::kDelete, .sequence = newest->sequence, .value = {}};
  return true;
}

}  // namespace tamis
