// LRU, the textbook baseline: the block that was not asked for the longest leaves. One long scan empties it of
// everything else.
#include "cache/cache_policy.h"

namespace tamis {
namespace {

class Lru final : public EvictionPolicy {
 public:
  void set_capacity(std::size_t /*bytes*/) override {}
  [[nodiscard]] std::size_t reserved_bytes() const override { return 0; }

  void add(Frame& frame) override { queue_.push_newest(frame); }
  void touch(Frame& frame) override {
    queue_.remove(frame);
    queue_.push_newest(frame);
  }
  Frame* evict() override {
    Frame* victim = queue_.oldest();
    if (victim != nullptr) queue_.remove(*victim);
    return victim;
  }
  void remove(Frame& frame) override { queue_.remove(frame); }

 private:
  FrameQueue queue_;
};

}  // namespace

constinit const CachePolicy kLruPolicy = {
    .name = "lru",
    .summary = "the block not asked for the longest leaves",
    .make = [] { return std::unique_ptr<EvictionPolicy>(new Lru); },
};

}  // namespace tamis
