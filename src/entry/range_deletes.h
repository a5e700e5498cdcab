// Who knows of range deletes.
#pragma once

#include <string_view>

#include "entry/entry.h"
#include "entry/key_stretch.h"
#include "entry/range_tombstones.h"
#include "tamis/status.h"

namespace tamis {

/// The range deletes of a memtable, of the tables of a version, or of all that a reader reads.
///
/// Threads: any.
class RangeDeletes {
 public:
  RangeDeletes() = default;
  RangeDeletes(const RangeDeletes&) = delete;
  RangeDeletes& operator=(const RangeDeletes&) = delete;
  virtual ~RangeDeletes() = default;

  /// Of those with a sequence up to `moment` that cover the key, the one with the largest; null if there is none. An
  /// error if some that may cover the key cannot be read (rule 26). Valid as long as this. `same`, if given, is cut to
  /// keys that have the same answer.
  [[nodiscard]] virtual Result<const RangeTombstone*> newest_covering(std::string_view key, Sequence moment,
                                                                      KeyStretch* same = nullptr) const = 0;
  /// The largest sequence up to `moment` that one of them has; 0 if there is none.
  [[nodiscard]] virtual Sequence newest(Sequence moment) const = 0;
};

}  // namespace tamis
