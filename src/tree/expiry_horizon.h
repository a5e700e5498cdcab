// The horizon of expiry, as the manifest records it.
#pragma once

#include <cstdint>

namespace tamis {

/// How long the machine has run: a clock that nobody sets.
struct Uptime {
  std::uint64_t boot = 0;  ///< A number drawn when the machine was started; 0: unknown.
  std::uint64_t milliseconds = 0;

  friend bool operator==(const Uptime&, const Uptime&) = default;
};

/// Rule 29: a time, in milliseconds since 1970, that is past for certain, and the uptime when that was found. It never
/// falls. Rewrites drop only what is due by then.
struct ExpiryHorizon {
  std::uint64_t time = 0;
  Uptime at = {};

  friend bool operator==(const ExpiryHorizon&, const ExpiryHorizon&) = default;
};

}  // namespace tamis
