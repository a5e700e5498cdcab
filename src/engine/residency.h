// Chooses the indexes and filters to keep in memory when not all of them fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/sync.h"
#include "engine/keyspaces.h"
#include "engine/store_memory.h"
#include "table/table.h"

namespace tamis {

/// An index or a filter.
struct ResidentCandidate {
  std::uint64_t bytes = 0;
  double saved_reads = 0;  ///< Since the last review.
};

/// Chooses those that save the most reads per byte, up to `limit_bytes`; among equals, the first. result[i] says
/// whether candidate i stays.
std::vector<bool> choose_resident(std::span<const ResidentCandidate> candidates, std::uint64_t limit_bytes);

/// Unloads the indexes and filters that save least when others would save more, so that the next lookup can load those
/// instead. Does nothing while everything fits.
///
/// Threads: any.
class Residency {
 public:
  Residency(StoreMemory& memory, const Keyspaces& keyspaces) : memory_(memory), keyspaces_(keyspaces) {}

  void review() EXCLUDES(mutex_);

 private:
  [[nodiscard]] bool is_due(std::span<const std::shared_ptr<Table>> tables, std::uint64_t gets) EXCLUDES(mutex_);

  StoreMemory& memory_;
  const Keyspaces& keyspaces_;
  Mutex mutex_;
  std::uint64_t gets_at_last_review_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tamis
