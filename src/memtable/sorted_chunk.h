// A sorted run of a memtable's entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "memtable/chunk_items.h"

namespace tamis {

/// The first `entries` inserted entries; `newest` is the last of them.
struct InsertedEntries {
  std::uint32_t entries = 0;
  Arena::Place newest = Arena::Place::kNone;
};

class SortedChunk;
using SharedChunk = std::shared_ptr<const SortedChunk>;

/// Sorted entries. Heads begin after the prefix shared by all keys; otherwise keys such as URLs would always need a
/// full comparison.
///
/// Construction throws std::bad_alloc if memory is short.
///
/// Threads: immutable after construction. Arena and count must outlive it.
class SortedChunk {
 public:
  /// Sorts the last `count` of the inserted entries, at least one. Heads begin after `shared`, which must be in the
  /// arena, or after less of it if a key does not share it all.
  static SharedChunk of_last(const Arena& arena, MemoryCount& memory, InsertedEntries inserted, std::size_t count,
                             std::string_view shared);
  /// Merges two chunks whose heads begin at the same byte.
  static SharedChunk merged(const SortedChunk& first, const SortedChunk& second);
  /// A copy whose heads begin earlier.
  [[nodiscard]] SharedChunk with_heads_after(std::string_view shared) const;

  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] std::span<const ChunkItem> items() const { return items_.items(); }
  [[nodiscard]] std::string_view shared() const { return shared_; }
  [[nodiscard]] const Arena& arena() const { return arena_; }
  /// The first entry at or after the position; size() if there is none.
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
  std::string_view shared_;  // A prefix shared by all keys; in the arena.
};

}  // namespace tamis
