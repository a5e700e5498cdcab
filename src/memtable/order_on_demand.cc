#include "memtable/order_on_demand.h"

#include <span>

#include "entry/vector_iterator.h"

namespace tamis {

OrderOnDemand::OrderOnDemand(const Arena& arena, MemoryCount& memory)
    : arena_(arena), memory_(memory), list_(std::make_shared<const ChunkList>(memory)) {}

std::unique_ptr<EntryIterator> OrderOnDemand::iterate(InsertedEntries inserted) {
  if (inserted.entries == 0) return std::make_unique<VectorIterator>(std::span<const Entry>());
  return make_chunk_list_iterator(list_of(inserted));
}

OrderOnDemand::SharedList OrderOnDemand::list_of(InsertedEntries inserted) {
  if (SharedList list = newest_list(); list->entries() >= inserted.entries) return list;
  const MutexLock sorting(sort_mutex_);
  SharedList list = newest_list();  // Another thread may have sorted meanwhile.
  if (list->entries() >= inserted.entries) return list;
  SharedList next = std::make_shared<const ChunkList>(*list, arena_, memory_, inserted);
  const MutexLock publishing(list_mutex_);
  list_ = next;  // The old one is freed with `list`, after this lock.
  return next;
}

OrderOnDemand::SharedList OrderOnDemand::newest_list() const {
  const MutexLock lock(list_mutex_);
  return list_;
}

}  // namespace tamis
