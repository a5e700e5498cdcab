// range_tombstones_format: any bytes are range deletes or an error; those that decode can be encoded again.
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "table/range_tombstones_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  const Bytes bytes = std::as_bytes(std::span(data, size));
  const Result<std::vector<RangeTombstone>> fragments = decode_range_tombstones(bytes, "input", 0);
  if (!fragments.ok()) {
    TAMIS_CHECK(fragments.status().code() == StatusCode::kCorruption);
    return 0;
  }
  const std::string again = encode_range_tombstones(*fragments);
  TAMIS_CHECK(*decode_range_tombstones(as_bytes(again), "again", 0) == *fragments);
  return 0;
}
