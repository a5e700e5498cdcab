// Apache Cassandra: what its filter, index and names share inside this module.
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
  bool bti = false;     // The letters of "big" and "bti" tables are two alphabets.
};

/// Reads `<ver>-<id>-<big|bti>-<component>` and the older `<keyspace>-<table>-<ver>-<generation>-<component>`.
std::optional<CassandraName> parse_cassandra_name(std::string_view path);

/// k and the bits per key for a rate: kInvalidArgument below what Cassandra's table reaches.
struct CassandraSizing {
  std::uint32_t hashes;
  std::uint32_t bits_per_key;
};
Result<CassandraSizing> cassandra_sizing(double rate);

/// k and the number of words of a Filter.db, checked against its size.
Result<BloomShape> read_cassandra_header(Bytes file, std::string_view name);

/// How an Index.db writes positions and sizes: numbers of fixed width before version `ma`, vints from then on.
enum class CassandraNumbers : std::uint8_t { kFixed, kVariable };

/// The keys of an Index.db, in its order.
Result<std::vector<std::string>> read_cassandra_index(Bytes file, std::string_view name, CassandraNumbers numbers);

/// Both: the one the file name promises, the other where that does not parse; without a promise, whichever parses.
Result<std::vector<std::string>> read_cassandra_index(Bytes file, std::string_view path);

}  // namespace tamis::foreign
