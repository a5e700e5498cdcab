#include "engine/timed_calls.h"

#include <algorithm>

#include "base/random.h"
#include "base/sharded_counter.h"

namespace tamis {

constinit thread_local std::int32_t GetSampling::left_ = 0;

/// After a sample, each number of gets from 0 to twice the mean follows as often. A thread's first get is like any
/// other: somewhere between two samples, where the next one is as far as the nearer of two draws.
bool GetSampling::draw() {
  thread_local SplitMix64 random(thread_number());
  thread_local bool is_first = true;
  const auto skipped = [] { return static_cast<std::int32_t>(random.below(2 * kGetsPerSample - 1)); };
  if (is_first) {
    is_first = false;
    left_ = std::min(skipped(), skipped());
    return --left_ < 0 && draw();
  }
  left_ = skipped();
  return true;
}

}  // namespace tamis
