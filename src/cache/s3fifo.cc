#include "cache/s3fifo.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace tamis {
namespace {

constexpr std::size_t kSmallShare = 10;                   // The small queue gets a tenth: the paper's choice.
constexpr std::uint8_t kPromotionFrequency = 2;           // The paper's "more than once".
constexpr std::size_t kGhostBlockBytes = 4096;            // At most one ghost per this many bytes of capacity.
constexpr std::size_t kMaxGhosts = std::size_t{1} << 31;  // What GhostQueue can number.

}  // namespace

void S3Fifo::set_capacity(std::size_t bytes) {
  small_share_bytes_ = bytes / kSmallShare;
  const std::size_t wanted = std::min(bytes / kGhostBlockBytes, kMaxGhosts);
  most_ghosts_ = wanted == 0 ? 0 : std::bit_ceil(wanted);
  ghosts_.set_limits(most_ghosts_, bytes - small_share_bytes_);
}

/// Ends: a turn takes a frame from the small queue for good, or lowers a frequency in the main queue.
Frame* S3Fifo::evict() {
  while (!small_.empty() || !main_.empty()) {
    const bool from_small = !small_.empty() && (small_.bytes() >= small_share_bytes_ || main_.empty());
    if (Frame* victim = from_small ? leave_small() : leave_main()) return victim;
  }
  return nullptr;
}

void S3Fifo::push(Queue number, Frame& frame) {
  frame.queue = number;
  frame.frequency = 0;
  queue(number).push_newest(frame);
}

Frame* S3Fifo::leave_small() {
  Frame& frame = *small_.oldest();
  TAMIS_INVARIANT(frame.queue == kSmall);
  small_.remove(frame);
  if (frame.frequency >= kPromotionFrequency) {
    push(kMain, frame);
    return nullptr;
  }
  ghosts_.push(fingerprint_of(frame.hash), frame.charge_bytes);
  return &frame;
}

Frame* S3Fifo::leave_main() {
  Frame& frame = *main_.oldest();
  TAMIS_INVARIANT(frame.queue == kMain);
  main_.remove(frame);
  if (frame.frequency == 0) return &frame;
  --frame.frequency;
  main_.push_newest(frame);
  return nullptr;
}

}  // namespace tamis
