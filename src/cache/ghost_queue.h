// Recently evicted blocks: fingerprints without their blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tamis {

/// A FIFO of evicted blocks. A fingerprint has 32 bits: among 16,384 ghosts one lookup in 260,000 matches another
/// block's, which puts that block in the wrong queue.
///
///     ring    fingerprint, charge, next in bucket   oldest … newest; a power of two, doubled as ghosts come
///     heads   slot + 1 of the first in each bucket  as many as the ring has slots
///
/// Invariants:
///  1. A fingerprint is present at most once.
///  2. A ghost is present while it is among the last `most_ghosts` pushed and the charges of those present add up to at
///     most `limit_bytes`.
///  3. Memory is at most `bytes_for(most_ghosts)`.
///
/// Threads: as its policy.
class GhostQueue {
 public:
  static constexpr std::size_t bytes_for(std::size_t ghosts) {
    return ghosts * (sizeof(Ghost) + sizeof(std::uint32_t));
  }

  /// `most_ghosts` is zero or a power of two, at most 2^31. The newest that still fit stay.
  void set_limits(std::size_t most_ghosts, std::uint64_t limit_bytes);
  /// Remembers a block as the newest.
  void push(std::uint32_t fingerprint, std::uint64_t charge_bytes);
  /// Removes the ghost; returns whether it was present.
  bool take(std::uint32_t fingerprint);

 private:
  struct Ghost {
    std::uint32_t fingerprint = 0;
    std::uint32_t charge_bytes = 0;  // Zero: taken, in no bucket. Larger charges count as 4 GiB.
    std::uint32_t next = 0;          // Slot + 1; zero ends the chain.
  };

  [[nodiscard]] Ghost& at(std::uint64_t position) { return ring_[position & (ring_.size() - 1)]; }
  void link(std::uint64_t position);
  void forget_oldest();
  void forget_beyond_limit();
  void rebuild(std::size_t slots);

  std::vector<Ghost> ring_;
  std::vector<std::uint32_t> heads_;
  std::uint64_t oldest_ = 0;  // Positions only increase; oldest_ == end_ when empty.
  std::uint64_t end_ = 0;
  std::uint64_t bytes_ = 0;
  std::size_t most_ghosts_ = 0;
  std::uint64_t limit_bytes_ = 0;
};

}  // namespace tamis
