// One face for everything that holds entries in order: memtables, tables, levels, and merges of them.
#pragma once

#include <utility>

#include "base/check.h"
#include "entry/entry.h"
#include "tamis/status.h"

namespace tamis {

/// Walks over entries in the order of EntryPosition, both ways.
///
/// It stands on an entry (valid) or on none: when it is new, beyond either end, or after an error. Where it stands is
/// kept here and not asked for by a virtual call, so that looking costs a load. Who has several entries ready shows the
/// first of an array of them, and `step` goes on inside it without a call.
///
/// Invariants:
///  1. valid() implies status().ok(). A walk that ended with an error is not at the end: look at status() first.
///  2. Positions strictly ascend, except in a merge of runs that hold entries of equal key and sequence.
///  3. What entry() shows, its views included, lives until this iterator moves; other iterators may move meanwhile.
///  4. next and previous need valid(); a seek is allowed at any time and forgets an earlier error.
///  5. The entries of one array live together: those that `step` left while has_ready() live until another move.
///
/// Threads: one at a time. Whoever makes an iterator keeps alive what it walks over.
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

  /// Before a seek to this position: starts loading what it will need, so that several iterators wait for memory
  /// together. Moves nothing that can be seen, and may do nothing.
  virtual void prepare_seek(EntryPosition /*target*/) {}

  /// Whether the entry after this one stands behind it in memory.
  [[nodiscard]] bool has_ready() const { return entry_ != last_ready_; }
  /// The same as next, for a load and a comparison if the entry is ready.
  void step() {
    TAMIS_INVARIANT(valid());
    if (has_ready()) [[likely]] {
      ++entry_;
    } else {
      next();
    }
  }

 protected:
  /// Every move ends with one of these four. What is shown must stay where it is until the next move.
  void show(const Entry& entry) { show_ready(&entry, &entry); }
  /// For who finds its place again from where entry() stands in the array.
  void show_ready(const Entry* entry, const Entry* last) {
    entry_ = entry;
    last_ready_ = last;
    if (!status_.ok()) [[unlikely]]
      status_ = {};
  }
  /// What another one shows, and has ready.
  void show_as(const EntryIterator& other) { show_ready(other.entry_, other.last_ready_); }
  /// To where this one was led by `step`, for one that is shown by this.
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
  const Entry* last_ready_ = nullptr;  // Of the array that entry_ is in.
  Status status_;
};

}  // namespace tamis
