// A lookup's steps at each table, and their recorder: none for `get`, a list for `explain`. Both run the same code; the
// recorder is chosen at compile time, so that `get` pays nothing for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "entry/visible.h"

namespace tamis {

class Table;

/// The answer of a filter, or of the run index in its place.
enum class FilterVerdict : std::uint8_t { kNone, kNo, kMaybe, kNotInMemory, kNoByRunIndex };
enum class BlockSource : std::uint8_t { kNone, kCache, kDisk };
/// kOutside: the key is outside the bounds of the run's tables, so none was probed.
enum class TableOutcome : std::uint8_t { kRuledOut, kAbsent, kFound, kDeleted, kExpires, kOperand, kOutside };

/// A table's answer to a lookup.
enum class LookupAnswer : std::uint8_t {
  kAbsent,
  kAbsentHere,  ///< Like kAbsent, but the filter passed the key, or there is none.
  kFound,
  kUnknown,  ///< The answer depends on something that is not in memory.
};

/// A lookup's step at one table.
struct TableStep {
  const Table* table = nullptr;  ///< With kOutside, the run's first table.
  FilterVerdict verdict = FilterVerdict::kNone;
  BlockSource source = BlockSource::kNone;  ///< Of the last block searched; kDisk if any came from disk.
  std::uint32_t blocks_read = 0;            ///< From the file.
  std::uint32_t metadata_reads = 0;         ///< Of index or filter, from the file.
  TableOutcome outcome = TableOutcome::kAbsent;
};

/// For a table that has the key. kExpires: the reader's time decides.
inline TableOutcome outcome_of(const FoundEntry& found) {
  if (expires(found.kind)) return TableOutcome::kExpires;
  if (found.kind == EntryKind::kMerge) return TableOutcome::kOperand;
  return found.kind == EntryKind::kDelete ? TableOutcome::kDeleted : TableOutcome::kFound;
}

/// For `get`.
struct NoSteps {
  static constexpr bool kRecords = false;
};

/// For `explain`. One step per run visited, newest first.
struct RecordedSteps {
  static constexpr bool kRecords = true;
  void add(const TableStep& step) {
    steps.push_back(step);
    ends.push_back(std::chrono::steady_clock::now());
  }

  std::vector<TableStep> steps;
  std::vector<std::chrono::steady_clock::time_point> ends;  // Of the steps, in their order.
};

}  // namespace tamis
