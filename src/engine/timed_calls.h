// How long the calls of an open store take.
#pragma once

#include <cstdint>

#include "engine/latency_histogram.h"
#include "tamis/stats.h"

namespace tamis {

/// Chooses the gets that are timed: one in kGetsPerSample on average, after a random number of others, so that no order
/// in which a thread asks keeps some of them from being timed. A get that is not costs a decrement.
///
/// Threads: each samples its own gets.
class GetSampling {
 public:
  static constexpr std::int32_t kGetsPerSample = 128;

  static bool is_sampled() {
    if (--left_ >= 0) [[likely]]
      return false;
    return draw();
  }

 private:
  static bool draw();
  /// Gets to skip before the next sample. The model saves the call that other thread-local variables of a shared
  /// library cost, and the registers around it (docs/decisions/0071).
  [[gnu::tls_model("initial-exec")]] static constinit thread_local std::int32_t left_;
};

/// The parts are for calls that come from many threads at once.
///
/// Threads: any.
struct TimedCalls {
  LatencyHistogram get{4};
  LatencyHistogram put{4};
  LatencyHistogram scan{4};
  LatencyHistogram sync{1};
  LatencyHistogram flush{1};
  LatencyHistogram compaction{1};

  [[nodiscard]] Stats::Latencies latencies() const {
    return {.get = get.latency(),
            .put = put.latency(),
            .scan = scan.latency(),
            .sync = sync.latency(),
            .flush = flush.latency(),
            .compaction = compaction.latency()};
  }
};

}  // namespace tamis
