// What a transaction has read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entry/key_range.h"
#include "entry/keyspace_id.h"

namespace tamis {

/// Keys and intervals of keys, by keyspace. When they take more than their max memory, neighbours become one interval:
/// the set then holds more keys than were read, never fewer (rule 40).
///
/// Invariants:
///  1. Every key that was added, and every key of an interval that was added, is in the set.
///  2. After prepare(), ranges() are sorted, and those of one keyspace do not overlap.
///
/// Threads: one at a time; constant while the leader looks at it.
class ReadSet {
 public:
  struct Point {
    KeyspaceId keyspace = {};
    std::string_view key;
  };
  struct Interval {
    KeyspaceId keyspace = {};
    KeyRange range = {};
  };
  /// Where a cursor adds the interval that it has passed. Valid until the set is coarsened.
  struct Slot {
    std::size_t number = 0;
    std::uint64_t coarsenings = ~std::uint64_t{0};
  };

  explicit ReadSet(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  void add_key(KeyspaceId keyspace, std::string_view key);
  /// The slot's interval grows by the keys from `from` (inclusive) to `to` (exclusive; none: all) if they overlap or
  /// touch. Otherwise the slot begins a new interval.
  void add_range(Slot& slot, KeyspaceId keyspace, std::string_view from, std::optional<std::string_view> to);

  /// Before the commit is checked.
  void prepare();
  template <typename Visit>
  void visit_points(Visit visit) const {
    for (const StoredPoint& point : points_) visit(view(point));
  }
  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }
  /// Those other than the default one, each once.
  [[nodiscard]] const std::vector<KeyspaceId>& keyspaces() const { return keyspaces_; }
  [[nodiscard]] bool empty() const { return points_.empty() && intervals_.empty(); }
  [[nodiscard]] std::uint64_t memory_bytes() const { return bytes_.capacity() + point_bytes() + interval_bytes_; }

 private:
  struct StoredPoint {
    KeyspaceId keyspace = {};
    std::uint32_t key_bytes = 0;
    std::size_t offset = 0;  // In bytes_.
  };
  [[nodiscard]] Point view(const StoredPoint& point) const {
    return {point.keyspace, std::string_view(bytes_).substr(point.offset, point.key_bytes)};
  }
  [[nodiscard]] std::uint64_t point_bytes() const { return points_.capacity() * sizeof(StoredPoint); }
  void add_keyspace(KeyspaceId keyspace);
  void join_overlapping();
  void coarsen();
  void count_intervals();

  const std::uint64_t max_bytes_;
  std::string bytes_;
  std::vector<StoredPoint> points_;
  std::vector<Interval> intervals_;
  std::uint64_t interval_bytes_ = 0;
  std::vector<KeyspaceId> keyspaces_;
  std::uint64_t coarsenings_ = 0;
};

}  // namespace tamis
