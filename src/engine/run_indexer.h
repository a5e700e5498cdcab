// Keeps the run index up to date.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/sync.h"
#include "engine/health.h"
#include "engine/reader.h"
#include "engine/store_context.h"
#include "engine/store_memory.h"
#include "engine/tree.h"

namespace tamis {

/// Reads runs into the columns of the run index when that is worth the reading: lookups pay for every run that they
/// must ask by itself, about as much as reading one key into a column costs. So the runs are read when lookups have
/// paid a part of that; a store that is only written to never reads them.
///
/// Threads: any; one indexes at a time, others return at once.
class RunIndexer {
 public:
  /// True: the run of these tables need not be read to its end.
  using IsInVain = std::function<bool(const std::vector<std::uint64_t>& tables)>;

  RunIndexer(const StoreContext& context, StoreMemory& memory, Tree& tree, const Health& health, const Reader& reader)
      : context_(context), memory_(memory), tree_(tree), health_(health), reader_(reader) {}

  void index_runs(const IsInVain& is_in_vain) EXCLUDES(mutex_);
  /// Frees the run index if it has more memory than it may.
  void drop_if_too_large();
  /// Until nobody indexes.
  void wait() EXCLUDES(mutex_);

 private:
  [[nodiscard]] bool is_too_large(const RunMatrixPlan& matrix, const Shape& shape) const;
  void index_waiting_runs(const IsInVain& is_in_vain);

  const StoreContext& context_;
  StoreMemory& memory_;
  Tree& tree_;
  const Health& health_;
  const Reader& reader_;
  std::uint64_t gets_at_last_indexing_ = 0;  // Belongs to the thread that set is_indexing_.
  Mutex mutex_;
  Condition is_idle_;
  bool is_indexing_ GUARDED_BY(mutex_) = false;
};

}  // namespace tamis
