// The chunks that together hold all entries up to some moment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "entry/entry_iterator.h"
#include "memtable/sorted_chunk.h"

namespace tamis {

/// Chunks, oldest first. Each list is made from the previous one and holds more entries.
///
/// Invariants:
///  1. Each chunk is at least twice as large as its successor, or there are kMaxChunks of them.
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
  /// The entries of `before` and those inserted since. Throws std::bad_alloc.
  ChunkList(const ChunkList& before, const Arena& arena, MemoryCount& memory, InsertedEntries inserted);

  [[nodiscard]] std::uint32_t entries() const { return entries_; }
  [[nodiscard]] std::span<const SharedChunk> chunks() const { return std::span(chunks_).first(size_); }

 private:
  [[nodiscard]] bool last_two_should_merge() const;
  void merge_last_two();

  std::array<SharedChunk, kMaxChunks + 1> chunks_;  // One extra while a list is being built.
  std::size_t size_ = 0;
  std::uint32_t entries_ = 0;
  MemoryCharge charge_;
};

/// Iterates over all entries of a list, and keeps its chunks alive.
std::unique_ptr<EntryIterator> make_chunk_list_iterator(std::shared_ptr<const ChunkList> list);

}  // namespace tamis
