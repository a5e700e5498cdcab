// Iterates over entries that no range delete hides.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "entry/entry_iterator.h"
#include "entry/range_deletes.h"

namespace tamis {

/// What hides entries from a scan.
struct Uncovered {
  const RangeDeletes* deletes = nullptr;  ///< Null: nothing does.
  Sequence moment = {};                   ///< Of the reader.
  std::uint64_t* stepped = nullptr;       ///< Counts hidden entries that were left one by one. Not null with deletes.
};

/// A part of a source: tables of a run, or all of a memtable. The views belong to its owner.
struct SourcePart {
  std::string_view smallest = {};
  std::optional<std::string_view> largest = {};  ///< Inclusive; none: unknown.
  Sequence newest = kMaxSequence;                ///< No entry has a larger sequence.
};

/// The entries of one source without those that a range delete hides from a reader.
///
/// A range delete hides everything in its range from a part of the source whose entries are all older: such a part is
/// left by one seek, or is not entered at all. In other parts each entry is compared.
///
/// Invariants: the source is on the entry that is shown, or was when the first of those that are ready was shown.
/// Inside same_, the newest range delete is newest_.
///
/// Threads: as EntryIterator. The range deletes must outlive it.
class UncoveredIterator final : public EntryIterator {
 public:
  UncoveredIterator(std::unique_ptr<EntryIterator> source, const Uncovered& uncovered, const SourcePart& whole)
      : source_(std::move(source)), uncovered_(uncovered), whole_(whole), parts_(&whole_, 1) {
    if (!source_->status().ok()) show_error(source_->status());
  }
  /// `parts` are in key order and have all entries of the source.
  UncoveredIterator(std::unique_ptr<EntryIterator> source, const Uncovered& uncovered, std::vector<SourcePart> parts)
      : source_(std::move(source)), uncovered_(uncovered), several_(std::move(parts)), parts_(several_) {
    if (!source_->status().ok()) show_error(source_->status());
  }

  void seek(EntryPosition target) override;
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
    lead(*source_);
    source_->next();
    settle(Direction::kForwards);
  }
  void previous() override {
    TAMIS_INVARIANT(valid());
    lead(*source_);
    source_->previous();
    settle(Direction::kBackwards);
  }
  void prepare_seek(EntryPosition target) override;

 private:
  /// Where to go on after a hidden entry.
  struct Exit {
    enum class Kind : std::uint8_t { kStep, kSeek, kEnd } kind;
    EntryPosition target = {};  // kSeek
  };

  Status ask(std::string_view key);
  std::optional<EntryPosition> first_uncovered(EntryPosition from);
  void settle(Direction direction);
  [[nodiscard]] Exit exit_forwards(std::string_view key) const;
  [[nodiscard]] Exit exit_backwards(std::string_view key) const;

  const std::unique_ptr<EntryIterator> source_;
  const Uncovered uncovered_;
  const SourcePart whole_ = {};
  const std::vector<SourcePart> several_;
  const std::span<const SourcePart> parts_;  // One of these two.
  std::optional<KeyStretch> same_;           // None: nothing was asked yet.
  const RangeTombstone* newest_ = nullptr;
};

}  // namespace tamis
