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

/// Neighbours often asked the same table: counted in one go.
class PeekTally {
 public:
  void add(const StagedPeek& peek) {
    if (peek.table != table_) {
      finish();
      table_ = peek.table;
      found_ = absent_ = 0;
    }
    found_ += peek.answer == Peek::kFound ? 1 : 0;
    absent_ += peek.answer == Peek::kAbsentHere ? 1 : 0;
  }
  void finish() const {
    if (table_ != nullptr) table_->count_peeks(found_, absent_);
  }

 private:
  const Table* table_ = nullptr;
  std::uint64_t found_ = 0;
  std::uint64_t absent_ = 0;
};

}  // namespace

// Private, and inline: in position-independent code a call of any other member may not be replaced by its body.

/// Ends a lookup that found nothing here, or not all it needed, as it would have ended had the filter been asked first.
inline bool Table::end_without_entry(StagedPeek& peek, Peek answer) const {
  const Filter* const filter = peek.is_expected ? filter_.load() : nullptr;
  const bool is_ruled_out = filter != nullptr && !filter->may_contain_hash(peek.lookup.hash);
  return ends(peek, is_ruled_out ? Peek::kAbsent : answer);
}

inline bool Table::peek_filter(StagedPeek& peek) const {
  inside_->count_probe();
  if (const Filter* filter = filter_.load()) {
    if (!peek.is_expected && !filter->may_contain_hash(peek.lookup.hash)) return ends(peek, Peek::kAbsent);
  } else if (!inside_->filter_is_useless.load(std::memory_order_relaxed)) {
    return ends(peek, Peek::kUnknown);
  }
  peek.index = index_.load();
  peek.slots = slots_.load(std::memory_order_acquire);
  if (peek.index == nullptr || peek.slots == nullptr) return end_without_entry(peek, Peek::kUnknown);
  peek.group = peek.index->begin_locate(peek.lookup.key);
  return true;
}

inline void Table::peek_index(StagedPeek& peek) {
  peek.block = peek.index->locate_in(peek.group, peek.lookup.key);
  __builtin_prefetch(peek.slots + peek.block);
}

/// Of a block its tags, heads, offsets and prefix lie in the first three lines, or most of them; the line before the
/// first is the frame's, which tells the block's length.
inline bool Table::peek_slot(StagedPeek& peek) const {
  peek.frame = peek.slots[peek.block].load();
  if (peek.frame == nullptr) return end_without_entry(peek, Peek::kUnknown);
  const char* const block = reinterpret_cast<const char*>(peek.frame) + BlockBuffer::kFrameBytes;
  for (int line = -1; line < 3; ++line) __builtin_prefetch(block + line * std::ptrdiff_t{kCacheLineBytes});
  return true;
}

inline void Table::peek_tags(StagedPeek& peek) {
  const DataBlock data(block_of(peek.frame->bytes()));
  peek.entry = static_cast<std::uint32_t>(data.prefetch_entry(peek.lookup));
}

inline void Table::peek_entry(StagedPeek& peek) const {
  const bool use_tags = shares_hash_.load(std::memory_order_relaxed);
  const Index& index = *peek.index;
  for (bool is_first = true;; ++peek.block, is_first = false) {
    const DataBlock data(block_of(peek.frame->bytes()));
    peek.frame->touch();
    const std::optional<FoundEntry> entry =
        is_first && use_tags ? data.find_prefetched(peek.lookup, peek.entry) : data.find(peek.lookup, use_tags);
    if (entry) {
      peek.found = *entry;
      peek.answer = Peek::kFound;
      return;
    }
    const std::uint32_t next = peek.block + 1;
    if (next == index.blocks() || !index.continues(next) || !data.ends_with_key(peek.lookup.key)) {
      end_without_entry(peek, Peek::kAbsentHere);
      return;
    }
    peek.frame = peek.slots[next].load();
    if (peek.frame == nullptr) {
      end_without_entry(peek, Peek::kUnknown);
      return;
    }
  }
}

void Table::peek_many(StagedGroup& group) {
  group.keep_if([](StagedPeek& peek) { return peek.table->peek_filter(peek); });
  for (StagedPeek* peek : group) peek_index(*peek);
  group.keep_if([](StagedPeek& peek) { return peek.table->peek_slot(peek); });
  for (StagedPeek* peek : group) peek_tags(*peek);
  PeekTally tally;
  for (StagedPeek* peek : group) {
    peek->table->peek_entry(*peek);
    tally.add(*peek);
  }
  tally.finish();
}

}  // namespace tamis
