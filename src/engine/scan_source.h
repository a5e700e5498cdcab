// What a scan reads.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/read_view.h"
#include "engine/view_range_deletes.h"
#include "entry/apart_values.h"
#include "entry/empty_range_watch.h"
#include "entry/entry_iterator.h"
#include "entry/keyspace_id.h"
#include "entry/visible.h"
#include "memtable/memtable.h"
#include "table/scan_caching.h"
#include "tree/version.h"

namespace tamis {

/// The entries of `memtable` that no range delete hides, appended to `runs`. Split, so that most of the entries that
/// the newest range delete hides are passed by one seek.
void iterate_uncovered(const Memtable& memtable, const Uncovered& uncovered,
                       std::vector<std::unique_ptr<EntryIterator>>& runs);

/// The memtables and the version of one keyspace at one moment, which it keeps, merged to one iterator.
///
/// Threads: one. Outlives its iterators.
class ScanSource {
 public:
  /// The view has all entries up to the moment.
  ScanSource(const ReadView& view, KeyspaceId keyspace, const Moment& moment);

  /// All versions of the keys of the range, without most of what range deletes and known empty ranges hide. Once. The
  /// keys of a prefix, or all if it is empty.
  std::unique_ptr<EntryIterator> merged(const KeyRange& range, std::string_view prefix, EmptyRanges& empty,
                                        bool fills_cache);
  /// Null in a tree without value files.
  [[nodiscard]] std::unique_ptr<ApartValues> values_apart() const;
  [[nodiscard]] const Moment& moment() const { return moment_; }
  /// Of the iterator that was made.
  [[nodiscard]] EmptyRangeWatch& watch() { return *watch_; }

 private:
  /// Entries added to an empty one later are newer than the moment.
  void keep(const std::shared_ptr<Memtable>& memtable) {
    if (!memtable->empty()) memtables_.push_back(memtable);
  }

  const KeyspaceId keyspace_;
  const Moment moment_;
  std::vector<std::shared_ptr<Memtable>> memtables_;
  const std::shared_ptr<const Version> version_;
  std::optional<ViewRangeDeletes> range_deletes_;
  std::optional<EmptyRangeWatch> watch_;
};

}  // namespace tamis
