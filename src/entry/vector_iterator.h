// Sorted entries in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

#include "entry/entry_iterator.h"

namespace tamis {

/// Iterates over entries sorted by position; never fails. They must outlive it, unchanged.
///
/// Threads: as EntryIterator.
class VectorIterator final : public EntryIterator {
 public:
  explicit VectorIterator(std::span<const Entry> entries) : entries_(entries) {
    TAMIS_INVARIANT(std::ranges::adjacent_find(entries_, std::greater_equal(), &Entry::position) == entries_.end());
  }

  void seek(EntryPosition target) override {
    const auto at = std::ranges::partition_point(entries_, [&](const Entry& e) { return e.position() < target; });
    show_at(static_cast<std::size_t>(at - entries_.begin()));
  }
  void seek_to_first() override { show_at(0); }
  void seek_to_last() override { show_at(entries_.size() - 1); }
  void next() override {
    TAMIS_INVARIANT(valid());
    show_at(at() + 1);
  }
  void previous() override {
    TAMIS_INVARIANT(valid());
    show_at(at() - 1);
  }

 private:
  [[nodiscard]] std::size_t at() const { return static_cast<std::size_t>(&entry() - entries_.data()); }
  /// One before the first wraps around to a number beyond the last: either way there is no entry.
  void show_at(std::size_t at) {
    if (at < entries_.size()) {
      // All could be ready. Only a varying few are, so that tests of the consumer cover both paths.
      show_ready(&entries_[at], &entries_[std::min(at + at % 4, entries_.size() - 1)]);
    } else {
      show_end();
    }
  }

  std::span<const Entry> entries_;
};

}  // namespace tamis
