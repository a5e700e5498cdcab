// The merge operator of a keyspace.
#pragma once

#include <atomic>

#include "tamis/merge.h"

namespace tamis {

/// Null: it has none. Once it has one, it keeps that (rule 32). The store's MergeOperators owns what it points to.
using KeyspaceOperator = std::atomic<const MergeOperator*>;

}  // namespace tamis
