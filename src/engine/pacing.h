// How much writers wait so that compaction keeps up.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tamis {

inline constexpr double kDebtThatSlows = 0.5;
/// From here on compactions wait for nobody.
inline constexpr double kDebtThatPresses = 0.4;
/// Delays are saved up to this length: a sleep takes some 60 us longer than it was asked to.
inline constexpr std::uint64_t kShortestDelayUs = 500;

/// A delay that grows smoothly with the debt, so that writers never meet a wall: none up to half of what is tolerable,
/// as if the disk took 32 MiB/s at all of it, four times slower for each further one. At most 50 ms for one group.
inline std::uint64_t write_delay_us(double debt, std::uint64_t group_bytes) {
  if (debt <= kDebtThatSlows) return 0;
  const double excess = (debt - kDebtThatSlows) / (1 - kDebtThatSlows);
  const double us_per_byte = 1e6 / (32.0 * (1 << 20));
  const double delay = static_cast<double>(group_bytes) * us_per_byte * excess * excess;
  return static_cast<std::uint64_t>(std::min(delay, 50'000.0));
}

}  // namespace tamis
