// A memtable found by hash: an entry is appended and its place put into a table; order is made when somebody asks.
#pragma once

#include <array>
#include <atomic>

#include "layout/arena.h"
#include "layout/key_sets.h"
#include "layout/sorted_chunks.h"

namespace tamis::layout {

enum class Sorter { kStandard, kRadix, kBuckets };

/// Slots of 8 bytes: the upper half of the hash and the newest entry's place; older versions are chained behind it.
/// Entries are in the arena in the order of their sequences, `places_` lists them.
///
/// Chunks are sorted runs of entries; sizes at least double from one to the one before it, so there are few.
///
/// Threads, in the store: one inserter; readers without locks, since slots and entries are published by release
/// stores. Here growth frees the old table at once, which the store may not.
template <Sorter kSorter>
class HashMemtable {
 public:
  static std::string name() {
    return kSorter == Sorter::kStandard ? "hash, std::sort"
           : kSorter == Sorter::kRadix  ? "hash, radix sort"
                                        : "hash, bucket sort";
  }

  HashMemtable() : slots_(1 << 12) {}

  void insert(std::string_view key, std::string_view value, std::uint64_t sequence, std::uint64_t hash) {
    if ((keys_ + 1) * 3 > slots_.size() * 2) grow();
    const std::uint32_t node = arena_.allocate(kLinkBytes + Record::bytes_for(key, value));
    Record::write(arena_.at(node) + kLinkBytes, sequence, key, value);
    std::atomic<std::uint64_t>& slot = slot_of(key, hash);
    const std::uint64_t old = slot.load(std::memory_order_relaxed);
    // The place of an entry is never 0: its record begins behind the link.
    const auto place = static_cast<std::uint32_t>(node + kLinkBytes / Arena::kUnit);
    store_le(arena_.at(node), static_cast<std::uint32_t>(old));
    slot.store((hash & kUpper) | place, std::memory_order_release);
    keys_ += old == 0 ? 1 : 0;
    places_.push_back(place);
  }

  [[nodiscard]] const Record* find(std::string_view key, std::uint64_t hash) const {
    const std::uint64_t slot = slot_of(key, hash).load(std::memory_order_acquire);
    return slot == 0 ? nullptr : record(static_cast<std::uint32_t>(slot));
  }

  /// All entries in one chunk, as a flush wants them.
  void make_order() {
    sort_tail();
    while (chunks_.size() > 1) merge_last_two();
  }

  template <typename Visit>
  void scan(std::string_view key, std::size_t length, const Visit& visit) {
    sort_tail();
    const ItemOrder order(arena_);
    std::vector<std::span<const SortItem>> rest;
    for (const Chunk& chunk : chunks_) {
      if (const std::span<const SortItem> some = from(chunk, key); !some.empty()) rest.push_back(some);
    }
    for (; length > 0 && !rest.empty(); --length) {
      std::size_t least = 0;
      for (std::size_t i = 1; i < rest.size(); ++i) {
        if (order(rest[i].front(), rest[least].front())) least = i;
      }
      visit(*record(rest[least].front().place));
      rest[least] = rest[least].subspan(1);
      if (rest[least].empty()) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(least));
    }
  }

  [[nodiscard]] std::size_t bytes() const {
    return arena_.used() + slots_.size() * sizeof(std::uint64_t) + places_.size() * sizeof(std::uint32_t);
  }
  [[nodiscard]] std::size_t order_bytes() const {
    std::size_t sum = 0;
    for (const Chunk& chunk : chunks_) sum += chunk.size() * sizeof(SortItem);
    return sum;
  }

 private:
  static constexpr std::size_t kLinkBytes = Arena::kUnit;
  static constexpr std::uint64_t kUpper = 0xffffffff00000000U;
  static constexpr std::size_t kSmallTail = 2000;  // Below it std::sort is as good as any.

  [[nodiscard]] const Record* record(std::uint32_t place) const {
    return reinterpret_cast<const Record*>(arena_.at(place));
  }

  /// The key's slot, or the free one where it belongs.
  [[nodiscard]] std::atomic<std::uint64_t>& slot_of(std::string_view key, std::uint64_t hash) const {
    for (std::size_t at = home_of(hash);; at = (at + 1) & (slots_.size() - 1)) {
      const std::uint64_t slot = slots_[at].load(std::memory_order_acquire);
      if (slot == 0) return slots_[at];
      if (((slot ^ hash) & kUpper) == 0 && record(static_cast<std::uint32_t>(slot))->key() == key) return slots_[at];
    }
  }
  /// From the upper half of the hash, which slots keep, and growing with it: doubling the table reads the old one and
  /// writes the new one from front to back, and touches no entry.
  [[nodiscard]] std::size_t home_of(std::uint64_t hash) const {
    return fast_range32(static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(slots_.size()));
  }
  void grow() {
    std::vector<std::atomic<std::uint64_t>> old(slots_.size() * 2);
    old.swap(slots_);
    for (const std::atomic<std::uint64_t>& from : old) {
      const std::uint64_t slot = from.load(std::memory_order_relaxed);
      if (slot == 0) continue;
      std::size_t at = home_of(slot);
      while (slots_[at].load(std::memory_order_relaxed) != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at].store(slot, std::memory_order_relaxed);
    }
  }

  /// Heads begin after what all keys share. Where a new key shares less, the heads of all chunks are made anew, which
  /// happens at most once per byte of the first key.
  void shorten_prefix() {
    const std::string_view first = record(places_.front())->key();
    std::size_t shared = sorted_ == 0 ? first.size() : prefix_;
    for (std::size_t i = sorted_; i < places_.size() && shared > 0; ++i) {
      shared = common_prefix(first.substr(0, shared), record(places_[i])->key());
    }
    if (shared == prefix_) return;
    prefix_ = shared;
    for (Chunk& chunk : chunks_) {
      for (SortItem& item : chunk) item.head = head_after(record(item.place)->key(), prefix_);
    }
  }

  /// Makes a chunk of what was added since the last one, then merges chunks that are not half the size of their
  /// neighbour.
  void sort_tail() {
    if (sorted_ == places_.size()) return;
    shorten_prefix();
    const ItemOrder order(arena_);
    Chunk tail;
    tail.reserve(places_.size() - sorted_);
    for (; sorted_ < places_.size(); ++sorted_) {
      tail.push_back({head_after(record(places_[sorted_])->key(), prefix_), places_[sorted_]});
    }
    if (kSorter == Sorter::kStandard || tail.size() < kSmallTail) {
      std::sort(tail.begin(), tail.end(), order);
    } else if (kSorter == Sorter::kRadix) {
      radix_sort(tail, order);
    } else {
      bucket_sort(tail, order);
    }
    chunks_.push_back(std::move(tail));
    while (chunks_.size() > 1 && chunks_[chunks_.size() - 2].size() < 2 * chunks_.back().size()) merge_last_two();
  }

  /// The part of a chunk at or after `key`.
  [[nodiscard]] std::span<const SortItem> from(const Chunk& chunk, std::string_view key) const {
    const ItemOrder order(arena_);
    const std::uint64_t head = head_after(key, prefix_);
    const std::string_view shared = record(places_.front())->key().substr(0, prefix_);
    const int side = key.substr(0, prefix_).compare(shared);
    if (side != 0) return side < 0 ? std::span(chunk) : std::span<const SortItem>();
    const auto begin = std::partition_point(chunk.begin(), chunk.end(),
                                            [&](const SortItem& item) { return order.is_before(item, head, key); });
    return {begin, chunk.end()};
  }

  void merge_last_two() {
    const Chunk last = std::move(chunks_.back());
    chunks_.pop_back();
    Chunk merged(chunks_.back().size() + last.size());
    std::ranges::merge(chunks_.back(), last, merged.begin(), ItemOrder(arena_));
    chunks_.back() = std::move(merged);
  }

  Arena arena_;
  mutable std::vector<std::atomic<std::uint64_t>> slots_;  // A power of two of them.
  std::size_t keys_ = 0;
  std::vector<std::uint32_t> places_;
  std::size_t sorted_ = 0;  // How many of places_ are in chunks.
  std::size_t prefix_ = 0;  // What all sorted keys share.
  std::vector<Chunk> chunks_;
};

}  // namespace tamis::layout
