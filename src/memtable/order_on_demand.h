// The order of a memtable's entries, made when somebody asks for it.
#pragma once

#include <cstddef>
#include <memory>

#include "base/sync.h"
#include "entry/entry_iterator.h"
#include "memtable/sorted_chunk.h"

namespace tamis {

/// Sorted chunks that together hold the entries up to some moment. Who wants later ones sorts what came since into one
/// more chunk, then merges chunks until each is at least twice its successor and there are at most twelve.
///
/// Invariants:
///  1. A list of chunks is never changed once published; the next one replaces it and holds more entries.
///  2. A chunk lives as long as the newest list or an iterator has it, and is counted as long as it lives.
///
/// Threads: any. One sorts at a time; others wait for it only when they, too, want entries that no list has yet.
class OrderOnDemand {
 public:
  OrderOnDemand(const Arena& arena, MemoryCount& memory);
  ~OrderOnDemand();

  /// Walks over at least the inserted entries. Throws std::bad_alloc when memory runs out; nothing has changed then.
  [[nodiscard]] std::unique_ptr<EntryIterator> iterate(InsertedEntries inserted);
  /// How many there are at the moment.
  [[nodiscard]] std::size_t chunks() const;

 private:
  struct ChunkList;
  using SharedList = std::shared_ptr<const ChunkList>;

  [[nodiscard]] SharedList list_of(InsertedEntries inserted) EXCLUDES(sort_mutex_, list_mutex_);
  [[nodiscard]] SharedList extended(const ChunkList& list, InsertedEntries inserted) REQUIRES(sort_mutex_);
  [[nodiscard]] SharedList newest_list() const EXCLUDES(list_mutex_);

  const Arena& arena_;
  MemoryCount& memory_;
  Mutex sort_mutex_;          // Held by who makes the next list; taken before the other.
  mutable Mutex list_mutex_;  // Held for the time of a copy.
  SharedList list_ GUARDED_BY(list_mutex_);
};

}  // namespace tamis
