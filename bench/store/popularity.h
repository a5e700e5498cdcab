// Which entries skewed requests want.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "base/zipf.h"

namespace tamis::bench {

/// Zipfian draws, generated before the clock starts; rank 0 is the most popular.
///
/// Threads: constant after construction.
class Popularity {
 public:
  Popularity(std::uint64_t count, std::uint64_t draws) : count_(count) {
    constexpr double kSkew = 0.99;
    ZipfDraws zipf(count, kSkew, 11);
    for (std::uint64_t i = 0; i < draws; ++i) ranks_.push_back(zipf.next());
  }
  /// They repeat after the last one.
  [[nodiscard]] std::uint32_t rank(std::uint64_t draw) const { return ranks_[draw % ranks_.size()]; }
  /// The number of the entry with this rank: popular ones are spread over all of them.
  [[nodiscard]] std::uint64_t number(std::uint64_t rank) const { return 2 * fast_range(remix(rank + 1), count_); }

 private:
  std::uint64_t count_;
  std::vector<std::uint32_t> ranks_;
};

}  // namespace tamis::bench
