#include "memtable/chunk_list.h"

#include <string_view>

#include "base/check.h"

namespace tamis {

ChunkList::ChunkList(const ChunkList& before, const Arena& arena, MemoryCount& memory, InsertedEntries inserted)
    : chunks_(before.chunks_), size_(before.size_), entries_(inserted.entries), charge_(memory, sizeof(ChunkList)) {
  TAMIS_INVARIANT(before.entries_ < entries_);
  const std::string_view shared = size_ > 0 ? chunks_[0]->shared() : EntryRecord::at(arena, inserted.newest).key();
  chunks_[size_] = SortedChunk::of_last(arena, memory, inserted, entries_ - before.entries_, shared);
  const std::string_view shared_now = chunks_[size_]->shared();
  if (shared_now.size() != shared.size()) {
    for (std::size_t i = 0; i < size_; ++i) chunks_[i] = chunks_[i]->with_heads_after(shared_now);
  }
  ++size_;
  while (last_two_should_merge()) merge_last_two();
}

bool ChunkList::last_two_should_merge() const {
  return size_ > kMaxChunks || (size_ > 1 && chunks_[size_ - 2]->size() < 2 * chunks_[size_ - 1]->size());
}

void ChunkList::merge_last_two() {
  chunks_[size_ - 2] = SortedChunk::merged(*chunks_[size_ - 2], *chunks_[size_ - 1]);
  chunks_[--size_].reset();
}

}  // namespace tamis
