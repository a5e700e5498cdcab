#include "engine/view_range_deletes.h"

namespace tamis {
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
