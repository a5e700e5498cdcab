// A lookup on its way through the tables of a version.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cache/frame.h"
#include "entry/entry.h"
#include "table/index_format.h"
#include "table/lookup_steps.h"

namespace tamis {

class Table;

/// The most lookups in a group. Up to this many blocks are read together.
inline constexpr std::size_t kLookupsAtOnce = 32;

/// Where a lookup in memory stands in a table: what each stage leaves for the next. Not initialised.
struct BlockPlace {
  const Index* index;
  BlockSlot* slots;
  Frame* frame;
  std::uint32_t group;
  std::uint32_t block;
  std::uint32_t entry;
};

/// Where a lookup that may read from disk stands in a table: at the block that it needs next. The caller gets the
/// block, alone or together with those that other lookups need.
///
/// Threads: one.
struct TableSearch {
  Table* table = nullptr;
  std::shared_ptr<const Index> index;  // Counted: the table may unload it while the lookup waits for the disk.
  std::uint32_t block = 0;
  TableStep step;
};

/// One lookup, and how far it has come: it asks the runs of a version in turn, first in memory alone. One that is
/// kUnknown then goes on from the run it has reached in a way that may read from disk (DiskLookup).
///
/// Threads: one.
struct StagedLookup {
  Lookup lookup;
  std::uint32_t number = 0;  // The caller's.
  std::uint32_t run = 0;     // For kUnknown: the first run that has not answered.
  LookupAnswer answer = LookupAnswer::kAbsent;
  bool is_expected = false;      // In `table`: its filter is asked only if the key is not there.
  FoundEntry found;              // For kFound. In memory alone, the value lives as long as the EpochGuard.
  const Table* table = nullptr;  // The one that is asked, or had the key; null while memtables are.
  BlockPlace place;
};

/// Some lookups that go side by side, in their order.
///
/// Threads: one.
class LookupGroup {
 public:
  void add(StagedLookup& lookup) { lookups_[count_++] = &lookup; }
  /// Leaves out those of which `stays` says no.
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
