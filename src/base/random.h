// Pseudorandom numbers, reproducible from a seed.
#pragma once

#include <cstdint>

#include "base/hash.h"

namespace tamis {

/// SplitMix64: passes the usual tests; one multiplication chain per number; any seed works.
///
/// Threads: one at a time.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return remix(state_ += 0x9e3779b97f4a7c15U); }
  /// 0 … bound-1; 0 for a bound of 0.
  std::uint64_t below(std::uint64_t bound) { return fast_range(next(), bound); }
  bool coin() { return (next() & 1) != 0; }

 private:
  std::uint64_t state_;
};

}  // namespace tamis
