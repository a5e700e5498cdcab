// Samples probes, where counting each would cost more than the probe.
#pragma once

#include <cstdint>

namespace tamis {

/// Samples each probe at random with probability 1/kProbesPerSample: in whatever order a thread asks tables, each
/// table's samples are a fair share of its probes. (When every 64th probe of a thread was counted, all samples fell to
/// one of two tables asked in turn.) The number of probes until the next sample is drawn, so a probe costs a decrement.
///
/// Threads: each samples its own probes.
class ProbeSampling {
 public:
  static constexpr std::uint32_t kProbesPerSample = 64;

  static bool is_sampled() {
    if (left_ == 0) [[unlikely]]
      return draw();
    --left_;
    return false;
  }
  /// For this many probes at once: true if none of them is sampled. Otherwise nothing has changed, and each must be
  /// asked about.
  static bool skips(std::uint32_t probes) {
    if (probes > left_) [[unlikely]]
      return false;
    left_ -= probes;
    return true;
  }

 private:
  static bool draw();
  static constinit thread_local std::uint32_t left_;  // Probes to skip before the next sample.
};

}  // namespace tamis
