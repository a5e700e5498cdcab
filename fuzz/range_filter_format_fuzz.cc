// range_filter_format (with range_filter_layout_format and range_filter_build_format): any bytes are a filter that
// answers, or an error; what is built of any keys denies none of them. The checksum is repaired first.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "filter/range_filter_format.h"

namespace tamis {
namespace {

constexpr KeyHasher::Key kHashKey = {};

/// Pieces of the input, of 0 to 15 bytes.
std::vector<std::string> pieces_of(std::string_view text) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::size_t bytes = std::min<std::size_t>(static_cast<unsigned char>(text[0]) % 16, text.size() - 1);
    pieces.emplace_back(text.substr(1, bytes));
    text.remove_prefix(1 + bytes);
  }
  return pieces;
}

void look_at(std::string bytes) {
  if (bytes.size() >= range_filter::kHeaderBytes) {
    const Bytes all = as_bytes(bytes);
    const std::uint64_t checksum = range_filter::checksum_of(
        all.first(range_filter::kChecksumAt), all.subspan(range_filter::kHeaderBytes), KeyHasher(kHashKey));
    store_le(bytes.data() + range_filter::kChecksumAt, checksum);
  }
  const Result<RangeFilter> filter = RangeFilter::open(AlignedBytes::copy_of(as_bytes(bytes)), kHashKey, "input");
  if (!filter.ok()) {
    const StatusCode code = filter.status().code();
    TAMIS_CHECK(code == StatusCode::kCorruption || code == StatusCode::kNotSupported);
    return;
  }
  const std::vector<std::string> bounds = pieces_of(bytes);
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) (void)filter->may_contain(bounds[i], bounds[i + 1]);
}

void build(std::string_view input) {
  std::vector<std::string> keys = pieces_of(input);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  RangeFilterBuilder builder(static_cast<double>(input.size() % 33), kHashKey);
  for (const std::string& key : keys) builder.add(key);
  const std::string bytes = builder.finish().value();
  const RangeFilter filter = RangeFilter::open(AlignedBytes::copy_of(as_bytes(bytes)), kHashKey, "built").value();
  for (const std::string& key : keys) {
    TAMIS_CHECK(filter.may_contain(key, key + '\0'));
    TAMIS_CHECK(filter.may_contain("", key + '\0'));
    TAMIS_CHECK(filter.may_contain(key, key + "\xff\xff"));
  }
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  look_at(std::string(input));
  build(input);
  return 0;
}
