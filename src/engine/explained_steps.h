// The places that a lookup asks one after the other, and their record for `explain`.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/read_view.h"
#include "table/lookup_steps.h"
#include "table/staged_lookup.h"
#include "tamis/stats.h"

namespace tamis {

/// For `explain`: the steps, and the view whose tables they name. A key with merge operands takes several lookups.
///
/// Threads: one at a time.
struct ExplainedSteps {
  using Clock = std::chrono::steady_clock;
  static constexpr bool kRecords = true;

  void add_memtable(std::string_view where, const std::optional<FoundEntry>& found);
  /// The lookup is over; the next one may begin.
  void end_lookup(Visible meaning, bool is_hidden);
  /// Before the value is read; `end_value` after it.
  void add_value_file(std::uint64_t number);
  void end_value() { steps.back().nanoseconds = time_until(Clock::now()); }

  std::shared_ptr<const ReadView> view;
  RecordedSteps tables;  // Of the current lookup, after those in memory.
  std::vector<Explanation::Step> steps;
  std::vector<std::string> operands;  // Newest first.
  std::uint64_t reads = 0;
  std::uint64_t metadata_reads = 0;
  Clock::time_point end_of_last_step = Clock::now();

 private:
  /// The nanoseconds of a step: it began when the one before ended.
  std::uint64_t time_until(Clock::time_point end);
};

inline NoSteps& for_tables(NoSteps& steps) { return steps; }
inline RecordedSteps& for_tables(ExplainedSteps& steps) { return steps.tables; }

/// Whether a memtable has the key.
template <typename Steps>
inline bool ask_memtables(const ReadView& view, StagedLookup& staged, Steps& steps) {
  const auto ask = [&](const Memtable& memtable, [[maybe_unused]] std::string_view where) {
    const std::optional<FoundEntry> found = memtable.find(staged.lookup);
    if constexpr (Steps::kRecords) steps.add_memtable(where, found);
    if (!found) return false;
    staged.found = *found;
    staged.answer = LookupAnswer::kFound;
    return true;
  };
  if (ask(*view.active, "memtable")) return true;
  for (const std::shared_ptr<Memtable>& sealed : view.sealed) {
    if (ask(*sealed, "sealed memtable")) return true;
  }
  return false;
}

}  // namespace tamis
