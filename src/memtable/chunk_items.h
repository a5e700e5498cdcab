// The items sorted in place of entries, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "entry/entry.h"
#include "memtable/arena.h"
#include "memtable/counted_bytes.h"
#include "memtable/entry_record.h"

namespace tamis {

/// An entry of a chunk, with enough of its key to decide nearly every comparison without reading the entry.
struct ChunkItem {
  std::uint64_t head;  // The eight bytes of the key after the prefix shared by the chunk; see key_head.
  Arena::Place place;
};

/// The order of EntryPosition, for items whose heads begin at the same byte.
class ItemOrder {
 public:
  explicit ItemOrder(const Arena& arena) : arena_(arena) {}

  bool operator()(const ChunkItem& a, const ChunkItem& b) const {
    if (a.head != b.head) [[likely]]
      return a.head < b.head;
    return EntryRecord::at(arena_, a.place).position() < EntryRecord::at(arena_, b.place).position();
  }
  [[nodiscard]] bool is_before(const ChunkItem& item, std::uint64_t head, EntryPosition position) const {
    return item.head != head ? item.head < head : EntryRecord::at(arena_, item.place).position() < position;
  }

 private:
  const Arena& arena_;
};

/// A counted array of uninitialised items. Construction throws std::bad_alloc.
///
/// Threads: like std::vector.
class ItemArray {
 public:
  ItemArray(MemoryCount& memory, std::size_t count);

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::span<ChunkItem> items() { return {static_cast<ChunkItem*>(start()), size()}; }
  [[nodiscard]] std::span<const ChunkItem> items() const { return {static_cast<const ChunkItem*>(start()), size()}; }

 private:
  void* start() { return memory_.data(); }
  [[nodiscard]] const void* start() const { return memory_.data(); }

  CountedBytes memory_;
  std::size_t count_;
};

/// Sorts by ItemOrder; fastest if entries with equal heads are already in order.
void sort_items(ItemArray& items, const ItemOrder& order, MemoryCount& memory);

}  // namespace tamis
