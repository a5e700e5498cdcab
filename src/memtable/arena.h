// Memory for entries: handed out bit by bit, never moved, freed all at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "memtable/counted_bytes.h"

namespace tamis {

/// A place is a 32-bit number of 8-byte units, so that slots and links take half of what pointers would.
///
/// Memory comes in chunks. Its first chunks are small and later ones an eighth of what is there, so that a small
/// memtable stays small and a large one has few. A span is 64 MiB of places; a chunk begins a span, and one that is
/// larger takes several in a row:
///
///     place    | span: 9 bits | units into the span: 23 bits |
///
/// Invariants:
///  1. What was allocated stays where it is until the arena goes.
///  2. After reserve(b) has succeeded, allocations of b bytes in all, each rounded up to units, cannot fail: they fit
///     into what is left of the current chunk, or into the spare one.
///
/// Threads: one reserves and allocates; any number calls `at` with places that were published to them.
class Arena {
 public:
  enum class Place : std::uint32_t { kNone = 0 };
  static constexpr std::size_t kUnitBytes = 8;

  explicit Arena(MemoryCount& memory) : memory_(memory) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// False when the memory is not to be had; nothing has changed then.
  [[nodiscard]] bool reserve(std::size_t bytes);
  /// Aligned to a unit, bytes not set. Needs a reservation.
  [[nodiscard]] Place allocate(std::size_t bytes);

  /// What was allocated, and what was left over at the ends of chunks.
  [[nodiscard]] std::size_t used_bytes() const { return taken_bytes_ - left_units_ * kUnitBytes; }

  [[nodiscard]] void* at(Place place) const {
    const auto number = static_cast<std::uint32_t>(place);
    return spans_[number >> kSpanBits] + std::size_t{number & (kSpanUnits - 1)} * kUnitBytes;
  }

 private:
  static constexpr unsigned kSpanBits = 23;
  static constexpr std::uint32_t kSpanUnits = std::uint32_t{1} << kSpanBits;
  static constexpr std::size_t kSpanBytes = kSpanUnits * kUnitBytes;
  static constexpr std::size_t kSpans = std::size_t{1} << (32 - kSpanBits);
  static constexpr std::size_t kSmallestChunkBytes = 8 << 10;

  static std::size_t spans_for(std::size_t bytes) { return (bytes + kSpanBytes - 1) / kSpanBytes; }
  [[nodiscard]] std::size_t regular_chunk_bytes() const;
  Place use_spare(std::size_t units);

  MemoryCount& memory_;
  std::array<std::byte*, kSpans> spans_ = {};  // Where each begins. The first is left out: no entry has place 0.
  std::array<CountedBytes, kSpans> chunks_;    // By their first span.
  std::size_t next_span_ = 1;
  std::size_t taken_bytes_ = 0;  // All chunks but the spare.
  std::uint32_t next_ = 0;       // Place of the next allocation from the current chunk.
  std::size_t left_units_ = 0;   // In the current chunk, from next_ on.
  CountedBytes spare_;
};

}  // namespace tamis
