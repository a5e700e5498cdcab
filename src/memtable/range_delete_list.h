// The range deletes of a memtable.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "entry/range_deletes.h"
#include "memtable/counted_bytes.h"
#include "tamis/status.h"

namespace tamis {

/// Range deletes in a list, newest first: single ones, then sets of 64, of 512 and so on, each of which answers by a
/// search. Eight sets of a size become one of the next, so a lookup asks few of them, and n inserts cost O(n log² n).
///
/// Invariants:
///  1. What a reader has begun to read stays as it is, and lives as long as this list.
///  2. An insert that was prepared cannot fail. If memory for a set is short, single ones stay single.
///
/// Threads: one inserter at a time; any number of readers.
class RangeDeleteList final : public RangeDeletes {
 public:
  explicit RangeDeleteList(MemoryCount& memory) : memory_(memory) {}
  ~RangeDeleteList() override = default;

  /// Takes the memory for an insert; kOutOfSpace if it is short. Inserts come in the order in which they were prepared.
  Status prepare(std::string_view from, std::string_view to);
  /// Forgets what was prepared and not inserted.
  void forget_prepared() { prepared_.clear(); }
  /// Of the kind kRangeDelete. Sequences ascend. If it was not prepared, it allocates, and aborts the program if memory
  /// is short.
  void insert(const Entry& entry);

  [[nodiscard]] bool empty() const { return head_.load(std::memory_order_acquire) == nullptr; }
  [[nodiscard]] std::uint64_t size() const { return size_.load(std::memory_order_relaxed); }
  [[nodiscard]] Result<const RangeTombstone*> newest_covering(std::string_view key, Sequence moment,
                                                              KeyStretch* same = nullptr) const override;
  [[nodiscard]] Sequence newest(Sequence moment) const override;
  [[nodiscard]] std::vector<RangeTombstone> all() const;

 private:
  struct Node {
    RangeTombstone single = {};
    std::unique_ptr<const RangeTombstones> set = {};  // Instead of the single one.
    std::size_t count = 1;
    const Node* next = nullptr;
  };

  void publish(std::unique_ptr<Node> node, const Node* next);
  void make_sets();

  MemoryCount& memory_;
  /// The newest. Stored with release after the node is complete; loaded with acquire.
  std::atomic<const Node*> head_ = nullptr;
  std::atomic<std::uint64_t> size_ = 0;
  // The inserter's.
  std::vector<std::unique_ptr<const Node>> nodes_;  // All that were ever published.
  std::deque<std::unique_ptr<Node>> prepared_;
  std::size_t singles_ = 0;
};

}  // namespace tamis
