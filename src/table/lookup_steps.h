// What a lookup does at each table, and who records it: nobody for `get`, a list for `explain`. Both run the same code;
// the recorder is chosen at compile time, so that `get` pays nothing for it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "entry/visible.h"

namespace tamis {

class Table;

/// What a filter said, or the run index in its place.
enum class FilterVerdict : std::uint8_t { kNone, kNo, kMaybe, kNotInMemory, kNoByRunIndex };
enum class BlockSource : std::uint8_t { kNone, kCache, kDisk };
/// kOutside: no table of the run has bounds that hold the key, so nothing was asked.
enum class TableOutcome : std::uint8_t { kRuledOut, kAbsent, kFound, kDeleted, kOutside };

/// What a table says to a lookup.
enum class LookupAnswer : std::uint8_t {
  kAbsent,
  kAbsentHere,  ///< As kAbsent, but its filter let the key through, or there is none.
  kFound,
  kUnknown,  ///< Something that the answer depends on is not in memory.
};

/// What happened at one table.
struct TableStep {
  const Table* table = nullptr;  ///< With kOutside, the first of the run.
  FilterVerdict verdict = FilterVerdict::kNone;
  BlockSource source = BlockSource::kNone;  ///< Of the last block looked at; kDisk if any came from there.
  std::uint32_t blocks_read = 0;            ///< From the file.
  std::uint32_t metadata_reads = 0;         ///< Index or filter, read from the file.
  TableOutcome outcome = TableOutcome::kAbsent;
};

/// Where a table has the key.
inline TableOutcome outcome_of(const FoundEntry& found, Sequence moment) {
  return visible(found, moment) == Visible::kValue ? TableOutcome::kFound : TableOutcome::kDeleted;
}

/// For `get`.
struct NoSteps {
  static constexpr bool kRecords = false;
};

/// For `explain`. One step for each run that was passed, newest first.
struct RecordedSteps {
  static constexpr bool kRecords = true;
  void add(const TableStep& step) { steps.push_back(step); }

  std::vector<TableStep> steps;
};

}  // namespace tamis
