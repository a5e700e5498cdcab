// The range deletes of all that a reader reads.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/try.h"
#include "engine/read_view.h"
#include "entry/range_deletes.h"
#include "memtable/memtable.h"
#include "table/staged_lookup.h"
#include "tree/version.h"

namespace tamis {

/// Of some memtables, newest first, and a version, which must outlive it. None of their filters, bounds and indexes is
/// asked: these know only of entries (rule 26).
///
/// Threads: constant after construction.
class ViewRangeDeletes final : public RangeDeletes {
 public:
  /// Made after the reader's moment was loaded.
  template <typename Memtables>
  ViewRangeDeletes(const Memtables& memtables, const Version& version) : of_tables_(version.range_deletes().get()) {
    for (const auto& memtable : memtables) {
      if (memtable->has_range_deletes()) of_memtables_.push_back(&memtable->range_deletes());
    }
  }

  /// Memtables are newer than each other and than the tables in this order, so the first answer is the newest.
  [[nodiscard]] Result<const RangeTombstone*> newest_covering(std::string_view key, Sequence moment) const override {
    for (const RangeDeletes* deletes : of_memtables_) {
      TAMIS_TRY(const RangeTombstone* const found, deletes->newest_covering(key, moment));
      if (found != nullptr) return found;
    }
    if (of_tables_ == nullptr) return nullptr;
    return of_tables_->newest_covering(key, moment);
  }

 private:
  std::vector<const RangeDeletes*> of_memtables_;
  const RangeDeletes* of_tables_;
};

/// Whether some that may hide what was found are not in memory, because they could not be read. To read them again,
/// leave the epoch (rule 10).
inline bool lacks_range_deletes(const ReadView& view, const StagedLookup& staged) {
  if (staged.answer != LookupAnswer::kFound || !view.older_have_range_deletes) [[likely]]
    return false;
  const auto& deletes = view.version->range_deletes();
  return deletes != nullptr && deletes->lacks(staged.lookup.key);
}

/// Whether a range delete hides the value that was found. Then the answer becomes that the key was deleted.
Result<bool> hide_covered(const ReadView& view, StagedLookup& staged);

}  // namespace tamis
