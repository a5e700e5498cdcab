// The options of one tree.
#pragma once

#include "compaction/policy.h"
#include "tamis/options.h"

namespace tamis {

/// The store's options with what the tree's keyspace sets for itself, and what follows from them.
///
/// Threads: constant.
struct TreeSettings {
  explicit TreeSettings(const Options& given) : options(given), policy(*find_compaction_policy(given.compaction)) {}

  const Options options;
  const CompactionPolicy& policy;
};

}  // namespace tamis
