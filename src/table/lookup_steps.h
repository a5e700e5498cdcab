// Who watches a lookup: nobody, or somebody who writes down every step. Chosen at compile time, so that `get` pays
// nothing for it. `explain` tells what a `get` does that may read from disk; one that finds everything in memory
// (Peek) asks the same tables in the same order, but takes blocks from their slots.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tamis {

class Table;

/// What a filter said, or the run index in its place.
enum class FilterVerdict : std::uint8_t { kNone, kNo, kMaybe, kNotInMemory, kNoByRunIndex };
enum class BlockSource : std::uint8_t { kNone, kCache, kDisk };
/// kOutside: no table of the run has bounds that hold the key, so nothing was asked.
enum class TableOutcome : std::uint8_t { kRuledOut, kAbsent, kFound, kDeleted, kOutside };

/// What memory alone says to a lookup.
enum class Peek : std::uint8_t {
  kAbsent,
  kAbsentHere,  ///< As kAbsent, but its filter let the key through, or there is none.
  kFound,
  kUnknown,  ///< Something is not in memory: ask again, in a way that may read.
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

/// For `get`.
struct NoSteps {
  static constexpr bool kRecords = false;
  void add(const TableStep&) {}
};

/// For `explain`.
struct RecordedSteps {
  static constexpr bool kRecords = true;
  void add(const TableStep& step) { steps.push_back(step); }

  std::vector<TableStep> steps;
};

}  // namespace tamis
