#include "memtable/sorted_chunk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tamis {
namespace {

std::string_view common_prefix(std::string_view a, std::string_view b) {
  if (b.starts_with(a)) return a;
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  return a.substr(0, static_cast<std::size_t>(end - a.begin()));
}

std::uint64_t head_after(std::string_view shared, std::string_view key) { return key_head(key.substr(shared.size())); }

void make_heads(const Arena& arena, std::span<ChunkItem> items, std::string_view shared) {
  for (ChunkItem& item : items) item.head = head_after(shared, EntryRecord::at(arena, item.place).key());
}

/// Walks back from the newest entry and fills the items, so that newer versions stand before older ones. Returns what
/// all keys share. It is known only at the end; but it is nearly always found within a few keys, and only the heads
/// made before that are made again.
std::string_view collect(const Arena& arena, Arena::Place newest, std::span<ChunkItem> items) {
  std::string_view shared = EntryRecord::at(arena, newest).key();
  std::size_t outdated = 0;  // Items whose heads begin too late.
  Arena::Place place = newest;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const EntryRecord& record = EntryRecord::at(arena, place);
    if (const std::string_view less = common_prefix(shared, record.key()); less.size() < shared.size()) {
      shared = less;
      outdated = i;
    }
    items[i] = {head_after(shared, record.key()), place};
    place = record.before;
  }
  make_heads(arena, items.first(outdated), shared);
  return shared;
}

class ChunkIterator final : public EntryIterator {
 public:
  explicit ChunkIterator(std::shared_ptr<const SortedChunk> chunk) : chunk_(std::move(chunk)) {}

  void seek(EntryPosition target) override { show_at(chunk_->find(target)); }
  void seek_to_first() override { show_at(0); }
  void seek_to_last() override { show_at(chunk_->size() - 1); }
  void next() override {
    TAMIS_INVARIANT(valid());
    show_at(at_ + 1);
    chunk_->prefetch(at_ + kPrefetchDistance);
  }
  void previous() override {
    TAMIS_INVARIANT(valid());
    show_at(at_ - 1);
    chunk_->prefetch(at_ - kPrefetchDistance);
  }

 private:
  static constexpr std::size_t kPrefetchDistance = 4;

  /// One before the first wraps round to a number beyond the last: either way there is no entry.
  void show_at(std::size_t at) {
    at_ = at;
    if (at_ >= chunk_->size()) return show_end();
    entry_ = (*chunk_)[at_].entry();
    show(entry_);
  }

  std::shared_ptr<const SortedChunk> chunk_;
  std::size_t at_ = 0;
  Entry entry_;
};

}  // namespace

std::shared_ptr<const SortedChunk> SortedChunk::of_last(const Arena& arena, MemoryCount& memory,
                                                        InsertedEntries inserted, std::size_t count) {
  TAMIS_INVARIANT(count > 0 && count <= inserted.entries);
  ItemArray items(memory, count);
  const std::string_view shared = collect(arena, inserted.newest, items.items());
  sort_items(items, ItemOrder(arena), memory);
  return std::make_shared<const SortedChunk>(arena, memory, std::move(items), shared);
}

std::shared_ptr<const SortedChunk> SortedChunk::merged(const SortedChunk& first, const SortedChunk& second) {
  const std::string_view shared = common_prefix(first.shared_, second.shared_);
  const std::optional<ItemArray> first_anew = first.with_heads_after(shared);
  const std::optional<ItemArray> second_anew = second.with_heads_after(shared);
  const std::span<const ChunkItem> a = (first_anew ? *first_anew : first.items_).items();
  const std::span<const ChunkItem> b = (second_anew ? *second_anew : second.items_).items();
  ItemArray items(first.memory_, a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), items.items().begin(), ItemOrder(first.arena_));
  return std::make_shared<const SortedChunk>(first.arena_, first.memory_, std::move(items), shared);
}

/// A copy whose heads begin earlier; none when they begin there already.
std::optional<ItemArray> SortedChunk::with_heads_after(std::string_view shared) const {
  if (shared.size() == shared_.size()) return std::nullopt;
  ItemArray anew(memory_, size());
  std::copy(items_.items().begin(), items_.items().end(), anew.items().begin());
  make_heads(arena_, anew.items(), shared);
  return anew;
}

std::size_t SortedChunk::find(EntryPosition target) const {
  const int side = target.key.substr(0, shared_.size()).compare(shared_);
  if (side != 0) return side < 0 ? 0 : size();
  const ItemOrder order(arena_);
  const std::uint64_t head = head_after(shared_, target.key);
  const std::span<const ChunkItem> items = items_.items();
  const auto at = std::partition_point(items.begin(), items.end(),
                                       [&](const ChunkItem& item) { return order.is_before(item, head, target); });
  return static_cast<std::size_t>(at - items.begin());
}

std::unique_ptr<EntryIterator> make_chunk_iterator(std::shared_ptr<const SortedChunk> chunk) {
  return std::make_unique<ChunkIterator>(std::move(chunk));
}

}  // namespace tamis
