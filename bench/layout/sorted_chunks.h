// Order for entries that were added without any: sorted by the first eight bytes, by the rest where these are equal.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "layout/arena.h"
#include "layout/separators.h"

namespace tamis::layout {

/// An entry of a chunk: enough of the key to decide nearly every comparison without touching the entry.
struct SortItem {
  std::uint64_t head;
  std::uint32_t place;  // In the arena; later entries have greater places.
};
using Chunk = std::vector<SortItem>;

/// Key order; newest first among equal keys.
class ItemOrder {
 public:
  explicit ItemOrder(const Arena& arena) : arena_(arena) {}
  bool operator()(const SortItem& a, const SortItem& b) const {
    if (a.head != b.head) [[likely]]
      return a.head < b.head;
    const int order = key(a).compare(key(b));
    return order < 0 || (order == 0 && a.place > b.place);
  }
  [[nodiscard]] bool is_before(const SortItem& item, std::uint64_t head, std::string_view wanted) const {
    return item.head != head ? item.head < head : key(item) < wanted;
  }
  [[nodiscard]] std::string_view key(const SortItem& item) const {
    return reinterpret_cast<const Record*>(arena_.at(item.place))->key();
  }

 private:
  const Arena& arena_;
};

/// Least significant digit first, 11 bits at a time, over the bits in which heads differ at all; then runs of equal
/// heads by whole keys.
inline void radix_sort(Chunk& items, const ItemOrder& order) {
  constexpr unsigned kDigit = 11;
  std::uint64_t differing = 0;
  for (const SortItem& item : items) differing |= item.head ^ items.front().head;
  Chunk other(items.size());
  for (unsigned shift = 0; shift < 64; shift += kDigit) {
    if (((differing >> shift) & ((1U << kDigit) - 1)) == 0) continue;
    std::array<std::uint32_t, (1U << kDigit) + 1> begins = {};
    for (const SortItem& item : items) ++begins[((item.head >> shift) & ((1U << kDigit) - 1)) + 1];
    for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    for (const SortItem& item : items) other[begins[(item.head >> shift) & ((1U << kDigit) - 1)]++] = item;
    items.swap(other);
  }
  for (std::size_t begin = 0; begin < items.size();) {
    std::size_t end = begin + 1;
    while (end < items.size() && items[end].head == items[begin].head) ++end;
    if (end - begin > 1) {
      std::sort(items.begin() + static_cast<std::ptrdiff_t>(begin), items.begin() + static_cast<std::ptrdiff_t>(end),
                order);
    }
    begin = end;
  }
}

/// By the top bits into buckets of a few hundred items, each small enough for the cache, then std::sort in each.
inline void bucket_sort(Chunk& items, const ItemOrder& order) {
  constexpr std::size_t kPerBucket = 256;
  if (items.size() < 4 * kPerBucket) return std::sort(items.begin(), items.end(), order);
  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = 0;
  for (const SortItem& item : items) low = std::min(low, item.head), high = std::max(high, item.head);
  const std::size_t buckets = items.size() / kPerBucket;
  // The bucket grows with the head, whatever the spread; bad spreads only make buckets uneven.
  const double scale = static_cast<double>(buckets - 1) / std::max(1.0, static_cast<double>(high - low));
  const auto bucket_of = [&](std::uint64_t head) {
    return static_cast<std::size_t>(static_cast<double>(head - low) * scale);
  };
  std::vector<std::uint32_t> begins(buckets + 2);
  for (const SortItem& item : items) ++begins[bucket_of(item.head) + 2];
  for (std::size_t i = 2; i < begins.size(); ++i) begins[i] += begins[i - 1];
  Chunk sorted(items.size());
  for (const SortItem& item : items) sorted[begins[bucket_of(item.head) + 1]++] = item;
  for (std::size_t i = 0; i < buckets; ++i) {
    std::sort(sorted.begin() + begins[i], sorted.begin() + begins[i + 1], order);
  }
  items.swap(sorted);
}

}  // namespace tamis::layout
