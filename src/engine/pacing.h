// How long writers wait so that compaction keeps up.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tamis {

inline constexpr double kDebtThatSlows = 0.5;
/// From here on a compaction does not give way to a flush.
inline constexpr double kDebtThatPresses = 0.1;
/// Writers wait until the debt is smaller. Leveled: 36 runs in level 0, as in RocksDB.
inline constexpr double kDebtThatStops = 2;
/// Shorter delays are accumulated: a sleep takes about 60 us longer than asked.
inline constexpr std::uint64_t kMinDelayUs = 500;

/// A delay proportional to the bytes, growing smoothly with the debt: none up to kDebtThatSlows, as on a disk of 32
/// MiB/s at debt 1, of 3.6 MiB/s at kDebtThatStops.
inline std::uint64_t write_delay_us(double debt, std::uint64_t group_bytes) {
  if (debt <= kDebtThatSlows) return 0;
  const double excess = (std::min(debt, kDebtThatStops) - kDebtThatSlows) / (1 - kDebtThatSlows);
  const double us_per_byte = 1e6 / (32.0 * (1 << 20));
  return static_cast<std::uint64_t>(static_cast<double>(group_bytes) * us_per_byte * excess * excess);
}

}  // namespace tamis
