// Which due work runs now, drawn from a seed.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace tamis {

/// Replaces the timing of threads in tests: flushes and compactions run early or late and in any order, but the same
/// for the same seed.
///
/// Invariant: of kMaxPutOff consecutive draws at least one is kEverything.
///
/// Threads: one at a time.
class Schedule {
 public:
  enum class Step : std::uint8_t { kNothing, kFlush, kCompaction, kEverything };
  static constexpr std::uint32_t kMaxPutOff = 64;

  explicit Schedule(std::uint64_t seed) : random_(seed) {}

  /// Call once after each write that leaves something due.
  Step draw() {
    const std::uint64_t number = random_.below(32);
    const Step step = ++put_off_ >= kMaxPutOff || number == 0 ? Step::kEverything
                      : number < 6                            ? Step::kFlush
                      : number < 11                           ? Step::kCompaction
                                                              : Step::kNothing;
    if (step == Step::kEverything) put_off_ = 0;
    return step;
  }

 private:
  SplitMix64 random_;
  std::uint32_t put_off_ = 0;
};

}  // namespace tamis
