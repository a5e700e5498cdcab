// The order of a memtable's entries, made when somebody asks for it.
#pragma once

#include <cstddef>
#include <memory>

#include "base/sync.h"
#include "entry/entry_iterator.h"
#include "memtable/chunk_list.h"

namespace tamis {

/// The newest list of chunks. Who wants later entries than it has makes the next one.
///
/// Invariants:
///  1. A list is never changed once published; the next one replaces it and holds more entries.
///  2. A chunk lives as long as the newest list or an iterator has it, and is counted as long as it lives.
///
/// Threads: any. One sorts at a time; others wait for it only when they, too, want entries that no list has yet.
class OrderOnDemand {
 public:
  OrderOnDemand(const Arena& arena, MemoryCount& memory);

  /// Walks over at least the inserted entries. Throws std::bad_alloc when memory runs out; nothing has changed then.
  [[nodiscard]] std::unique_ptr<EntryIterator> iterate(InsertedEntries inserted);
  /// How many there are at the moment.
  [[nodiscard]] std::size_t chunks() const { return newest_list()->chunks().size(); }

 private:
  using SharedList = std::shared_ptr<const ChunkList>;

  [[nodiscard]] SharedList list_of(InsertedEntries inserted) EXCLUDES(sort_mutex_, list_mutex_);
  [[nodiscard]] SharedList newest_list() const EXCLUDES(list_mutex_);

  const Arena& arena_;
  MemoryCount& memory_;
  Mutex sort_mutex_;          // Held by who makes the next list; taken before the other.
  mutable Mutex list_mutex_;  // Held for the time of a copy.
  SharedList list_ GUARDED_BY(list_mutex_);
};

}  // namespace tamis
