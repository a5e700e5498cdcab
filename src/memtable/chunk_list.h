// Sorted chunks of a memtable's entries, and the list of those that together hold all entries up to some moment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "entry/entry_iterator.h"
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
  /// No entry has a larger sequence.
  [[nodiscard]] Sequence newest() const { return newest_; }
  /// The first entry at or after the position; size() if there is none.
  [[nodiscard]] std::size_t find(EntryPosition target) const;

  /// Use the functions above.
  SortedChunk(const Arena& arena, MemoryCount& memory, ItemArray items, std::string_view shared, Sequence newest)
      : arena_(arena),
        memory_(memory),
        charge_(memory, sizeof(SortedChunk)),
        items_(std::move(items)),
        shared_(shared),
        newest_(newest) {}

 private:
  const Arena& arena_;
  MemoryCount& memory_;
  MemoryCharge charge_;
  ItemArray items_;
  std::string_view shared_;  // A prefix shared by all keys; in the arena.
  Sequence newest_;
};

/// Chunks, oldest first. Each list is made from the previous one and holds more entries.
///
/// Invariants:
///  1. Each chunk is at least twice as large as its successor, or there are kMaxChunks of them. But no chunk that is
///     older than the split is merged with a newer one, and older ones are merged only when there are too many: a
///     reader with a split passes them by a seek, as long as nothing newer is among them.
///  2. All heads begin at the same byte, so that items of different chunks can be compared. A key with a shorter shared
///     prefix rebuilds all heads: at most once per byte of a key, and mostly while there are few.
///
/// Threads: immutable after construction.
class ChunkList {
 public:
  /// With each chunk twice its successor, the last of twelve holds less than 1/2,000 of the entries: little to merge
  /// with every new tail, however frequent the scans.
  static constexpr std::size_t kMaxChunks = 12;

  /// Empty.
  explicit ChunkList(MemoryCount& memory) : charge_(memory, sizeof(ChunkList)) {}
  /// The entries of `before` and those inserted since, for a reader with this split. Throws std::bad_alloc.
  ChunkList(const ChunkList& before, const Arena& arena, MemoryCount& memory, InsertedEntries inserted,
            Sequence split = {});

  [[nodiscard]] std::uint32_t entries() const { return entries_; }
  [[nodiscard]] std::span<const SharedChunk> chunks() const { return std::span(chunks_).first(size_); }
  /// The number of chunks whose entries are all older than this.
  [[nodiscard]] std::size_t chunks_before(Sequence sequence) const;

 private:
  [[nodiscard]] bool should_merge_with_previous(std::size_t chunk) const {
    return chunks_[chunk - 1]->size() < 2 * chunks_[chunk]->size();
  }
  void merge_with_previous(std::size_t chunk);

  std::array<SharedChunk, kMaxChunks + 1> chunks_;  // One extra while a list is being built.
  std::size_t size_ = 0;
  std::uint32_t entries_ = 0;
  MemoryCharge charge_;
};

/// Iterates over all entries of these chunks of the list, at least one, and keeps the list alive.
std::unique_ptr<EntryIterator> make_chunk_list_iterator(std::shared_ptr<const ChunkList> list,
                                                        std::span<const SharedChunk> chunks);

}  // namespace tamis
