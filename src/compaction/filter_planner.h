// Which filter a new table gets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "table/table_builder.h"
#include "tamis/filter_math.h"
#include "tree/shape.h"

namespace tamis {

/// The options that the plan follows.
struct FilterPlanOptions {
  std::string kind = "auto";                       ///< "auto", "none" or a kind.
  std::optional<std::uint64_t> memory_bytes = {};  ///< None: 10 bits for every key, at most `most_bytes`.
  std::uint64_t most_bytes = 0;
};

/// One run of the plan.
struct PlannedRunFilter {
  std::uint32_t level = 0;
  std::uint64_t run = 0;
  std::uint64_t keys = 0;
  std::string kind;  ///< Empty: none.
  double bits_per_key = 0;
  double rate = 1;
};

/// Rates and sizes are those that filters of these kinds have, not the formula's.
struct StoreFilterPlan {
  std::vector<PlannedRunFilter> runs;  ///< Newest first.
  std::uint64_t memory_bytes = 0;      ///< Of all filters, as planned; at most what was given, nearly.
  double wasted_probes = 0;            ///< Runs asked in vain by a lookup of a key that is not there.
  double wasted_probes_uniform = 0;    ///< The same if every key had the same bits, of the same memory.
};

/// The plan for a shape as it stands: what its tables would get if all were written anew. What they have may differ;
/// a table keeps its filter for as long as it lives.
StoreFilterPlan plan_filters(const Shape& shape, const FilterPlanOptions& options);

/// Decides for the tables that a flush or compaction writes: the plan of the shape as it will be, with the inputs gone
/// and the new run in.
///
/// Threads: constant.
class FilterPlanner {
 public:
  /// `replaced`: tables that go away; `level` and `run`: where the new ones go, a new run or one that is there;
  /// `expected_keys`: of all that is written, about.
  FilterPlanner(const Shape& shape, const std::vector<std::uint64_t>& replaced, std::uint32_t level, std::uint64_t run,
                std::uint64_t expected_keys, const FilterPlanOptions& options);
  /// For a table of the new run with this many keys.
  [[nodiscard]] FilterChoice choose(std::uint64_t keys) const;

 private:
  PlannedRunFilter planned_;
};

}  // namespace tamis
