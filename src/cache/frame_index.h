// Maps a block's key to its frame.
#pragma once

#include <cstddef>
#include <vector>

#include "cache/frame.h"

namespace tamis {

/// A hash table of a shard's kept frames, chained through the frames: a lookup allocates nothing and reads one bucket
/// and, nearly always, one frame. Owns nothing.
///
/// Invariants:
///  1. No two frames have the same key.
///  2. There are at most four buckets per frame, or 16 in total, so that its memory shrinks with the cache.
///
/// Threads: as its shard.
class FrameIndex {
 public:
  FrameIndex() : buckets_(kMinBuckets) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t buckets() const { return buckets_.size(); }
  /// Null if absent.
  [[nodiscard]] Frame* find(const BlockKey& key, std::uint64_t hash) const {
    Frame* frame = buckets_[hash & (buckets_.size() - 1)];
    while (frame != nullptr && frame->key != key) frame = frame->next;
    return frame;
  }

  /// The key must be absent.
  void insert(Frame& frame);
  /// The frame must be present.
  void remove(Frame& frame);
  /// Removes and returns the frame of this key; null if absent. Adds the number of frames examined.
  Frame* take(const BlockKey& key, std::uint64_t hash, std::size_t& looked_at);

 private:
  static constexpr std::size_t kMinBuckets = 16;

  [[nodiscard]] Frame*& bucket_of(const Frame& frame) { return buckets_[frame.hash & (buckets_.size() - 1)]; }
  void fit_buckets() noexcept;
  void rehash(std::vector<Frame*> buckets) noexcept;

  std::vector<Frame*> buckets_;  // A power of two.
  std::size_t size_ = 0;
};

}  // namespace tamis
