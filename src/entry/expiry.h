// Values that expire. The value of an entry of the kind kExpiringPut is
//
//     8 bytes  when it is due, in milliseconds since 1970 (UTC), little-endian, below 2^63
//     –        the user's value
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "entry/entry.h"

namespace tamis {

inline constexpr std::size_t kDueBytes = 8;
inline constexpr std::uint64_t kMaxDue = ~std::uint64_t{0} >> 1;

/// The longest value of an entry, as it is stored.
constexpr std::uint64_t max_stored_bytes(EntryKind kind) {
  return kMaxValueBytes + (kind == EntryKind::kExpiringPut ? kDueBytes : 0);
}

/// Both of an entry that expires, whose bytes were checked.
struct ExpiringValue {
  std::uint64_t due = 0;
  std::string_view value;
};

inline ExpiringValue load_expiring(std::string_view stored) {
  TAMIS_INVARIANT(stored.size() >= kDueBytes);
  return {load_le<std::uint64_t>(stored.data()), stored.substr(kDueBytes)};
}

inline void append_expiring(std::string& to, const ExpiringValue& expiring) {
  append_le(to, expiring.due);
  to.append(expiring.value);
}

// In a Batch that was not written yet, the time may be a lifetime: it counts from the write on.
inline constexpr std::uint64_t kLifetimeBit = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kNeverDue = ~std::uint64_t{0};  ///< An explicit "does not expire".

/// Of a positive number of milliseconds; the longest means never.
inline std::uint64_t encoded_lifetime(std::chrono::milliseconds lifetime) {
  if (lifetime == std::chrono::milliseconds::max()) return kNeverDue;
  return kLifetimeBit | std::min(static_cast<std::uint64_t>(lifetime.count()), kMaxDue / 2);
}
constexpr bool is_lifetime(std::uint64_t due) { return (due & kLifetimeBit) != 0; }
constexpr std::uint64_t lifetime_in(std::uint64_t due) { return due & ~kLifetimeBit; }

/// Whether these are the bytes of a value that expires.
inline bool is_expiring(std::string_view stored) {
  return stored.size() >= kDueBytes && load_le<std::uint64_t>(stored.data()) <= kMaxDue;
}

}  // namespace tamis
