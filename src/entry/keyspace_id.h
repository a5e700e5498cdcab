// The number of a keyspace.
#pragma once

#include <cstdint>

namespace tamis {

/// Permanent on disk and never reused: the number of a dropped keyspace is given to no other.
enum class KeyspaceId : std::uint32_t {};

inline constexpr KeyspaceId kDefaultKeyspace{0};

}  // namespace tamis
