#include "memtable/order_on_demand.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "entry/merging_iterator.h"

namespace tamis {
namespace {

/// Each at least twice its successor, the last of twelve holds less than 1/2,000 of the entries: little to merge with
/// every new tail, however often somebody asks.
constexpr std::size_t kMostChunks = 12;

}  // namespace

/// Threads: constant once published.
struct OrderOnDemand::ChunkList {
  explicit ChunkList(MemoryCount& memory) : charge(memory, sizeof(ChunkList)) {}

  /// Largest and oldest first; one place more than there may be when all is done.
  std::array<std::shared_ptr<const SortedChunk>, kMostChunks + 1> chunks;
  std::size_t size = 0;
  std::uint32_t entries = 0;
  MemoryCharge charge;

  [[nodiscard]] bool last_two_should_merge() const {
    return size > kMostChunks || (size > 1 && chunks[size - 2]->size() < 2 * chunks[size - 1]->size());
  }
  void merge_last_two() {
    chunks[size - 2] = SortedChunk::merged(*chunks[size - 2], *chunks[size - 1]);
    chunks[--size].reset();
  }
};

OrderOnDemand::OrderOnDemand(const Arena& arena, MemoryCount& memory)
    : arena_(arena), memory_(memory), list_(std::make_shared<const ChunkList>(memory)) {}
OrderOnDemand::~OrderOnDemand() = default;

std::unique_ptr<EntryIterator> OrderOnDemand::iterate(InsertedEntries inserted) {
  const SharedList list = list_of(inserted);
  std::vector<std::unique_ptr<EntryIterator>> runs;
  runs.reserve(list->size);
  for (std::size_t i = list->size; i-- > 0;) runs.push_back(make_chunk_iterator(list->chunks[i]));
  return make_merging_iterator(std::move(runs));
}

std::size_t OrderOnDemand::chunks() const { return newest_list()->size; }

OrderOnDemand::SharedList OrderOnDemand::list_of(InsertedEntries inserted) {
  if (SharedList list = newest_list(); list->entries >= inserted.entries) return list;
  const MutexLock sorting(sort_mutex_);
  SharedList list = newest_list();  // Another one may have sorted while we waited.
  if (list->entries >= inserted.entries) return list;
  SharedList next = extended(*list, inserted);
  const MutexLock publishing(list_mutex_);
  list_ = next;
  return next;
}

OrderOnDemand::SharedList OrderOnDemand::extended(const ChunkList& list, InsertedEntries inserted) {
  auto next = std::make_shared<ChunkList>(memory_);
  next->chunks = list.chunks;
  next->size = list.size;
  next->entries = inserted.entries;
  next->chunks[next->size++] = SortedChunk::of_last(arena_, memory_, inserted, inserted.entries - list.entries);
  while (next->last_two_should_merge()) next->merge_last_two();
  return next;
}

OrderOnDemand::SharedList OrderOnDemand::newest_list() const {
  const MutexLock lock(list_mutex_);
  return list_;
}

}  // namespace tamis
