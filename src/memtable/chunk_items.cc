#include "memtable/chunk_items.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace tamis {
namespace {

constexpr std::size_t kFewItems = 2000;  // With fewer, std::sort is as good as any: docs/decisions/0009.
constexpr unsigned kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

/// A stable sort by one digit of all heads.
void sort_by_digit(std::span<const ChunkItem> from, std::span<ChunkItem> to, unsigned shift) {
  const auto digit_of = [shift](const ChunkItem& item) { return (item.head >> shift) & (kDigits - 1); };
  std::array<std::uint32_t, kDigits + 1> begins = {};
  for (const ChunkItem& item : from) ++begins[digit_of(item) + 1];
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  for (const ChunkItem& item : from) to[begins[digit_of(item)]++] = item;
}

/// Least significant digit first, skipping digits in which all heads agree.
void sort_by_head(ItemArray& items, MemoryCount& memory) {
  std::uint64_t differing = 0;
  for (const ChunkItem& item : items.items()) differing |= item.head ^ items.items().front().head;
  if (differing == 0) return;
  ItemArray other(memory, items.size());
  for (unsigned shift = 0; shift < 64; shift += kDigitBits) {
    if (((differing >> shift) & (kDigits - 1)) == 0) continue;
    sort_by_digit(items.items(), other.items(), shift);
    std::swap(items, other);
  }
}

}  // namespace

ItemArray::ItemArray(MemoryCount& memory, std::size_t count)
    : memory_(CountedBytes::unset(memory, count * sizeof(ChunkItem))), count_(count) {
  if (memory_.empty() && count > 0) throw std::bad_alloc();
}

void sort_items(ItemArray& array, const ItemOrder& order, MemoryCount& memory) {
  if (array.size() < kFewItems) return std::sort(array.items().begin(), array.items().end(), order);
  sort_by_head(array, memory);
  const std::span<ChunkItem> items = array.items();
  for (auto begin = items.begin(); begin != items.end();) {
    auto end = begin + 1;
    while (end != items.end() && end->head == begin->head) ++end;
    if (end - begin > 1 && !std::is_sorted(begin, end, order)) std::sort(begin, end, order);
    begin = end;
  }
}

}  // namespace tamis
