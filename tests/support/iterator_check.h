// An iterator compared with the entries that it should show.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "entry/entry_iterator.h"

namespace tamis::test {

/// Moves an iterator, and an index into the sorted entries; either end is the number of entries.
///
/// Threads: one.
class IteratorCheck {
 public:
  IteratorCheck(EntryIterator& iterator, std::vector<Entry> entries, std::uint64_t seed = 1)
      : iterator_(iterator), entries_(std::move(entries)), at_(entries_.size()), random_(seed) {}

  void seek_to_first() {
    at_ = 0;
    iterator_.seek_to_first();
  }
  void seek_to_last() {
    at_ = before(entries_.size());
    iterator_.seek_to_last();
  }
  void next() {
    ++at_;
    iterator_.next();
  }
  void previous() {
    at_ = before(at_);
    iterator_.previous();
  }

  /// A random move; a seek goes to a key that `make_key` draws. Steps are four times as likely as seeks, in runs of one
  /// direction.
  template <typename MakeKey>
  void move(const MakeKey& make_key) {
    const std::string key = make_key(random_);
    const EntryPosition target{key, some_sequence()};
    switch (at_ < entries_.size() ? random_() % 20 : 16 + random_() % 4) {
      case 16: return seek(target);
      case 17: return seek_backwards(target);
      case 18: return seek_to_first();
      case 19: return seek_to_last();
      default: break;
    }
    if (random_() % 4 == 0) is_forwards_ = !is_forwards_;
    if (!is_forwards_) return previous();
    if (random_() % 2 == 0) return next();
    ++at_;
    iterator_.step();
  }
  template <typename MakeKey>
  void moves(int count, const MakeKey& make_key) {
    for (int i = 0; i < count; ++i) {
      move(make_key);
      ASSERT_TRUE(agrees()) << "move " << i;
    }
  }

  /// From end to end, both ways.
  void walk() {
    for (seek_to_first(); at_ < entries_.size() && agrees(); next()) continue;
    ASSERT_TRUE(agrees()) << "entry " << at_;
    for (seek_to_last(); at_ < entries_.size() && agrees(); previous()) continue;
    ASSERT_TRUE(agrees()) << "entry " << at_ << ", backwards";
  }

  [[nodiscard]] bool agrees() const {
    if (at_ >= entries_.size()) return !iterator_.valid() && iterator_.status().ok();
    return iterator_.valid() && iterator_.entry() == entries_[at_];
  }

 private:
  [[nodiscard]] std::size_t before(std::size_t at) const { return at == 0 ? entries_.size() : at - 1; }
  void seek(EntryPosition target) {
    const auto at = std::ranges::lower_bound(entries_, target, {}, &Entry::position);
    at_ = static_cast<std::size_t>(at - entries_.begin());
    iterator_.prepare_seek(target);
    iterator_.seek(target);
  }
  void seek_backwards(EntryPosition target) {
    const auto at = std::ranges::upper_bound(entries_, target, {}, &Entry::position);
    at_ = before(static_cast<std::size_t>(at - entries_.begin()));
    iterator_.seek_backwards(target);
  }
  /// The last one, or near that of an entry.
  Sequence some_sequence() {
    if (entries_.empty() || random_() % 4 == 0) return kMaxSequence;
    const std::uint64_t near = number_of(entries_[random_() % entries_.size()].sequence);
    return Sequence{near == 0 ? 0 : near - 1 + random_() % 3};
  }

  EntryIterator& iterator_;
  const std::vector<Entry> entries_;
  std::size_t at_;
  std::mt19937_64 random_;
  bool is_forwards_ = true;
};

}  // namespace tamis::test
