// The eviction policy of the block cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/frame.h"
#include "cache/ghost_queue.h"

namespace tamis {

/// S3-FIFO (Yang et al., SOSP 2023), by bytes. Most blocks that are requested once are never requested again, so new
/// blocks must prove themselves in a small queue before they displace blocks that did.
///
///            requested again while a ghost
///          ┌────────────────────────────────┐
///      new │          requested twice       ▼
///     ─────┴─▶ small ─────────────────────▶ main ──▶ out, unless requested since its last round
///              10 %  └──▶ ghosts ──▶ forgotten    ◀┘
///
/// A hit is Frame::touch: it writes two bits, moves nothing and needs no mutex. This class owns no frames and enforces
/// no budget: the shard calls `evict` until there is space.
///
/// Invariants:
///  1. A frame is in the queue that `Frame::queue` names, from `add` until `evict` returns it or `remove` names it.
///  2. Pins change nothing: a pinned frame is evicted like any other, and lives on outside the cache.
///  3. Ghosts represent at most as many bytes as the main queue may hold, and number at most one per 4 KiB of capacity,
///     rounded up to a power of two: less than 1 % of the capacity in memory, whatever the block sizes.
///
/// Threads: every call is made under the shard's mutex.
class S3Fifo {
 public:
  /// Call before the first `add`, and whenever the shard's capacity changes.
  void set_capacity(std::size_t bytes);
  /// The most memory that the ghosts may use; a function of the capacity.
  [[nodiscard]] std::size_t reserved_bytes() const { return GhostQueue::bytes_for(most_ghosts_); }

  void add(Frame& frame) { push(ghosts_.take(fingerprint_of(frame.hash)) ? kMain : kSmall, frame); }
  /// A block that takes the place of others, which were requested before.
  void add_proven(Frame& frame) { push(kMain, frame); }
  /// Chooses a frame and forgets it. Null only when there is none.
  Frame* evict();
  void remove(Frame& frame) { queue(frame.queue).remove(frame); }

 private:
  enum Queue : std::uint8_t { kSmall, kMain };

  [[nodiscard]] FrameQueue& queue(std::uint8_t number) { return number == kSmall ? small_ : main_; }
  void push(Queue number, Frame& frame);
  /// The oldest of the small queue if it leaves the cache, null if it earned a place in the main queue.
  Frame* leave_small();
  /// The oldest of the main queue if it leaves the cache, null if it gets another round.
  Frame* leave_main();

  FrameQueue small_;
  FrameQueue main_;
  GhostQueue ghosts_;
  std::size_t small_share_bytes_ = 0;
  std::size_t most_ghosts_ = 0;
};

}  // namespace tamis
