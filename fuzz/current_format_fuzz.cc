// current_format, file_header_format: any bytes are a CURRENT or an error; one that decodes can be rebuilt from its
// fields. The checksum is repaired first, so that mutations get past it.
#include <algorithm>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "tree/current_format.h"

namespace {

using namespace tamis;

void read(Bytes bytes) {
  const Result<Current> current = decode_current(bytes, "CURRENT");
  if (!current.ok()) {
    const StatusCode code = current.status().code();
    TAMIS_CHECK(code == StatusCode::kCorruption || code == StatusCode::kNotSupported);
    return;
  }
  const CurrentBytes again = encode_current(*current);
  TAMIS_CHECK(*decode_current(again, "again") == *current);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  read(as_bytes(text));
  if (text.size() < kCurrentBytes) return 0;
  std::ranges::copy(kCurrentMagic, text.begin());
  const std::uint64_t checksum = checksum64(as_bytes(text).first(kCurrentBytes - 8));
  store_le(text.data() + kCurrentBytes - 8, checksum);
  read(as_bytes(text));
  return 0;
}
