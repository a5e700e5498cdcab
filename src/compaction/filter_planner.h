// Chooses the filter of a new table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "table/table_builder.h"
#include "tamis/filter_math.h"
#include "tree/shape.h"

namespace tamis {

/// The options for the plan.
struct FilterPlanOptions {
  std::string kind = "auto";                       ///< "auto", "none" or a kind.
  std::optional<std::uint64_t> memory_bytes = {};  ///< None: 10 bits per key, at most `most_bytes`.
  std::uint64_t most_bytes = 0;
  /// Of a table's size, for columns of a filter in slices that the plan has no memory for.
  std::uint32_t reserve_percent = 0;
};

/// One run of the plan.
struct PlannedRunFilter {
  std::uint32_t level = 0;
  std::uint64_t run = 0;
  std::uint64_t keys = 0;
  std::string kind;  ///< Empty: no filter.
  double bits_per_key = 0;
  double rate = 1;
};

/// Rates and sizes are those of real filters of these kinds, not the formula's.
struct StoreFilterPlan {
  std::vector<PlannedRunFilter> runs;  ///< Newest first.
  std::uint64_t memory_bytes = 0;      ///< Of all filters, as planned; at most slightly above the given memory.
  double wasted_probes = 0;            ///< Runs probed in vain by a lookup of an absent key.
  double wasted_probes_uniform = 0;    ///< Same if the same memory gave every key equal bits.
};

/// The plan for the current shape: what its tables would get if all were rewritten. Actual filters may differ: a table
/// keeps its filter for life. How much of one in slices is in memory is planned by what lookups ask
/// (engine/residency.h).
StoreFilterPlan plan_filters(const Shape& shape, const FilterPlanOptions& options);

/// Chooses filters for the tables that a flush or compaction writes, by the plan for the resulting shape: without the
/// inputs and with the new run.
///
/// Threads: immutable.
class FilterPlanner {
 public:
  /// `replaced`: the tables removed; `level` and `run`: where the new ones go, a new or an existing run;
  /// `expected_keys`: the approximate total written.
  FilterPlanner(const Shape& shape, const std::vector<std::uint64_t>& replaced, std::uint32_t level, std::uint64_t run,
                std::uint64_t expected_keys, const FilterPlanOptions& options);
  /// For a table of the new run with this many keys, and bytes without a filter.
  [[nodiscard]] FilterChoice choose(std::uint64_t keys, std::uint64_t table_bytes) const;

 private:
  [[nodiscard]] FilterChoice choose_slices(std::uint64_t keys, std::uint64_t table_bytes) const;

  FilterPlanOptions options_;
  PlannedRunFilter planned_;
  bool has_slices_ = false;  // Even if there is no memory for any column now.
};

}  // namespace tamis
