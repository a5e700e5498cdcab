// A run of a memtable's entries in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "entry/entry_iterator.h"
#include "memtable/chunk_items.h"

namespace tamis {

/// The first `entries` entries that were inserted; `newest` is the last of them.
struct InsertedEntries {
  std::uint32_t entries = 0;
  Arena::Place newest = Arena::Place::kNone;
};

/// Some entries in order. Heads begin after what all keys of the chunk share; without that, keys such as URLs would
/// have to be compared whole every time.
///
/// Making one throws std::bad_alloc when memory runs out.
///
/// Threads: constant after construction. Arena and count must outlive it.
class SortedChunk {
 public:
  /// Of the last `count` of the inserted entries; at least one.
  static std::shared_ptr<const SortedChunk> of_last(const Arena& arena, MemoryCount& memory, InsertedEntries inserted,
                                                    std::size_t count);
  static std::shared_ptr<const SortedChunk> merged(const SortedChunk& first, const SortedChunk& second);

  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] const EntryRecord& operator[](std::size_t index) const {
    return EntryRecord::at(arena_, items_.items()[index].place);
  }
  /// The first entry at or after the position; size() when there is none.
  [[nodiscard]] std::size_t find(EntryPosition target) const;
  /// Starts loading an entry, if there is one of this index.
  void prefetch(std::size_t index) const {
    if (index < size()) __builtin_prefetch(arena_.at(items_.items()[index].place));
  }

  /// Use of_last and merged.
  SortedChunk(const Arena& arena, MemoryCount& memory, ItemArray items, std::string_view shared)
      : arena_(arena),
        memory_(memory),
        charge_(memory, sizeof(SortedChunk)),
        items_(std::move(items)),
        shared_(shared) {}

 private:
  [[nodiscard]] std::optional<ItemArray> with_heads_after(std::string_view shared) const;

  const Arena& arena_;
  MemoryCount& memory_;
  MemoryCharge charge_;
  ItemArray items_;
  std::string_view shared_;  // What all keys begin with; in the arena.
};

/// Walks over a chunk and keeps it.
std::unique_ptr<EntryIterator> make_chunk_iterator(std::shared_ptr<const SortedChunk> chunk);

}  // namespace tamis
