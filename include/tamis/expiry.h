// Values that expire.
#pragma once

#include <chrono>

namespace tamis {

/// A moment at which a value expires, in UTC. Clocks convert to it with std::chrono::ceil.
using ExpiryTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// For WriteOptions::expires_in and Batch::put: the value does not expire, whatever the default of its keyspace is.
inline constexpr std::chrono::milliseconds kNeverExpires = std::chrono::milliseconds::max();

}  // namespace tamis
