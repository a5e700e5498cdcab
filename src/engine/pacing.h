// How much writers wait so that compaction keeps up.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tamis {

inline constexpr double kDebtThatSlows = 0.5;
/// From here on compactions wait for nobody.
inline constexpr double kDebtThatPresses = 0.4;
/// Writers wait until less is owed. Leveled: 36 runs in level 0, where RocksDB stops, too.
inline constexpr double kDebtThatStops = 2;
/// Delays are saved up to this length: a sleep takes some 60 us longer than it was asked to.
inline constexpr std::uint64_t kMinDelayUs = 500;

/// A delay that grows smoothly with the debt, in proportion to the bytes, however many a group has: none up to half of
/// what is tolerable, as if the disk took 32 MiB/s at all of it, and 3.6 MiB/s where writers stop.
inline std::uint64_t write_delay_us(double debt, std::uint64_t group_bytes) {
  if (debt <= kDebtThatSlows) return 0;
  const double excess = (std::min(debt, kDebtThatStops) - kDebtThatSlows) / (1 - kDebtThatSlows);
  const double us_per_byte = 1e6 / (32.0 * (1 << 20));
  return static_cast<std::uint64_t>(static_cast<double>(group_bytes) * us_per_byte * excess * excess);
}

}  // namespace tamis
