// counters_format: any bytes are counters or an error; what decodes can be rebuilt. The checksum is repaired first, so
// that mutations get past it.
#include <algorithm>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "engine/counters_format.h"

namespace {

using namespace tamis;

void read(Bytes bytes) {
  const Result<PublishedCounters> counters = decode_counters(bytes, "COUNTERS");
  if (!counters.ok()) {
    const StatusCode code = counters.status().code();
    TAMIS_CHECK(code == StatusCode::kCorruption || code == StatusCode::kNotSupported);
    return;
  }
  const CountersBytes again = encode_counters(*counters);
  TAMIS_CHECK(encode_counters(*decode_counters(again, "again")) == again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  read(as_bytes(text));
  // Shorter inputs are the header and the fields; the rest is zeros.
  text.resize(kCountersBytes);
  std::ranges::copy(kCountersMagic, text.begin());
  store_le(text.data() + kCountersBytes - 8, checksum64(as_bytes(text).first(kCountersBytes - 8)));
  read(as_bytes(text));
  return 0;
}
