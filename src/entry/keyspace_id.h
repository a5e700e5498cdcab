// The number of a keyspace.
#pragma once

#include <cstdint>
#include <string_view>

namespace tamis {

/// Given once and never reused: the id of a dropped keyspace names nothing (rule 35). On disk, in manifests, journals
/// and tables.
enum class KeyspaceId : std::uint32_t {};

/// The keyspace that every store has.
inline constexpr KeyspaceId kDefaultKeyspace{0};
/// As users name it. On disk its name is empty.
inline constexpr std::string_view kDefaultKeyspaceName = "default";

constexpr std::uint32_t number_of(KeyspaceId keyspace) { return static_cast<std::uint32_t>(keyspace); }

}  // namespace tamis
