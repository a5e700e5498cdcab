// What a user sees of the entries: the keys and values of one moment.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "entry/entry_iterator.h"
#include "entry/key_range.h"
#include "entry/visible.h"

namespace tamis {

/// Walks both ways over the keys of a range as they were at a snapshot: of each key the newest version at or below the
/// snapshot's sequence, if that is a value (entry/visible.h).
///
/// Forwards it stands on the version it shows and copies its key when it leaves, unless the source has the next entry
/// ready beside it; backwards, where the newest version of
/// a key comes last, it has passed the version it shows and keeps key and value. Both buffers are reused, so a step
/// allocates only while they grow.
///
/// Invariants:
///  1. valid() implies that key() is in the range, and status().ok().
///  2. Valid, forwards: the source stands on the version shown.
///  3. Valid, backwards: the source stands before every version of key(), or on nothing; key_ and value_ are the
///  buffers.
///  4. The range does not change; a seek to a place outside goes to the nearest place inside, if any lies that way.
///
/// Threads: one at a time. Whoever makes it keeps alive what the source walks over.
class VisibleIterator {
 public:
  VisibleIterator(std::unique_ptr<EntryIterator> source, Sequence snapshot, KeyRange range);

  [[nodiscard]] bool valid() const { return valid_; }
  /// Both live until this iterator moves.
  [[nodiscard]] std::string_view key() const {
    TAMIS_INVARIANT(valid_);
    return key_;
  }
  [[nodiscard]] std::string_view value() const {
    TAMIS_INVARIANT(valid_);
    return value_;
  }
  /// Why it is not valid: ok at either end, else what went wrong. A seek forgets it.
  [[nodiscard]] const Status& status() const { return status_; }

  /// To the first key at or after this one.
  void seek(std::string_view key);
  /// To the last key before this one.
  void seek_before(std::string_view key);
  /// To the last key at or before this one.
  void seek_at_or_before(std::string_view key);
  void seek_to_first();
  void seek_to_last();
  /// Both need valid().
  void next() {
    TAMIS_INVARIANT(valid_);
    if (direction_ != Direction::kForwards) [[unlikely]]
      return next_anyhow();
    const std::string_view before = key_;  // Lives on: it stands in one array with those that are ready.
    while (source_->has_ready()) {
      source_->step();
      const Entry& entry = source_->entry();
      if (is_same_key(entry.key, before)) continue;
      const Visible here = visible(entry, snapshot_);
      if (here == Visible::kNewer) continue;
      if (here == Visible::kDeleted || range_.ends_before(entry.key)) [[unlikely]]
        return find_after(before);
      key_ = entry.key;
      value_ = entry.value;
      return;
    }
    next_anyhow();
  }
  void previous();

 private:
  /// Most keys of one length that differ do so in their last eight bytes.
  static bool is_same_key(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    if (a.size() >= 8) [[likely]] {
      const std::size_t last = a.size() - 8;
      if (load_le<std::uint64_t>(a.data() + last) != load_le<std::uint64_t>(b.data() + last)) return false;
    }
    return a == b;
  }
  void next_anyhow();
  void find_after(std::string_view key);
  void find_forwards(bool skips_saved_key);
  void find_backwards();
  void seek_backwards(std::string_view key, Sequence sequence);
  void show(std::string_view key, std::string_view value, Direction direction);
  void show_end();

  const Sequence snapshot_;
  const KeyRange range_;
  std::unique_ptr<EntryIterator> source_;
  Status status_;
  Direction direction_ = Direction::kForwards;
  bool valid_ = false;
  std::string_view key_;
  std::string_view value_;
  std::string saved_key_;  // Forwards: the key whose remaining versions are passed over. Backwards: the key shown.
  std::string saved_value_;
};

}  // namespace tamis
