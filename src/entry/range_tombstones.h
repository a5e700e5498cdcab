// Range deletes, ready for questions about keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "entry/entry.h"
#include "entry/key_range.h"
#include "entry/key_stretch.h"

namespace tamis {

/// One range delete: hides what its keys held before its sequence. Its range is not empty; without an end it reaches to
/// the end of the keyspace.
struct RangeTombstone {
  KeyRange range;
  Sequence sequence = {};

  friend bool operator==(const RangeTombstone&, const RangeTombstone&) = default;
};

/// The tombstone of an entry of the kind kRangeDelete: its value is the end, or empty if there is none.
RangeTombstone range_tombstone_of(const Entry& entry);

/// Any number of range deletes, which may overlap.
///
/// A segment tree over the distinct bounds: each tombstone is in O(log n) nodes, and the nodes above a key have all
/// that cover it. So any moment has an exact answer in O(log² n), and n tombstones that overlap take O(n log n) memory,
/// not O(n²).
///
/// Threads: constant after construction.
class RangeTombstones {
 public:
  RangeTombstones() = default;
  explicit RangeTombstones(std::vector<RangeTombstone> tombstones);
  RangeTombstones(const RangeTombstones&) = delete;
  RangeTombstones& operator=(const RangeTombstones&) = delete;

  /// Of the tombstones with a sequence up to `moment` that cover the key, the one with the largest; null if there is
  /// none. Valid as long as this. `same`, if given, is cut to keys that have the same answer.
  [[nodiscard]] const RangeTombstone* newest_covering(std::string_view key, Sequence moment,
                                                      KeyStretch* same = nullptr) const;
  /// The largest sequence up to `moment`; 0 if there is none.
  [[nodiscard]] Sequence newest(Sequence moment) const;
  /// By ascending sequence.
  [[nodiscard]] std::span<const RangeTombstone> all() const { return tombstones_; }
  [[nodiscard]] bool empty() const { return tombstones_.empty(); }
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  template <typename Visit>
  void visit_nodes(const RangeTombstone& tombstone, Visit visit) const;

  std::vector<RangeTombstone> tombstones_;
  std::vector<std::string_view> bounds_;    // Distinct, ascending. Leaf i is [bounds_[i], bounds_[i + 1]).
  std::vector<std::uint32_t> node_begins_;  // In in_nodes_, by node; the leaves come last.
  std::vector<std::uint32_t> in_nodes_;     // Numbers of tombstones, ascending in each node.
};

/// The larger of two, either of which may be null.
inline const RangeTombstone* newer_of(const RangeTombstone* a, const RangeTombstone* b) {
  if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
  return a->sequence < b->sequence ? b : a;
}

/// The same deletes as fragments: two of them are disjoint or have the same range. Of each stripe (drop_rule.h), a
/// fragment has only the newest sequence: readers see no other. In the order of entries: ranges ascending, then
/// sequences descending.
std::vector<RangeTombstone> fragments_of(std::vector<RangeTombstone> tombstones, std::span<const Sequence> snapshots);

/// The parts of fragments, in order, that lie from `from` up to `to`.
std::vector<RangeTombstone> cut_fragments(std::span<const RangeTombstone> fragments, const KeyRange& to);

}  // namespace tamis
