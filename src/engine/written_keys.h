// Which keys were written, and when last.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "entry/entry.h"
#include "entry/key_range.h"
#include "entry/keyspace_id.h"

namespace tamis {

/// A key of one keyspace.
struct WrittenKey {
  KeyspaceId keyspace = {};
  std::string_view key;
};

/// The keys of recent writes in order, with the sequence of the last write to each, and of the last one that was no
/// merge; and the intervals that were deleted as a whole.
///
/// Threads: one at a time.
class WrittenKeys {
 public:
  struct StoredKey {
    KeyspaceId keyspace = {};
    std::string key;
  };
  /// Compares a stored key with a view of one, too.
  struct Before {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      if (a.keyspace != b.keyspace) return a.keyspace < b.keyspace;
      return std::string_view(a.key) < std::string_view(b.key);
    }
  };
  struct LastWrites {
    Sequence any = {};
    Sequence no_merge = {};  // 0: none.
  };
  using Keys = std::map<StoredKey, LastWrites, Before>;

  /// Sequences ascend from call to call. True if the key is new. Throws std::bad_alloc.
  std::pair<Keys::iterator, bool> add(WrittenKey written, EntryKind kind, Sequence sequence) {
    auto at = keys_.lower_bound(written);
    const bool is_new = at == keys_.end() || Before()(written, at->first);
    if (is_new) {
      at = keys_.emplace_hint(at, StoredKey{written.keyspace, std::string(written.key)}, LastWrites());
    }
    at->second.any = sequence;
    if (kind != EntryKind::kMerge) at->second.no_merge = sequence;
    return {at, is_new};
  }
  /// All keys of an interval were deleted. If `to` is empty, the interval has no end.
  void add_interval(KeyspaceId keyspace, std::string_view from, std::string_view to, Sequence sequence) {
    intervals_.push_back({keyspace, range_of(from, to), sequence});
  }
  static KeyRange range_of(std::string_view from, std::string_view to) {
    return {std::string(from), to.empty() ? std::nullopt : std::optional<std::string>(to)};
  }
  void erase(Keys::iterator key) { keys_.erase(key); }
  /// Forgets the intervals that were deleted at or before the sequence: the bytes they took.
  std::uint64_t erase_intervals_until(Sequence last);
  void clear() {
    keys_.clear();
    if (!intervals_.empty()) intervals_.clear();
  }
  [[nodiscard]] bool empty() const { return keys_.empty() && intervals_.empty(); }

  /// Whether the key was written after the sequence.
  [[nodiscard]] bool has_key_after(WrittenKey key, Sequence sequence) const;
  /// The same, but for merges.
  [[nodiscard]] bool has_no_merge_after(WrittenKey key, Sequence sequence) const;
  /// A key of the range that was written after the sequence, the first one in order. Valid until something changes.
  [[nodiscard]] std::optional<std::string_view> key_in_range_after(KeyspaceId keyspace, const KeyRange& range,
                                                                   Sequence sequence) const;

  static std::uint64_t bytes_of_interval(std::string_view from, std::string_view to) {
    return sizeof(WrittenInterval) + from.size() + to.size();
  }

 private:
  struct WrittenInterval {
    KeyspaceId keyspace = {};
    KeyRange range;
    Sequence sequence = {};
  };
  using Intervals = std::deque<WrittenInterval>;

  [[nodiscard]] Intervals::const_iterator intervals_after(Sequence sequence) const;
  [[nodiscard]] bool has_interval_after(WrittenKey key, Sequence sequence) const;

  Keys keys_;
  Intervals intervals_;  // By sequence.
};

}  // namespace tamis
