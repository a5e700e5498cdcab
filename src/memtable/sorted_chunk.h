// A run of a memtable's entries in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "memtable/chunk_items.h"

namespace tamis {

/// The first `entries` entries that were inserted; `newest` is the last of them.
struct InsertedEntries {
  std::uint32_t entries = 0;
  Arena::Place newest = Arena::Place::kNone;
};

class SortedChunk;
using SharedChunk = std::shared_ptr<const SortedChunk>;

/// Some entries in order. Heads begin after what all keys share; without that, keys such as URLs would have to be
/// compared whole every time.
///
/// Making one throws std::bad_alloc when memory runs out.
///
/// Threads: constant after construction. Arena and count must outlive it.
class SortedChunk {
 public:
  /// Of the last `count` of the inserted entries, at least one. Heads begin after `shared`, which must be in the arena,
  /// or after less of it when a key begins otherwise.
  static SharedChunk of_last(const Arena& arena, MemoryCount& memory, InsertedEntries inserted, std::size_t count,
                             std::string_view shared);
  /// Of two chunks whose heads begin at the same byte.
  static SharedChunk merged(const SortedChunk& first, const SortedChunk& second);
  /// A copy whose heads begin earlier.
  [[nodiscard]] SharedChunk with_heads_after(std::string_view shared) const;

  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] std::span<const ChunkItem> items() const { return items_.items(); }
  [[nodiscard]] std::string_view shared() const { return shared_; }
  [[nodiscard]] const Arena& arena() const { return arena_; }
  /// The first entry at or after the position; size() when there is none.
  [[nodiscard]] std::size_t find(EntryPosition target) const;

  /// Use the functions above.
  SortedChunk(const Arena& arena, MemoryCount& memory, ItemArray items, std::string_view shared)
      : arena_(arena),
        memory_(memory),
        charge_(memory, sizeof(SortedChunk)),
        items_(std::move(items)),
        shared_(shared) {}

 private:
  const Arena& arena_;
  MemoryCount& memory_;
  MemoryCharge charge_;
  ItemArray items_;
  std::string_view shared_;  // What all keys begin with, or less; in the arena.
};

}  // namespace tamis
