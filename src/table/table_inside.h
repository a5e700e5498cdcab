// What a Table keeps besides the two pointers its lookups use; for table*.cc only.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>

#include "base/epoch.h"
#include "base/sync.h"
#include "table/table.h"

namespace tamis {

inline void add_to(std::atomic<std::uint64_t>& count, std::uint64_t amount) {
  if (amount != 0) count.fetch_add(amount, std::memory_order_relaxed);
}

/// What the filter says, if it is in memory: for lookups that are not inside an EpochGuard, because they may have to
/// read from disk next.
template <typename Ask>
std::optional<bool> ask_loaded(const std::atomic<const Filter*>& loaded, Ask ask) {
  const EpochGuard guard;
  const Filter* const filter = loaded.load();
  if (filter == nullptr) return std::nullopt;
  return ask(*filter);
}

/// Invariants:
///  1. What the atomic pointers of Table and of this lead to is owned here until it is unloaded.
///  2. The charge of filter and index is given back by whoever deletes them last.
struct Table::Inside {
  /// Of the one who loads; the others go on without. Taken by exchange(acquire), given back by store(release).
  std::atomic<bool> is_loading = false;
  std::unique_ptr<BlockSlot[]> owned_slots;  // Made once, by one who loads.

  std::atomic<const TableProperties*> properties = nullptr;  // Stored with release once, acquired by all.
  std::atomic<const Filter*> prefix_filter = nullptr;        // As Table::filter_.
  /// There is none, it is damaged, or of another hash: no use to try. Relaxed; the filter itself is what is acquired.
  std::atomic<bool> filter_is_useless = false;
  std::atomic<bool> prefix_filter_is_useless = false;

  mutable Mutex mutex;
  std::unique_ptr<const TableProperties> owned_properties GUARDED_BY(mutex);
  std::shared_ptr<const Index> owned_index GUARDED_BY(mutex);
  std::shared_ptr<const Filter> owned_filter GUARDED_BY(mutex);
  std::shared_ptr<const Filter> owned_prefix_filter GUARDED_BY(mutex);
  std::optional<Status> filter_problem GUARDED_BY(mutex);

  // Relaxed all: nothing is concluded from one about another.
  std::atomic<std::uint64_t> probes = 0;
  std::atomic<std::uint64_t> positives = 0;
  std::atomic<std::uint64_t> false_positives = 0;
  std::atomic<std::uint64_t> unfiltered = 0;
  std::atomic<std::uint64_t> hits = 0;
  std::atomic<std::uint64_t> blocks_read = 0;
  std::atomic<std::uint64_t> metadata_loads = 0;
  /// Peeks are so short that threads may not share a line to count them.
  struct alignas(kCacheLineBytes) PeekCounts {
    std::atomic<std::uint64_t> found = 0;
    std::atomic<std::uint64_t> absent = 0;
  };
  std::array<PeekCounts, 4> peeks;
};

}  // namespace tamis
