// Building from any hashes, however crafted, gives a filter without false negatives, or a clear refusal.
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "tamis/filter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  if (size < 4) return 0;
  const std::span<const FilterKindInfo> kinds = filter_kinds();
  FilterOptions options;
  options.kind = kinds[data[0] % kinds.size()].name;
  options.target_rate = (1 + data[1]) / 257.0;
  // Every two bytes are a hash in which only some bits differ: crafted sets that random keys never produce.
  const unsigned shift = data[2] % 49;
  std::vector<std::uint64_t> hashes;
  for (std::size_t i = 3; i + 2 <= size; i += 2) {
    hashes.push_back((std::uint64_t{data[i]} | (std::uint64_t{data[i + 1]} << 8)) << shift);
  }
  FilterBuilder builder(options);
  for (const std::uint64_t hash : hashes) builder.add_hash(hash);
  const Result<Filter> filter = builder.finish();
  if (!filter.ok()) {
    TAMIS_CHECK(filter.status().code() == StatusCode::kNotSupported);
    return 0;
  }
  for (const std::uint64_t hash : hashes) TAMIS_CHECK(filter->may_contain_hash(hash));
  TAMIS_CHECK(Filter::from_bytes(filter->bytes()).ok());
  return 0;
}
