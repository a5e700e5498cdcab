// One block in memory, with what the cache knows about it, and the lists frames hang in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/aligned_bytes.h"
#include "base/hash.h"

namespace tamis {

class CacheShard;

/// Which block: the number of a table, unique among all that share the cache, and the block's number inside it.
struct BlockKey {
  std::uint64_t table = 0;
  std::uint32_t block = 0;

  friend bool operator==(const BlockKey&, const BlockKey&) = default;
};

/// The one hash of a key. Which bits go where: the lowest choose the bucket of FrameIndex, bits 24..55 are the
/// fingerprint that outlives an evicted block, the top 8 choose the shard. The first two may overlap; neither may touch
/// the shard's bits, which are the same for all blocks of a shard.
constexpr std::uint64_t hash_of(const BlockKey& key) { return remix(key.table * 0x9e3779b97f4a7c15U + key.block); }
constexpr std::uint32_t fingerprint_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 24); }
constexpr std::size_t shard_of(std::uint64_t hash, std::size_t shards) { return (hash >> 56) & (shards - 1); }

/// A block and its bookkeeping.
///
/// Invariants:
///  1. The first group of members never changes, so whoever holds a pin reads the bytes without a lock.
///  2. A frame is alive exactly while it is kept (in the shard's index and in one queue of its policy) or pinned.
///
/// Threads: the second and third group are guarded by the mutex of `shard`.
struct Frame {
  Frame(CacheShard& owner, const BlockKey& block_key, std::uint64_t key_hash, AlignedBytes block, std::size_t charge)
      : shard(owner), key(block_key), hash(key_hash), bytes(std::move(block)), charge_bytes(charge) {}

  CacheShard& shard;
  const BlockKey key;
  const std::uint64_t hash;
  const AlignedBytes bytes;
  const std::size_t charge_bytes;  // Of the block and of this bookkeeping.

  Frame* next = nullptr;  // In a bucket of FrameIndex, or in a FrameChain; never both.
  std::uint32_t pins = 0;
  bool is_kept = false;

  // The policy's.
  std::uint8_t frequency = 0;
  std::uint8_t queue = 0;
  Frame* older = nullptr;
  Frame* newer = nullptr;
};

/// What keeping a block costs beside the block: the frame, what malloc adds to two allocations, and at most four
/// buckets of the index (FrameIndex, invariant 2).
inline constexpr std::size_t kFrameOverheadBytes = sizeof(Frame) + 2 * 16 + 4 * sizeof(Frame*);

/// Frames on their way out: owned, chained through `next`, deleted with the chain. A function declares it before it
/// takes the shard's mutex, so that memory is given back after the mutex is released.
///
/// Threads: one.
class FrameChain {
 public:
  FrameChain() = default;
  FrameChain(FrameChain&& other) noexcept : first_(std::exchange(other.first_, nullptr)) {}
  FrameChain(const FrameChain&) = delete;
  FrameChain& operator=(const FrameChain&) = delete;
  FrameChain& operator=(FrameChain&&) = delete;
  ~FrameChain() {
    while (Frame* frame = pop()) delete frame;
  }

  void push(Frame* frame) { frame->next = std::exchange(first_, frame); }
  /// Gives up ownership. Null when there is none.
  Frame* pop() {
    Frame* frame = first_;
    if (frame != nullptr) first_ = std::exchange(frame->next, nullptr);
    return frame;
  }

 private:
  Frame* first_ = nullptr;
};

/// A queue of frames in order of arrival, which any frame may leave at any time; it knows how many bytes stand in it.
/// Owns nothing.
///
/// Threads: as its policy.
class FrameQueue {
 public:
  [[nodiscard]] bool empty() const { return oldest_ == nullptr; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Null when empty.
  [[nodiscard]] Frame* oldest() const { return oldest_; }

  void push_newest(Frame& frame) {
    frame.newer = nullptr;
    frame.older = newest_;
    (newest_ != nullptr ? newest_->newer : oldest_) = &frame;
    newest_ = &frame;
    bytes_ += frame.charge_bytes;
  }
  void remove(Frame& frame) {
    (frame.older != nullptr ? frame.older->newer : oldest_) = frame.newer;
    (frame.newer != nullptr ? frame.newer->older : newest_) = frame.older;
    frame.older = frame.newer = nullptr;
    bytes_ -= frame.charge_bytes;
  }

 private:
  Frame* oldest_ = nullptr;
  Frame* newest_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tamis
