// The textbook memtable: a skip list in an arena, always in order.
#pragma once

#include <array>
#include <atomic>

#include "layout/arena.h"
#include "layout/key_sets.h"

namespace tamis::layout {

/// Towers of at most 12, each level holding a quarter of the one below, as LevelDB has them. Equal keys: newest first.
///
/// Threads: one inserter; readers need no lock (the release store in insert pairs with the acquire load in next_of).
class SkipList {
 public:
  static std::string name() { return "skip list"; }
  static constexpr int kMostLevels = 12;

  SkipList() { head_ = new_node({}, {}, 0, kMostLevels); }

  void insert(std::string_view key, std::string_view value, std::uint64_t sequence, std::uint64_t /*hash*/) {
    std::array<std::uint32_t, kMostLevels> before;
    find_before(key, before);
    const int levels = draw_levels();
    const std::uint32_t node = new_node(key, value, sequence, levels);
    for (int level = 0; level < levels; ++level) {
      link(node, level).store(next_of(before[static_cast<std::size_t>(level)], level), std::memory_order_relaxed);
      link(before[static_cast<std::size_t>(level)], level).store(node, std::memory_order_release);
    }
  }

  [[nodiscard]] const Record* find(std::string_view key, std::uint64_t /*hash*/) const {
    const std::uint32_t node = seek(key);
    if (node == 0 || record(node)->key() != key) return nullptr;
    return record(node);
  }

  /// Visits `length` entries from the first at or after `key`.
  template <typename Visit>
  void scan(std::string_view key, std::size_t length, const Visit& visit) {
    for (std::uint32_t node = seek(key); node != 0 && length > 0; --length, node = next_of(node, 0)) {
      visit(*record(node));
    }
  }
  void make_order() {}  // It always is in order.
  [[nodiscard]] std::size_t bytes() const { return arena_.used(); }
  [[nodiscard]] std::size_t order_bytes() const { return 0; }

 private:
  /// A node is its tower, downwards from the record: link i lies i + 1 words before it.
  std::uint32_t new_node(std::string_view key, std::string_view value, std::uint64_t sequence, int levels) {
    const auto tower = static_cast<std::size_t>((levels + 1) / 2 * 2) * sizeof(std::uint32_t);
    const std::uint32_t place = arena_.allocate(tower + Record::bytes_for(key, value));
    const auto node = static_cast<std::uint32_t>(place + tower / Arena::kUnit);
    Record::write(arena_.at(node), sequence, key, value);
    return node;
  }
  [[nodiscard]] const Record* record(std::uint32_t node) const {
    return reinterpret_cast<const Record*>(arena_.at(node));
  }
  [[nodiscard]] std::atomic<std::uint32_t>& link(std::uint32_t node, int level) const {
    const char* at = arena_.at(node) - static_cast<std::size_t>(level + 1) * sizeof(std::uint32_t);
    return *reinterpret_cast<std::atomic<std::uint32_t>*>(const_cast<char*>(at));
  }
  [[nodiscard]] std::uint32_t next_of(std::uint32_t node, int level) const {
    return link(node, level).load(std::memory_order_acquire);
  }
  /// Place 0 is the head's own tower, so that a link of 0 means the end.
  void find_before(std::string_view key, std::array<std::uint32_t, kMostLevels>& before) const {
    std::uint32_t node = head_;
    for (int level = kMostLevels - 1; level >= 0; --level) {
      for (std::uint32_t next = next_of(node, level); next != 0 && record(next)->key() < key;) {
        node = next;
        next = next_of(node, level);
      }
      before[static_cast<std::size_t>(level)] = node;
    }
  }
  [[nodiscard]] std::uint32_t seek(std::string_view key) const {
    std::array<std::uint32_t, kMostLevels> before;
    find_before(key, before);
    return next_of(before[0], 0);
  }
  int draw_levels() {
    dice_ = remix(dice_ + 1);
    int levels = 1;
    for (std::uint64_t bits = dice_; levels < kMostLevels && (bits & 3) == 0; bits >>= 2) ++levels;
    return levels;
  }

  Arena arena_;
  std::uint32_t head_ = 0;
  std::uint64_t dice_ = 42;
};

}  // namespace tamis::layout
