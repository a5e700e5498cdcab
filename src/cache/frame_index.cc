#include "cache/frame_index.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "base/check.h"

namespace tamis {

void FrameIndex::insert(Frame& frame) {
  TAMIS_INVARIANT(find(frame.key, frame.hash) == nullptr);
  frame.next = std::exchange(bucket_of(frame), &frame);
  ++size_;
  fit_buckets();
}

void FrameIndex::remove(Frame& frame) {
  Frame** link = &bucket_of(frame);
  while (*link != &frame) link = &(*link)->next;
  *link = std::exchange(frame.next, nullptr);
  --size_;
  fit_buckets();
}

Frame* FrameIndex::take(const BlockKey& key, std::uint64_t hash, std::size_t& looked_at) {
  Frame** link = &buckets_[hash & (buckets_.size() - 1)];
  for (; *link != nullptr; link = &(*link)->next) {
    ++looked_at;
    Frame* const frame = *link;
    if (frame->key != key) continue;
    *link = std::exchange(frame->next, nullptr);
    --size_;
    fit_buckets();
    return frame;
  }
  return nullptr;
}

/// Grows if there are more frames than buckets, shrinks below one frame in four buckets; either way to about one frame
/// in two buckets, so that the next change is far off. If there is no memory for them, the buckets stay as they are:
/// the frame is in the index already, or gone.
void FrameIndex::fit_buckets() noexcept {
  const bool too_few = size_ > buckets_.size();
  const bool too_many = size_ * 4 < buckets_.size() && buckets_.size() > kMinBuckets;
  if (!too_few && !too_many) return;
  try {
    rehash(std::vector<Frame*>(std::max(std::bit_ceil(size_ + size_ / 2), kMinBuckets)));
  } catch (const std::bad_alloc&) {
    return;
  }
}

void FrameIndex::rehash(std::vector<Frame*> buckets) noexcept {
  std::swap(buckets_, buckets);
  for (Frame* frame : buckets) {
    while (frame != nullptr) {
      Frame* next = frame->next;
      frame->next = std::exchange(bucket_of(*frame), frame);
      frame = next;
    }
  }
}

}  // namespace tamis
