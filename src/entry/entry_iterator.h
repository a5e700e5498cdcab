// The common interface of ordered entries: memtables, tables, levels, and merges of them.
#pragma once

#include <utility>

#include "base/check.h"
#include "entry/entry.h"
#include "tamis/status.h"

namespace tamis {

/// Iterates over entries in the order of EntryPosition, in both directions.
///
/// It is on an entry (valid) or on none: initially, beyond either end, or after an error. The current entry is stored
/// here rather than returned by a virtual call, so reading it costs a load. A source with several entries ready shows
/// the first of an array of them, and `step` moves inside the array without a call.
///
/// Invariants:
///  1. valid() implies status().ok(). An iterator that stopped with an error is not at the end: check status() first.
///  2. Positions strictly ascend, except in a merge of runs with entries of equal key and sequence.
///  3. What entry() shows, including its views, lives until this iterator moves; other iterators may move meanwhile.
///  4. next and previous require valid(); a seek is always allowed and clears an earlier error.
///  5. The entries of one array live together: those that `step` left while has_ready() live until another move.
///
/// Threads: one at a time. What it iterates over must outlive it.
class EntryIterator {
 public:
  EntryIterator() = default;
  EntryIterator(const EntryIterator&) = delete;
  EntryIterator& operator=(const EntryIterator&) = delete;
  virtual ~EntryIterator() = default;

  [[nodiscard]] bool valid() const { return entry_ != nullptr; }
  [[nodiscard]] const Entry& entry() const {
    TAMIS_INVARIANT(valid());
    return *entry_;
  }
  [[nodiscard]] const Status& status() const { return status_; }

  /// To the first entry at or after the position. The target's key may belong to any iterator but this one.
  virtual void seek(EntryPosition target) = 0;
  /// To the last entry at or before the position.
  virtual void seek_backwards(EntryPosition target) {
    seek(target);
    if (valid()) {
      if (entry().position() != target) previous();
    } else if (status().ok()) {
      seek_to_last();
    }
  }
  virtual void seek_to_first() = 0;
  virtual void seek_to_last() = 0;
  virtual void next() = 0;
  virtual void previous() = 0;

  /// Call before a seek to this position: prefetches what it needs, so that several iterators wait for memory together.
  /// Has no visible effect, and may do nothing.
  virtual void prepare_seek(EntryPosition /*target*/) {}

  /// Whether the next entry follows this one in memory.
  [[nodiscard]] bool has_ready() const { return entry_ != last_ready_; }
  /// The last entry that is ready; the current one if none follows it.
  [[nodiscard]] const Entry& last_ready() const {
    TAMIS_INVARIANT(valid());
    return *last_ready_;
  }
  /// Same as next, but only a load and a comparison if the entry is ready.
  void step() {
    TAMIS_INVARIANT(valid());
    if (has_ready()) [[likely]] {
      ++entry_;
    } else {
      next();
    }
  }

 protected:
  /// Every move ends with one of these four. What is shown must stay in place until the next move.
  void show(const Entry& entry) { show_ready(&entry, &entry); }
  /// For iterators that derive their position from where entry() is in the array.
  void show_ready(const Entry* entry, const Entry* last) {
    entry_ = entry;
    last_ready_ = last;
    if (!status_.ok()) [[unlikely]]
      status_ = {};
  }
  /// Shows what another iterator shows and has ready.
  void show_as(const EntryIterator& other) { show_ready(other.entry_, other.last_ready_); }
  /// Moves `other`, which this one shows, to where `step` has moved this one.
  void lead(EntryIterator& other) const { other.entry_ = entry_; }
  void show_end() {
    entry_ = last_ready_ = nullptr;
    if (!status_.ok()) [[unlikely]]
      status_ = {};
  }
  void show_error(Status error) {
    TAMIS_INVARIANT(!error.ok());
    entry_ = last_ready_ = nullptr;
    status_ = std::move(error);
  }

 private:
  const Entry* entry_ = nullptr;
  const Entry* last_ready_ = nullptr;  // Of the array that contains entry_.
  Status status_;
};

}  // namespace tamis
