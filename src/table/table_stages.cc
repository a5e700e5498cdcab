// Table::peek, cut where it would wait for memory.
#include "table/block_file.h"
#include "table/data_block_format.h"
#include "table/table.h"
#include "table/table_inside.h"

namespace tamis {
namespace {

bool ends(StagedPeek& peek, Peek answer) {
  peek.answer = answer;
  return false;
}

}  // namespace

bool Table::peek_filter(StagedPeek& peek) const {
  inside_->count_probe();
  if (const Filter* filter = filter_.load(std::memory_order_acquire)) {
    if (!filter->may_contain_hash(peek.lookup.hash)) return ends(peek, Peek::kAbsent);
  } else if (!inside_->filter_is_useless.load(std::memory_order_relaxed)) {
    return ends(peek, Peek::kUnknown);
  }
  peek.index = index_.load(std::memory_order_acquire);
  peek.slots = slots_.load(std::memory_order_acquire);
  if (peek.index == nullptr || peek.slots == nullptr) return ends(peek, Peek::kUnknown);
  peek.group = peek.index->begin_locate(peek.lookup.key);
  return true;
}

bool Table::peek_index(StagedPeek& peek) const {
  peek.block = peek.index->locate_in(peek.group, peek.lookup.key);
  __builtin_prefetch(peek.slots + peek.block);
  return true;
}

/// Of a block its tags, heads, offsets and prefix lie in the first three lines, or most of them; the line before the
/// first is the frame's, which tells the block's length.
bool Table::peek_slot(StagedPeek& peek) const {
  peek.frame = peek.slots[peek.block].load();
  if (peek.frame == nullptr) return ends(peek, Peek::kUnknown);
  const char* const block = reinterpret_cast<const char*>(peek.frame) + BlockBuffer::kFrameBytes;
  for (int line = -1; line < 3; ++line) __builtin_prefetch(block + line * std::ptrdiff_t{kCacheLineBytes});
  return true;
}

void Table::peek_tags(const StagedPeek& peek) const {
  DataBlock(block_of(peek.frame->bytes())).prefetch_entry(peek.lookup);
}

void Table::peek_entry(StagedPeek& peek) const {
  const bool use_tags = shares_hash_.load(std::memory_order_relaxed);
  const Index& index = *peek.index;
  for (;; ++peek.block) {
    const DataBlock data(block_of(peek.frame->bytes()));
    peek.frame->touch();
    if (const std::optional<FoundEntry> entry = data.find(peek.lookup, use_tags)) {
      peek.found = *entry;
      peek.answer = Peek::kFound;
      return;
    }
    const std::uint32_t next = peek.block + 1;
    if (next == index.blocks() || !index.continues(next) || !data.ends_with_key(peek.lookup.key)) {
      peek.answer = Peek::kAbsentHere;
      return;
    }
    peek.frame = peek.slots[next].load();
    if (peek.frame == nullptr) {
      peek.answer = Peek::kUnknown;
      return;
    }
  }
}

}  // namespace tamis
