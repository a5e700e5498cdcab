#include "compaction/parts.h"

#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "compaction/plan_parts.h"

namespace tamis {
namespace {

using Tables = std::vector<std::shared_ptr<const TableFacts>>;

/// In key order.
Tables tables_of(const Shape& shape, const CompactionInput& input) {
  const Run* const run = shape.find_run(input.level, input.run);
  TAMIS_CHECK(run != nullptr);
  const std::unordered_set<std::uint64_t> wanted(input.tables.begin(), input.tables.end());
  Tables tables;
  std::ranges::copy_if(run->tables, std::back_inserter(tables),
                       [&](const auto& table) { return wanted.contains(table->number); });
  return tables;
}

}  // namespace

std::vector<KeyRange> parts_of(const Shape& shape, const CompactionPlan& plan, std::size_t most,
                               std::uint64_t part_bytes) {
  Tables largest;
  std::uint64_t bytes = 0;
  for (const CompactionInput& input : plan.inputs) {
    Tables tables = tables_of(shape, input);
    bytes += bytes_of(tables);
    if (bytes_of(tables) > bytes_of(largest)) largest = std::move(tables);
  }
  const std::uint64_t wanted = std::min<std::uint64_t>(most, bytes / std::max<std::uint64_t>(1, part_bytes));
  const std::uint64_t bytes_of_largest = bytes_of(largest);
  std::vector<KeyRange> parts(1);
  std::uint64_t before = 0;  // Of the largest input's tables, in the parts so far.
  for (const auto& table : largest) {
    if (before * wanted >= parts.size() * bytes_of_largest && before > 0) {
      parts.back().to = table->begin();
      parts.push_back({.from = std::string(table->begin())});
    }
    before += table->file_bytes;
  }
  return parts;
}

}  // namespace tamis
