// filter_log_format: any bytes are a log of some records, or kCorruption; what is read survives writing. The checksum
// of each record is repaired first. The input is a log behind a container of no bytes.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "filter/filter_log_format.h"

namespace tamis {
namespace {

constexpr std::uint64_t kSeed = 7;

/// Records of at most 3 hashes, one after the other, as far as the bytes go. One of 16 is left as it is.
void repair(std::vector<std::byte>& bytes) {
  for (std::size_t at = 0; bytes.size() - at >= 32;) {
    const auto first = std::to_integer<unsigned>(bytes[at]);
    const std::uint64_t most = std::min<std::uint64_t>(3, (bytes.size() - at - 24) / 8);
    const std::uint64_t count = 1 + std::to_integer<unsigned>(bytes[at + 20]) % most;
    store_le(bytes.data() + at + 16, 1 + first % 2);
    store_le(bytes.data() + at + 20, static_cast<std::uint32_t>(count));
    const Bytes rest = Bytes(bytes).subspan(at + 8, 16 + 8 * count);
    if (first % 16 != 15) store_le(bytes.data() + at, seeded_checksum64(rest, kSeed + at));
    at += 24 + 8 * count;
  }
}

void look_at(Bytes bytes) {
  FilterLogReader reader(bytes, 0, kSeed, "input");
  std::string again;
  for (;;) {
    const Result<std::optional<FilterLogRecord>> record = reader.next();
    if (!record.ok()) {
      TAMIS_CHECK(record.status().code() == StatusCode::kCorruption);
      return;
    }
    if (!*record) break;
    append_filter_log_record(again, **record, kSeed, again.size());
    TAMIS_CHECK(reader.end() == again.size());
  }
  TAMIS_CHECK(reader.end() <= bytes.size() && reader.is_torn() == (reader.end() < bytes.size()));
  TAMIS_CHECK(as_text(bytes).starts_with(again));
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  const auto* first = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(first, first + size);
  look_at(bytes);
  repair(bytes);
  look_at(bytes);
  return 0;
}
