#include "memtable/order_on_demand.h"

#include <span>

#include "entry/vector_iterator.h"

namespace tamis {

OrderOnDemand::OrderOnDemand(const Arena& arena, MemoryCount& memory)
    : arena_(arena), memory_(memory), list_(std::make_shared<const ChunkList>(memory)) {}

std::unique_ptr<EntryIterator> OrderOnDemand::iterate(InsertedEntries inserted) {
  if (inserted.entries == 0) return std::make_unique<VectorIterator>(std::span<const Entry>());
  SharedList list = list_of(inserted, {});
  const std::span<const SharedChunk> chunks = list->chunks();
  return make_chunk_list_iterator(std::move(list), chunks);
}

std::vector<SplitEntries> OrderOnDemand::iterate_split(InsertedEntries inserted, Sequence split) {
  std::vector<SplitEntries> both;
  if (inserted.entries == 0) return both;
  const SharedList list = list_of(inserted, split);
  const std::size_t older = list->chunks_before(split);
  for (const std::span<const SharedChunk> chunks : {list->chunks().first(older), list->chunks().subspan(older)}) {
    if (!chunks.empty()) both.push_back({make_chunk_list_iterator(list, chunks), chunks.back()->newest()});
  }
  return both;
}

OrderOnDemand::SharedList OrderOnDemand::list_of(InsertedEntries inserted, Sequence split) {
  if (SharedList list = newest_list(); list->entries() >= inserted.entries) return list;
  const MutexLock sorting(sort_mutex_);
  SharedList list = newest_list();  // Another thread may have sorted meanwhile.
  if (list->entries() >= inserted.entries) return list;
  SharedList next = std::make_shared<const ChunkList>(*list, arena_, memory_, inserted, split);
  const MutexLock publishing(list_mutex_);
  list_ = next;  // The old one is freed with `list`, after this lock.
  return next;
}

OrderOnDemand::SharedList OrderOnDemand::newest_list() const {
  const MutexLock lock(list_mutex_);
  return list_;
}

}  // namespace tamis
