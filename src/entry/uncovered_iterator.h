// Iterates over entries that no range delete hides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "entry/entry_iterator.h"
#include "entry/range_deletes.h"

namespace tamis {

/// What hides entries from a scan.
struct Uncovered {
  const RangeDeletes* deletes = nullptr;  ///< Null: nothing does.
  Sequence moment = {};                   ///< Of the reader.
  std::uint64_t* stepped = nullptr;       ///< Counts hidden entries that were left one by one. Not null with deletes.
};

/// Asks for the newest range delete that covers a key. Neighbouring keys mostly have the same answer, so it keeps the
/// last one.
///
/// Invariant: inside same_, the newest is newest_.
///
/// Threads: one.
class CoveringDelete {
 public:
  explicit CoveringDelete(const Uncovered& uncovered) : uncovered_(uncovered) {}

  Status ask(std::string_view key);
  /// Of the last key; null if there is none.
  [[nodiscard]] const RangeTombstone* newest() const { return newest_; }
  /// Keys with the same answer.
  [[nodiscard]] const KeyStretch& same() const { return *same_; }
  void count_step() const { ++*uncovered_.stepped; }

 private:
  const Uncovered uncovered_;
  std::optional<KeyStretch> same_;  // None: nothing was asked yet.
  const RangeTombstone* newest_ = nullptr;
};

/// A part of a source: tables of a run, or all of a memtable. The views belong to its owner.
struct SourcePart {
  std::string_view smallest = {};
  std::optional<std::string_view> largest = {};  ///< Inclusive; none: unknown.
  Sequence newest = kMaxSequence;                ///< No entry has a larger sequence.
};

/// Parts in key order that have all entries of a source. They are asked for one by one: a run may have thousands.
struct SourceParts {
  std::size_t count = 0;
  std::function<SourcePart(std::size_t)> at;
};

/// The entries of one source without those that a range delete hides from a reader.
///
/// A range delete hides everything in its range from a part of the source whose entries are all older: such a part is
/// left by one seek, or is not entered at all. In other parts each entry is compared.
///
/// Invariant: the source is on the entry that is shown, or was when the first of those that are ready was shown.
///
/// Threads: as EntryIterator. The range deletes must outlive it.
class UncoveredIterator final : public EntryIterator {
 public:
  UncoveredIterator(std::unique_ptr<EntryIterator> source, const Uncovered& uncovered, SourceParts parts)
      : source_(std::move(source)), covering_(uncovered), parts_(std::move(parts)) {
    if (!source_->status().ok()) show_error(source_->status());
  }
  /// Of a source in one part, whose keys are unknown.
  UncoveredIterator(std::unique_ptr<EntryIterator> source, const Uncovered& uncovered, Sequence newest)
      : UncoveredIterator(std::move(source), uncovered,
                          SourceParts{1, [newest](std::size_t) { return SourcePart{.newest = newest}; }}) {}

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

 private:
  /// Where to go on after a hidden entry.
  struct Exit {
    enum class Kind : std::uint8_t { kStep, kSeek, kEnd } kind;
    EntryPosition target = {};  // kSeek
  };

  void settle(Direction direction);
  [[nodiscard]] std::size_t first_part_reaching(std::string_view key) const;
  [[nodiscard]] Exit exit_forwards(std::size_t here) const;
  [[nodiscard]] Exit exit_backwards(std::string_view key) const;
  template <typename Holds>
  [[nodiscard]] std::size_t first_part(Holds holds) const;

  const std::unique_ptr<EntryIterator> source_;
  CoveringDelete covering_;
  const SourceParts parts_;
};

}  // namespace tamis
