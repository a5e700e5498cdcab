// S3-FIFO (Yang et al., SOSP 2023), by bytes: most blocks that are asked for once are never asked for again, so let
// them prove themselves in a small queue before they may take room from those that did.
//
//            asked for again while a ghost
//          ┌────────────────────────────────┐
//      new │          asked for twice       ▼
//     ─────┴─▶ small ─────────────────────▶ main ──▶ out, unless asked for since its last round
//              10 %  └──▶ ghosts ──▶ forgotten    ◀┘
//
// A hit writes two bits and moves nothing.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "cache/cache_policy.h"
#include "cache/ghost_queue.h"

namespace tamis {
namespace {

constexpr std::size_t kSmallShare = 10;                    // The small queue's is a tenth: the paper's choice.
constexpr std::uint8_t kPromotionFrequency = 2;            // The paper's "more than once".
constexpr std::size_t kGhostBlockBytes = 4096;             // At most one ghost for so many bytes of capacity.
constexpr std::size_t kMostGhosts = std::size_t{1} << 31;  // What GhostQueue can number.

/// Invariants:
///  1. Each frame is in the queue that `Frame::queue` names.
///  2. Ghosts stand for at most as many bytes as the main queue may hold, and number at most one per 4 KiB of capacity,
///     rounded up to a power of two: less than 1 % of the capacity in memory, whatever the blocks' sizes.
class S3Fifo final : public EvictionPolicy {
 public:
  void set_capacity(std::size_t bytes) override {
    small_share_bytes_ = bytes / kSmallShare;
    const std::size_t wanted = std::min(bytes / kGhostBlockBytes, kMostGhosts);
    most_ghosts_ = wanted == 0 ? 0 : std::bit_ceil(wanted);
    ghosts_.set_limits(most_ghosts_, bytes - small_share_bytes_);
  }
  [[nodiscard]] std::size_t reserved_bytes() const override { return GhostQueue::bytes_for(most_ghosts_); }

  void add(Frame& frame) override { push(ghosts_.take(fingerprint_of(frame.hash)) ? kMain : kSmall, frame); }

  void touch(Frame& frame) override { frame.touch(); }

  /// Ends: a turn takes a frame from the small queue for good, or lowers a frequency in the main queue.
  Frame* evict() override {
    while (!small_.empty() || !main_.empty()) {
      const bool from_small = !small_.empty() && (small_.bytes() >= small_share_bytes_ || main_.empty());
      if (Frame* victim = from_small ? leave_small() : leave_main()) return victim;
    }
    return nullptr;
  }

  void remove(Frame& frame) override { queue(frame.queue).remove(frame); }

 private:
  enum Queue : std::uint8_t { kSmall, kMain };

  [[nodiscard]] FrameQueue& queue(std::uint8_t number) { return number == kSmall ? small_ : main_; }

  void push(Queue number, Frame& frame) {
    frame.queue = number;
    frame.frequency = 0;
    queue(number).push_newest(frame);
  }

  /// The oldest of the small queue if it leaves the cache, null if it earned a place in the main queue.
  Frame* leave_small() {
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

  /// The oldest of the main queue if it leaves the cache, null if it gets another round.
  Frame* leave_main() {
    Frame& frame = *main_.oldest();
    TAMIS_INVARIANT(frame.queue == kMain);
    main_.remove(frame);
    if (frame.frequency == 0) return &frame;
    --frame.frequency;
    main_.push_newest(frame);
    return nullptr;
  }

  FrameQueue small_;
  FrameQueue main_;
  GhostQueue ghosts_;
  std::size_t small_share_bytes_ = 0;
  std::size_t most_ghosts_ = 0;
};

}  // namespace

constinit const CachePolicy kS3FifoPolicy = {
    .name = "s3fifo",
    .summary = "blocks prove themselves in a small queue first; scans pass through it",
    .make = [] { return std::unique_ptr<EvictionPolicy>(new S3Fifo); },
    .hits_only_touch = true,
};

}  // namespace tamis
