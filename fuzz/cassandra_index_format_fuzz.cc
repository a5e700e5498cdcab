// Cassandra's Index.db. The first byte selects how numbers are encoded, or that the reader detects it.
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "filter/formats/cassandra.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  using namespace tamis::foreign;
  if (size < 1) return 0;
  const Bytes file = std::as_bytes(std::span(data + 1, size - 1));
  const Result<std::vector<std::string>> keys =
      data[0] == 0   ? read_cassandra_index(file, "input", CassandraNumbers::kFixed)
      : data[0] == 1 ? read_cassandra_index(file, "input", CassandraNumbers::kVariable)
                     : read_cassandra_index(file, "input");
  if (!keys.ok()) return 0;
  std::size_t key_bytes = 0;
  for (const std::string& key : *keys) key_bytes += key.size();
  TAMIS_CHECK(key_bytes <= file.size());
  return 0;
}
