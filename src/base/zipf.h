// Skewed requests, for tests and benchmarks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace tamis {

/// Draws 0 … count-1, number i with probability proportional to 1/(i+1)^skew, by searching a table of sums. Exact;
/// traces are generated before the clock starts anyway.
///
/// Threads: one at a time.
class ZipfDraws {
 public:
  ZipfDraws(std::size_t count, double skew, std::uint64_t seed) : sums_(count), state_(seed) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sums_[i] = sum += std::pow(static_cast<double>(i + 1), -skew);
  }

  std::uint32_t next() {
    constexpr double kOneIn53Bits = 1.0 / 9007199254740992.0;
    const double point = static_cast<double>(remix(++state_) >> 11) * kOneIn53Bits * sums_.back();
    return static_cast<std::uint32_t>(std::upper_bound(sums_.begin(), sums_.end() - 1, point) - sums_.begin());
  }

 private:
  std::vector<double> sums_;
  std::uint64_t state_;
};

}  // namespace tamis
