// Apache Cassandra: shared by its filter, index and file names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "filter/formats/classic.h"
#include "tamis/status.h"

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

/// k and the bits per key for a rate; kInvalidArgument below the range of Cassandra's table.
struct CassandraSizing {
  std::uint32_t hashes;
  std::uint32_t bits_per_key;
};
Result<CassandraSizing> cassandra_sizing(double rate);

/// k and the number of words of a Filter.db, checked against its size.
Result<BloomShape> read_cassandra_header(Bytes file, std::string_view name);

/// How an Index.db encodes positions and sizes: fixed width before version `ma`, vints since.
enum class CassandraNumbers : std::uint8_t { kFixed, kVariable };

/// The keys of an Index.db, in file order.
Result<std::vector<std::string>> read_cassandra_index(Bytes file, std::string_view name, CassandraNumbers numbers);

/// Tries both: first the one the file name implies, then the other; without a version, whichever parses.
Result<std::vector<std::string>> read_cassandra_index(Bytes file, std::string_view path);

}  // namespace tamis::foreign
