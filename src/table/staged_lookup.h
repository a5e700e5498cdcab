// The state of a lookup in the tables of a version.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cache/frame.h"
#include "entry/entry.h"
#include "table/index_part.h"
#include "table/lookup_steps.h"

namespace tamis {

class Table;

/// The maximum number of lookups in a group, and of blocks read together.
inline constexpr std::size_t kLookupsAtOnce = 32;

/// The position of an in-memory lookup in a table: each stage's results for the next. Not initialised.
struct BlockPlace {
  const Index* index;
  BlockSlot* slots;
  Frame* frame;
  std::uint32_t group;
  std::uint32_t block;
  std::uint32_t entry;
};

/// The position in a table of a lookup that may read from disk: the block that it needs next. The caller gets the
/// block, alone or together with blocks for other lookups.
///
/// Threads: one.
struct TableSearch {
  Table* table = nullptr;
  bool fills_cache = true;
  bool is_sampled = false;  // By ProbeSampling; counted when the search ends.
  IndexPart part;           // Holds the block.
  std::uint32_t block = 0;
  TableStep step;
};

/// A lookup and its progress. It probes the runs of a version in turn, first in memory only. If it is kUnknown, it
/// continues at the run it has reached, with reads from disk (DiskLookup).
///
/// Threads: one.
struct StagedLookup {
  Lookup lookup;
  std::uint32_t number = 0;  // For the caller.
  std::uint32_t run = 0;     // For kUnknown: the first run that has not answered.
  LookupAnswer answer = LookupAnswer::kAbsent;
  bool is_expected = false;      // In `table`: its filter is asked only if the key is not found.
  FoundEntry found;              // For kFound. If found in memory, the value is valid inside the EpochGuard.
  const Table* table = nullptr;  // The table being probed, or that has the key; null for memtables.
  BlockPlace place;
};

/// Lookups that proceed together, in order.
///
/// Threads: one.
class LookupGroup {
 public:
  void add(StagedLookup& lookup) { lookups_[count_++] = &lookup; }
  /// Removes the lookups for which `stays` is false.
  template <typename Predicate>
  void keep_if(Predicate stays) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      StagedLookup* const lookup = lookups_[i];
      lookups_[kept] = lookup;
      kept += stays(*lookup) ? 1 : 0;
    }
    count_ = kept;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] StagedLookup* const* begin() const { return lookups_.data(); }
  [[nodiscard]] StagedLookup* const* end() const { return lookups_.data() + count_; }

 private:
  std::array<StagedLookup*, kLookupsAtOnce> lookups_;
  std::size_t count_ = 0;
};

}  // namespace tamis
