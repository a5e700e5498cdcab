// What tamis top shows: text, without a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tamis/stats.h"

namespace tamis::cli {

/// A store at one moment.
struct Reading {
  Stats stats = {};
  std::optional<std::uint64_t> writer = {};  ///< The process whose counters these are; none: no process writes.
  std::chrono::steady_clock::time_point published = {};  ///< When it published them.
};

/// Two moments of one writer, of which the rates are the difference. Unless that many seconds are known to have passed,
/// there are no rates, and latencies are those since the writer opened the store.
struct Interval {
  const Reading& before;
  const Reading& now;

  [[nodiscard]] double seconds() const;
};

/// The calls of an interval: its quantiles lie within the bucket that has them. Without calls, all zero.
Stats::Latency latency_between(const Stats::Latency& before, const Stats::Latency& now);

/// One frame, 80 columns wide. `age` is that of the writer's counters.
std::string top_frame(const std::string& directory, const Interval& interval, std::chrono::milliseconds age);

/// The same cut to a terminal's size.
std::string cut_to(const std::string& frame, std::size_t rows, std::size_t columns);

}  // namespace tamis::cli
