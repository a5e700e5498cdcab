// The options of one tree.
#pragma once

#include <cstdint>

#include "compaction/filter_planner.h"
#include "compaction/policy.h"
#include "tamis/options.h"

namespace tamis {

/// The store's options with what the tree's keyspace sets for itself, and what follows from them.
///
/// Threads: constant.
struct TreeSettings {
  explicit TreeSettings(const Options& given) : options(given), policy(*find_compaction_policy(given.compaction)) {}

  [[nodiscard]] FilterPlanOptions filter_plan_options() const {
    return {.kind = options.filter,
            .memory_bytes = options.filter_memory,
            .most_bytes = options.memory_bytes / 4,
            .reserve_percent = options.filter_reserve_percent};
  }

  const Options options;
  const CompactionPolicy& policy;
};

}  // namespace tamis
