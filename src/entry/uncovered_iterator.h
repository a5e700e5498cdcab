// Iterates over entries that no range delete hides.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "entry/entry_iterator.h"
#include "entry/range_deletes.h"

namespace tamis {

/// A part of a source: tables of a run, or all of a memtable. The views belong to its owner.
struct SourcePart {
  std::string_view smallest = {};
  std::optional<std::string_view> largest = {};  ///< Inclusive; none: unknown.
  Sequence newest = kMaxSequence;                ///< No entry has a larger sequence.
};

/// The entries of one source without those that a range delete hides from a reader at `moment`.
///
/// A range delete hides everything in its range from a part of the source whose entries are all older: such a part is
/// left by one seek, or is not entered at all. In other parts each entry is compared.
///
/// Invariants: the source is on the entry that is shown.
///
/// Threads: as EntryIterator. The range deletes must outlive it.
class UncoveredIterator final : public EntryIterator {
 public:
  /// `parts` are in key order and have all entries of the source.
  UncoveredIterator(std::unique_ptr<EntryIterator> source, const RangeDeletes& deletes, Sequence moment,
                    std::vector<SourcePart> parts)
      : source_(std::move(source)), deletes_(deletes), moment_(moment), parts_(std::move(parts)) {
    if (!source_->status().ok()) show_error(source_->status());
  }

  void seek(EntryPosition target) override {
    source_->seek(target);
    settle(Direction::kForwards);
  }
  void seek_backwards(EntryPosition target) override {
    source_->seek_backwards(target);
    settle(Direction::kBackwards);
  }
  void seek_to_first() override {
    source_->seek_to_first();
    settle(Direction::kForwards);
  }
  void seek_to_last() override {
    source_->seek_to_last();
    settle(Direction::kBackwards);
  }
  void next() override {
    TAMIS_INVARIANT(valid());
    source_->next();
    settle(Direction::kForwards);
  }
  void previous() override {
    TAMIS_INVARIANT(valid());
    source_->previous();
    settle(Direction::kBackwards);
  }
  void prepare_seek(EntryPosition target) override { source_->prepare_seek(target); }

 private:
  void settle(Direction direction);
  bool leave_forwards(const RangeTombstone& tombstone);
  bool leave_backwards(const RangeTombstone& tombstone);

  const std::unique_ptr<EntryIterator> source_;
  const RangeDeletes& deletes_;
  const Sequence moment_;
  const std::vector<SourcePart> parts_;
};

}  // namespace tamis
