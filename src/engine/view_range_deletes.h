// The range deletes of all that a reader reads.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "engine/read_view.h"
#include "entry/empty_ranges.h"
#include "entry/range_deletes.h"
#include "memtable/memtable.h"
#include "table/staged_lookup.h"
#include "tree/version.h"

namespace tamis {

/// Of some memtables, newest first, and a version, which must outlive it; and, as range deletes, what scans have found
/// to be empty. None of their filters, bounds and indexes is asked: these know only of entries (rule 26).
///
/// Threads: constant after construction.
class ViewRangeDeletes final : public RangeDeletes {
 public:
  /// `empty` are in key order, and hold at the reader's moment.
  ViewRangeDeletes(std::span<const std::shared_ptr<Memtable>> memtables, const Version& version,
                   SharedEmptyRanges empty)
      : memtables_(memtables), of_tables_(version.range_deletes().get()), empty_(std::move(empty)) {}

  // view_range_deletes.cc
  [[nodiscard]] Result<const RangeTombstone*> newest_covering(std::string_view key, Sequence moment,
                                                              KeyStretch* same = nullptr) const override;
  [[nodiscard]] Sequence newest(Sequence moment) const override;

 private:
  [[nodiscard]] Result<const RangeTombstone*> newest_written(std::string_view key, Sequence moment,
                                                             KeyStretch* same) const;
  [[nodiscard]] const RangeTombstone* empty_around(std::string_view key, KeyStretch* same) const;

  std::span<const std::shared_ptr<Memtable>> memtables_;
  const RangeDeletes* of_tables_;
  SharedEmptyRanges empty_;
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
