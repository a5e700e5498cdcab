// The order of a memtable's entries, built on demand.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/sync.h"
#include "entry/entry_iterator.h"
#include "memtable/chunk_list.h"
#include "memtable/split_entries.h"

namespace tamis {

/// The newest list of chunks. A reader that needs later entries builds the next one.
///
/// Invariants:
///  1. A list is immutable once published; the next one replaces it and holds more entries.
///  2. A chunk lives, and is counted, as long as the newest list or an iterator holds it.
///
/// Threads: any. One sorts at a time; others wait only if they also need entries that no list has yet.
class OrderOnDemand {
 public:
  OrderOnDemand(const Arena& arena, MemoryCount& memory);

  /// Iterates over at least the inserted entries. Throws std::bad_alloc if memory is short; then nothing changes.
  [[nodiscard]] std::unique_ptr<EntryIterator> iterate(InsertedEntries inserted);
  /// The same in two: chunks whose entries are all older than `split`, and the others.
  [[nodiscard]] std::vector<SplitEntries> iterate_split(InsertedEntries inserted, Sequence split);
  /// The current number of chunks.
  [[nodiscard]] std::size_t chunks() const { return newest_list()->chunks().size(); }

 private:
  using SharedList = std::shared_ptr<const ChunkList>;

  [[nodiscard]] SharedList list_of(InsertedEntries inserted, Sequence split) EXCLUDES(sort_mutex_, list_mutex_);
  [[nodiscard]] SharedList newest_list() const EXCLUDES(list_mutex_);

  const Arena& arena_;
  MemoryCount& memory_;
  Mutex sort_mutex_;          // Held while building the next list; taken before the other.
  mutable Mutex list_mutex_;  // Held for a copy.
  SharedList list_ GUARDED_BY(list_mutex_);
};

}  // namespace tamis
