#include "compaction/covered_tables.h"

#include <algorithm>

#include "table/value_pointers.h"

namespace tamis {
namespace {

/// Range deletes are cut where tables end, so several of them may cover a table together. Of the readers that see
/// something of the table, the first is the one that must see each of them.
bool is_covered(const TableFacts& table, const RangeTombstones& range_deletes, std::span<const Sequence> snapshots) {
  const auto first_reader = std::ranges::lower_bound(snapshots, table.smallest_sequence);
  if (first_reader == snapshots.end()) return false;
  for (std::string_view from = table.begin(); !table.end().is_before(from);) {
    const RangeTombstone* const newest = range_deletes.newest_covering(from, *first_reader);
    if (newest == nullptr || newest->sequence <= table.largest_sequence) return false;
    if (!newest->range.to) return true;
    from = *newest->range.to;
  }
  return true;
}

bool ends_inside(const TableFacts& table, const KeyRange& range) {
  return !range.to || table.end().is_before(*range.to);
}

}  // namespace

std::vector<std::uint64_t> tables_covered_whole(const Shape& shape, const RangeTombstones& range_deletes,
                                                std::span<const Sequence> snapshots) {
  std::vector<std::uint64_t> covered;
  for (const std::vector<Run>& level : shape.levels) {
    for (const Run& run : level) {
      for (const auto& table : run.tables) {
        if (is_covered(*table, range_deletes, snapshots)) covered.push_back(table->number);
      }
    }
  }
  return covered;
}

std::uint64_t newly_covered_bytes(const Shape& shape, const RangeTombstones& before, const KeyRange& range) {
  constexpr Sequence kNow[] = {kMaxSequence};
  std::uint64_t bytes = 0;
  for (const std::vector<Run>& level : shape.levels) {
    for (const Run& run : level) {
      auto table = std::ranges::partition_point(run.tables,
                                                [&](const auto& facts) { return range.begins_after(facts->begin()); });
      for (; table != run.tables.end() && ends_inside(**table, range); ++table) {
        if (!is_covered(**table, before, kNow)) bytes += (*table)->file_bytes + sum_of((*table)->values_apart).bytes;
      }
    }
  }
  return bytes;
}

}  // namespace tamis
