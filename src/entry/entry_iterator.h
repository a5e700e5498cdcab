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
/// kept here and not asked for by a virtual call, so that looking costs a load and a step one call.
///
/// Invariants:
///  1. valid() implies status().ok(). A walk that ended with an error is not at the end: look at status() first.
///  2. Positions strictly ascend, except in a merge of runs that hold entries of equal key and sequence.
///  3. What entry() shows, its views included, lives until this iterator moves; other iterators may move meanwhile.
///  4. next and previous need valid(); a seek is allowed at any time and forgets an earlier error.
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

 protected:
  /// Every move ends with one of these three. What is shown must stay where it is until the next move.
  void show(const Entry& entry) {
    entry_ = &entry;
    if (!status_.ok()) [[unlikely]]
      status_ = {};
  }
  void show_end() {
    entry_ = nullptr;
    if (!status_.ok()) [[unlikely]]
      status_ = {};
  }
  void show_error(Status error) {
    TAMIS_INVARIANT(!error.ok());
    entry_ = nullptr;
    status_ = std::move(error);
  }

 private:
  const Entry* entry_ = nullptr;
  Status status_;
};

}  // namespace tamis
