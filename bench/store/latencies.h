// Times of single operations and their percentiles.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "store/drive.h"
#include "store/field.h"

namespace tamis::bench {

using Clock = std::chrono::steady_clock;
using Latencies = std::vector<std::uint32_t>;  // Nanoseconds.

/// About four seconds at most.
inline std::uint32_t nanoseconds(Clock::time_point begin, Clock::time_point end) {
  const auto count = std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(count, 0, UINT32_MAX));
}
inline std::uint32_t since(Clock::time_point begin) { return nanoseconds(begin, Clock::now()); }
/// In microseconds; the latencies are sorted, and there is at least one.
double percentile(const Latencies& sorted, double part);

/// Gets a random entry, checks that its value is one of its key's, and appends the time it took.
class TimedGets {
 public:
  TimedGets(Session& session, const Stock& stock, std::uint64_t seed)
      : session_(session), stock_(stock), random_(seed) {}

  void get_one();
  void get_many(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) get_one();
  }
  /// The times so far.
  [[nodiscard]] Latencies take() { return std::move(latencies_); }

 private:
  Session& session_;
  const Stock& stock_;
  SplitMix64 random_;
  std::string buffer_;
  Latencies latencies_;
};

/// Adds these percentiles, and the worst, to the rows of those that end with _p50, _p99, _p999 and _worst.
void add_percentiles(Field& field, const Contestant& contestant, const std::string& what, Latencies latencies);

}  // namespace tamis::bench
