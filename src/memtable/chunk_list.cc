#include "memtable/chunk_list.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"

namespace tamis {
namespace {

std::uint64_t head_after(std::string_view shared, std::string_view key) { return key_head(key.substr(shared.size())); }

void make_heads(const Arena& arena, std::span<ChunkItem> items, std::string_view shared) {
  for (ChunkItem& item : items) item.head = head_after(shared, EntryRecord::at(arena, item.place).key());
}

/// Iterates back from the newest entry and fills the items, so that newer versions precede older ones. Returns the part
/// of `shared` that all keys share. Nearly always a few keys decide it, and only the heads before them are rebuilt.
std::string_view collect(const Arena& arena, Arena::Place newest, std::string_view shared, std::span<ChunkItem> items) {
  std::size_t outdated = 0;  // Items whose heads begin too late.
  Arena::Place place = newest;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const EntryRecord& record = EntryRecord::at(arena, place);
    if (const std::size_t bytes = common_prefix(shared, record.key()); bytes < shared.size()) {
      shared = shared.substr(0, bytes);
      outdated = i;
    }
    items[i] = {head_after(shared, record.key()), place};
    place = record.before;
  }
  make_heads(arena, items.first(outdated), shared);
  return shared;
}

}  // namespace

SharedChunk SortedChunk::of_last(const Arena& arena, MemoryCount& memory, InsertedEntries inserted, std::size_t count,
                                 std::string_view shared) {
  TAMIS_INVARIANT(count > 0 && count <= inserted.entries);
  ItemArray items(memory, count);
  shared = collect(arena, inserted.newest, shared, items.items());
  sort_items(items, ItemOrder(arena), memory);
  const Sequence newest = EntryRecord::at(arena, inserted.newest).sequence;
  return std::make_shared<const SortedChunk>(arena, memory, std::move(items), shared, newest);
}

SharedChunk SortedChunk::merged(const SortedChunk& first, const SortedChunk& second) {
  TAMIS_INVARIANT(first.shared_ == second.shared_);
  const std::span<const ChunkItem> a = first.items();
  const std::span<const ChunkItem> b = second.items();
  ItemArray both(first.memory_, a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), both.items().begin(), ItemOrder(first.arena_));
  return std::make_shared<const SortedChunk>(first.arena_, first.memory_, std::move(both), first.shared_,
                                             std::max(first.newest_, second.newest_));
}

SharedChunk SortedChunk::with_heads_after(std::string_view shared) const {
  TAMIS_INVARIANT(shared_.starts_with(shared));
  ItemArray anew(memory_, size());
  std::copy(items().begin(), items().end(), anew.items().begin());
  make_heads(arena_, anew.items(), shared);
  return std::make_shared<const SortedChunk>(arena_, memory_, std::move(anew), shared, newest_);
}

std::size_t SortedChunk::find(EntryPosition target) const {
  const int side = target.key.substr(0, shared_.size()).compare(shared_);
  if (side != 0) return side < 0 ? 0 : size();
  const ItemOrder order(arena_);
  const std::uint64_t head = head_after(shared_, target.key);
  const auto at = std::partition_point(items().begin(), items().end(),
                                       [&](const ChunkItem& item) { return order.is_before(item, head, target); });
  return static_cast<std::size_t>(at - items().begin());
}

ChunkList::ChunkList(const ChunkList& before, const Arena& arena, MemoryCount& memory, InsertedEntries inserted,
                     Sequence split)
    : chunks_(before.chunks_), size_(before.size_), entries_(inserted.entries), charge_(memory, sizeof(ChunkList)) {
  TAMIS_INVARIANT(before.entries_ < entries_);
  const std::string_view shared = size_ > 0 ? chunks_[0]->shared() : EntryRecord::at(arena, inserted.newest).key();
  chunks_[size_] = SortedChunk::of_last(arena, memory, inserted, entries_ - before.entries_, shared);
  const std::string_view shared_now = chunks_[size_]->shared();
  if (shared_now.size() != shared.size()) {
    for (std::size_t i = 0; i < size_; ++i) chunks_[i] = chunks_[i]->with_heads_after(shared_now);
  }
  ++size_;
  const std::size_t older = chunks_before(split);
  while (size_ > older + 1 && should_merge_with_previous(size_ - 1)) merge_with_previous(size_ - 1);
  if (size_ <= kMaxChunks) return;
  const bool are_older = older > 1;
  const std::size_t first = are_older ? 0 : older;
  std::size_t last = (are_older ? older : size_) - 1;
  do {
    merge_with_previous(last--);
  } while (last > first && should_merge_with_previous(last));
}

std::size_t ChunkList::chunks_before(Sequence sequence) const {
  const auto first =
      std::ranges::find_if(chunks(), [&](const SharedChunk& chunk) { return chunk->newest() >= sequence; });
  return static_cast<std::size_t>(first - chunks().begin());
}

void ChunkList::merge_with_previous(std::size_t chunk) {
  chunks_[chunk - 1] = SortedChunk::merged(*chunks_[chunk - 1], *chunks_[chunk]);
  std::move(chunks_.begin() + chunk + 1, chunks_.begin() + size_, chunks_.begin() + chunk);
  chunks_[--size_].reset();
}

}  // namespace tamis
