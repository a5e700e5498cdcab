// Apache Cassandra: its file names and indexes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "tamis/foreign.h"

namespace tamis::foreign {

/// The three layouts, newest first.
inline constexpr std::array<std::string_view, 3> kCassandraFormats = {"cassandra-new", "cassandra-old",
                                                                      "cassandra-old-h1h2"};

/// What a component's file name says about its table.
struct CassandraName {
  std::string version;  // Two letters, e.g. "nb".
  bool bti = false;     // "big" and "bti" tables have separate version alphabets.
};

/// Reads `<ver>-<id>-<big|bti>-<component>` and the older `<keyspace>-<table>-<ver>-<generation>-<component>`.
std::optional<CassandraName> parse_cassandra_name(std::string_view path);

/// How an Index.db encodes positions and sizes: fixed width before version `ma`, vints since.
enum class CassandraNumbers : std::uint8_t { kFixed, kVariable };

/// The keys of an Index.db, in file order.
Result<std::vector<std::string>> read_cassandra_index(Bytes file, std::string_view name, CassandraNumbers numbers);

/// Tries both: first the one the file name implies, then the other; without a version, whichever parses.
Result<std::vector<std::string>> read_cassandra_index(Bytes file, std::string_view path);

}  // namespace tamis::foreign
