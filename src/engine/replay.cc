#include "engine/replay.h"

#include <optional>

#include "base/try.h"

namespace tamis {

Status replay_batch(const BatchView& batch, std::size_t bytes, const KeyHasher& hasher,
                    const std::function<Result<ReplayTarget>(KeyspaceId)>& target_of) {
  std::optional<KeyspaceId> current;
  ReplayTarget into;
  for (BatchView::Iterator it = batch.begin(); it != batch.end(); ++it) {
    if (current != it.keyspace()) {
      current = it.keyspace();
      TAMIS_TRY(into, target_of(*current));
      if (into.memtable != nullptr) TAMIS_TRY_STATUS(into.memtable->reserve(batch.size(), bytes));
    }
    if (into.memtable == nullptr || number_of(it->sequence) <= into.flushed_sequence) continue;
    if (it->kind == EntryKind::kRangeDelete) {
      TAMIS_TRY_STATUS(into.memtable->prepare_range_delete(it->key, it->value));
    }
    insert_entry(*into.memtable, *it, hasher);
  }
  return {};
}

}  // namespace tamis
