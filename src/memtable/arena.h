// Memory for entries: allocated incrementally, never moved, freed all at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "memtable/counted_bytes.h"

namespace tamis {

/// A place is a 32-bit number of 8-byte units, so that slots and links take half the space of pointers.
///
/// Memory comes in chunks. The first chunks are small; each later one is an eighth of the total so far. So a small
/// memtable stays small and a large one has few chunks. A span is 64 MiB of places. A chunk begins a span; a larger
/// chunk takes several consecutive spans:
///
///     place    | span: 9 bits | units into the span: 23 bits |
///
/// Invariants:
///  1. An allocation never moves until the arena is destroyed.
///  2. After reserve(b) succeeds, allocations totalling b bytes, each rounded up to units, cannot fail: they fit in the
///     rest of the current chunk, or in the spare one.
///
/// Threads: one reserves and allocates; any number call `at` with places published to them.
class Arena {
 public:
  enum class Place : std::uint32_t { kNone = 0 };
  static constexpr std::size_t kUnitBytes = 8;

  explicit Arena(MemoryCount& memory) : memory_(memory) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// False if memory is short; then nothing changes.
  [[nodiscard]] bool reserve(std::size_t bytes);
  /// Aligned to a unit, uninitialised. Requires a reservation.
  [[nodiscard]] Place allocate(std::size_t bytes);

  /// The bytes allocated, and those left over at the ends of chunks.
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
  static constexpr std::size_t kMinChunkBytes = 8 << 10;

  static std::size_t spans_for(std::size_t bytes) { return (bytes + kSpanBytes - 1) / kSpanBytes; }
  [[nodiscard]] std::size_t regular_chunk_bytes() const;
  Place use_spare(std::size_t units);

  MemoryCount& memory_;
  std::array<std::byte*, kSpans> spans_ = {};  // The start of each. The first is unused: no entry has place 0.
  std::array<CountedBytes, kSpans> chunks_;    // By their first span.
  std::size_t next_span_ = 1;
  std::size_t taken_bytes_ = 0;  // All chunks but the spare.
  std::uint32_t next_ = 0;       // Place of the next allocation in the current chunk.
  std::size_t left_units_ = 0;   // In the current chunk, from next_ on.
  CountedBytes spare_;
};

}  // namespace tamis
