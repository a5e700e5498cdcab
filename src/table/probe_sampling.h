// Which probes are counted, where counting each would cost more than the probe.
#pragma once

#include <cstdint>

namespace tamis {

/// Chooses one probe in kProbesPerSample, each by itself at random: whichever tables a thread asks in whatever order,
/// each table's samples are a fair share of its probes. (Every 64th of a thread's probes, counted off, all fell to one
/// of two tables that were asked in turn.) What is drawn is the number of probes until the next sample, so that a probe
/// costs a decrement.
///
/// Threads: each chooses among its own.
class ProbeSampling {
 public:
  static constexpr std::uint32_t kProbesPerSample = 64;

  static bool is_sampled() {
    if (left_ == 0) [[unlikely]]
      return draw();
    --left_;
    return false;
  }

 private:
  static bool draw();
  static constinit thread_local std::uint32_t left_;  // Probes that are not sampled before one is.
};

}  // namespace tamis
