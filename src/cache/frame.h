// A cached block with its metadata, and the lists of frames.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "base/hash.h"
#include "cache/block_buffer.h"

namespace tamis {

class CacheShard;

/// Which block: the table's number, unique among all that share the cache, and the block's number in it.
struct BlockKey {
  std::uint64_t table = 0;
  std::uint32_t block = 0;

  friend bool operator==(const BlockKey&, const BlockKey&) = default;
};

/// The hash of a key. Bit usage: the lowest choose the bucket of FrameIndex, bits 24..55 are the fingerprint that
/// outlives an evicted block, the top 8 choose the shard. The first two may overlap; neither may use the shard's bits,
/// which are equal for all blocks of a shard.
constexpr std::uint64_t hash_of(const BlockKey& key) { return remix(key.table * 0x9e3779b97f4a7c15U + key.block); }
constexpr std::uint32_t fingerprint_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 24); }
constexpr std::size_t shard_of(std::uint64_t hash, std::size_t shards) { return (hash >> 56) & (shards - 1); }

/// What a block holds: hits are counted by kind.
enum class BlockKind : std::uint8_t { kData, kIndex };

/// How a block enters the cache.
enum class BlockOrigin : std::uint8_t {
  kRequested,  ///< Somebody wants it, perhaps only once.
  kRewritten,  ///< It has the contents of blocks that are in the cache.
};

/// A key with its hash.
struct HashedKey {
  BlockKey key;
  std::uint64_t hash = 0;
};

struct Frame;

/// Where a table remembers that one of its blocks is cached (rule 11). Set and cleared under the mutex of the block's
/// shard; read without it, inside an EpochGuard.
using BlockSlot = std::atomic<Frame*>;

/// A block and its bookkeeping. Stored in front of its block, in the block's memory, which it owns.
///
/// Invariants:
///  1. The first group of members never changes, so whoever holds a pin, or is inside the EpochGuard in which it found
///     the frame in a slot, reads the bytes without a lock.
///  2. A frame is alive exactly while it is kept (in the shard's index and in one queue of its policy), pinned, or
///     retired: unlinked while somebody may have found it in its slot.
///
/// Threads: the mutex of `shard` guards the second and third group, except `frequency`.
struct Frame {
  /// `block` must not be empty; `charge` is what `charge_bytes` says.
  static Frame* make(CacheShard& owner, const BlockKey& block_key, std::uint64_t key_hash, BlockBuffer block,
                     std::size_t charge) {
    std::byte* const front = block.frame_place();
    return new (front) Frame(owner, block_key, key_hash, std::move(block), charge);
  }
  static void destroy(Frame* frame) {
    const BlockBuffer memory = std::move(frame->block);  // Freed at the end of this scope, with the frame.
    frame->~Frame();
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  [[nodiscard]] Bytes bytes() const {
    return {reinterpret_cast<const std::byte*>(this) + BlockBuffer::kFrameBytes, block.size()};
  }
  /// What a hit does, with or without the shard's mutex. A count lost to a race does not matter.
  void touch() {
    const std::uint8_t seen = frequency.load(std::memory_order_relaxed);
    if (seen < kMaxFrequency) frequency.store(seen + 1, std::memory_order_relaxed);
  }
  static constexpr std::uint8_t kMaxFrequency = 3;

  CacheShard& shard;
  const BlockKey key;
  const std::uint64_t hash;
  const std::size_t charge_bytes;  // Of the block and of this bookkeeping.

  Frame* next = nullptr;  // In a bucket of FrameIndex or in a FrameChain, never both.
  BlockSlot* slot = nullptr;
  std::uint32_t pins = 0;
  bool is_kept = false;

  // The policy's.
  std::uint8_t queue = 0;
  Frame* older = nullptr;
  Frame* newer = nullptr;

  // In the cache line before the block: what a lookup needs.
  std::atomic<std::uint8_t> frequency = 0;
  BlockBuffer block;

 private:
  Frame(CacheShard& owner, const BlockKey& block_key, std::uint64_t key_hash, BlockBuffer buffer, std::size_t charge)
      : shard(owner), key(block_key), hash(key_hash), charge_bytes(charge), block(std::move(buffer)) {}
  ~Frame() = default;
};
static_assert(sizeof(Frame) <= BlockBuffer::kFrameBytes);

struct FrameDeleter {
  void operator()(Frame* frame) const { Frame::destroy(frame); }
};
using OwnedFrame = std::unique_ptr<Frame, FrameDeleter>;

/// The overhead of a kept block: the frame, at most four buckets of the index (FrameIndex, invariant 2), and what
/// malloc loses for an allocation aligned to a cache line. The last is measured
/// (CacheContract.ChargesAtLeastTheMemoryItTakes).
inline constexpr std::size_t kMallocLossBytes = 96;
inline constexpr std::size_t kFrameOverheadBytes = BlockBuffer::kFrameBytes + 4 * sizeof(void*) + kMallocLossBytes;

/// Frames to be freed: owned, chained through `next`, deleted with the chain. Declared before the shard's mutex is
/// taken, so that memory is freed after the mutex is released.
///
/// Threads: one.
class FrameChain {
 public:
  FrameChain() = default;
  FrameChain(const FrameChain&) = delete;
  FrameChain& operator=(const FrameChain&) = delete;
  ~FrameChain() {
    while (Frame* frame = pop()) Frame::destroy(frame);
  }

  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  void push(Frame* frame) { frame->next = std::exchange(first_, frame); }
  /// Gives up ownership. Null if empty.
  Frame* pop() {
    Frame* frame = first_;
    if (frame != nullptr) first_ = std::exchange(frame->next, nullptr);
    return frame;
  }

 private:
  Frame* first_ = nullptr;
};

/// A queue of frames in order of arrival, which any frame may leave at any time; it tracks its total bytes. Owns
/// nothing.
///
/// Threads: as its policy.
class FrameQueue {
 public:
  [[nodiscard]] bool empty() const { return oldest_ == nullptr; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Null if empty.
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
