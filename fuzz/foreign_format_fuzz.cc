// Every foreign format's reader. The first byte selects the format, the second the out-of-band parameters; the rest is
// the file. RocksDB's tables bypass their checksums with the checksum type "none", which the seeds have. Covers
// cassandra_format, go_format, go_json_format, guava_format, leveldb_format, parquet_format, rocksdb_raw_format,
// rocksdb_table_format, spark_format, teaching_format and thrift_compact_format.
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "tamis/foreign.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  using namespace tamis::foreign;
  if (size < 2) return 0;
  const Bytes file = std::as_bytes(std::span(data + 2, size - 2));
  const FormatInfo& format = formats()[data[0] % formats().size()];
  OpenOptions options;
  // The highest bit: let the reader guess.
  if (data[0] < 0x80) options.format = format.name;
  if (format.needs_bits_to_probe) options.bits = file.size() * 8 - data[1] % 8;
  if (format.needs_hashes_to_probe) options.hashes = data[1];
  const Result<ForeignFilter> filter = ForeignFilter::from_bytes(file, options, "input");
  if (!filter.ok()) {
    TAMIS_CHECK(!filter.status().message().empty());
    return 0;
  }
  for (const std::string_view key : {"", "a", "user:42", "a key of more than sixteen bytes, and then some"}) {
    static_cast<void>(filter->may_contain(key));
  }
  const ForeignInfo info = filter->info();
  TAMIS_CHECK(info.fill >= 0 && info.fill <= 1);
  TAMIS_CHECK(info.estimated_keys >= 0);
  return 0;
}
