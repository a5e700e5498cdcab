// Apache Cassandra's Index.db of "big" tables: entries to the end of the file, no header, no checksum.
//
//     u16 big-endian   length of the key
//     –                the key
//     number           position in Data.db
//     number           bytes that follow
//     –                the promoted index, opaque to us
//
// From version `ma`, a number is an unsigned vint: the leading 1 bits of the first byte count the bytes that follow;
// the value is big-endian, its highest bits in the rest of the first byte. Before, position is an i64 and size an i32.
#include <fmt/core.h>

#include <bit>
#include <utility>

#include "base/try.h"
#include "filter/formats/cassandra.h"

namespace tamis::foreign {
namespace {

Result<std::uint64_t> read_vint(ByteReader& reader, std::string_view what) {
  TAMIS_TRY(const std::uint8_t first, reader.read_le<std::uint8_t>(what));
  const int extra = std::countl_one(first);
  std::uint64_t value = first & (0xffU >> (extra + 1));
  TAMIS_TRY(const Bytes rest, reader.read(static_cast<std::uint64_t>(extra), what));
  for (const std::byte byte : rest) value = value << 8 | std::to_integer<std::uint64_t>(byte);
  return value;
}

/// `Fixed` is the type before version `ma`.
template <typename Fixed>
Result<std::uint64_t> read_number(ByteReader& reader, CassandraNumbers numbers, std::string_view what) {
  if (numbers == CassandraNumbers::kVariable) return read_vint(reader, what);
  TAMIS_TRY(const Fixed number, reader.read_be<Fixed>(what));
  return std::uint64_t{number};
}

}  // namespace

Result<std::vector<std::string>> read_cassandra_index(Bytes file, std::string_view name, CassandraNumbers numbers) {
  ByteReader reader(file, name);
  std::vector<std::string> keys;
  while (!reader.at_end()) {
    TAMIS_TRY(const std::uint16_t key_bytes, reader.read_be<std::uint16_t>("the length of a key"));
    TAMIS_TRY(const Bytes key, reader.read(key_bytes, "a key"));
    TAMIS_TRY(const std::uint64_t position, read_number<std::uint64_t>(reader, numbers, "a position in the data"));
    if ((position >> 63) != 0) return reader.corruption("a negative position in the data");
    TAMIS_TRY(const std::uint64_t promoted_bytes,
              read_number<std::uint32_t>(reader, numbers, "the size of a promoted index"));
    TAMIS_TRY_STATUS(reader.skip(promoted_bytes, "a promoted index"));
    keys.emplace_back(as_text(key));
  }
  return keys;
}

Result<std::vector<std::string>> read_cassandra_index(Bytes file, std::string_view path) {
  const std::optional<CassandraName> name = parse_cassandra_name(path);
  if (name && name->bti) {
    return Status::not_supported(fmt::format("{}: bti tables have no file with all keys", path));
  }
  const bool fixed_first = name && name->version < "ma";
  const CassandraNumbers first = fixed_first ? CassandraNumbers::kFixed : CassandraNumbers::kVariable;
  const CassandraNumbers second = fixed_first ? CassandraNumbers::kVariable : CassandraNumbers::kFixed;
  Result<std::vector<std::string>> as_named = read_cassandra_index(file, path, first);
  if (name && as_named.ok()) return as_named;
  Result<std::vector<std::string>> otherwise = read_cassandra_index(file, path, second);
  if (as_named.ok() && otherwise.ok() && *as_named != *otherwise) {
    return Status::invalid_argument(
        fmt::format("{}: the index is ambiguous; a name with a Cassandra version would decide", path));
  }
  return as_named.ok() || !otherwise.ok() ? std::move(as_named) : std::move(otherwise);
}

}  // namespace tamis::foreign
