// A lookup in one table. In memory it has four stages: filter, index, slot of the block, block. A single lookup does
// them in sequence (peek). For several, each stage is done for all before the next one begins, and prefetches the
// memory that the next one reads (peek_many). A lookup that may read from disk (TableSearch) has the same stages, but
// loads what is missing.
#include <utility>

#include "base/epoch.h"
#include "base/sharded_counter.h"
#include "base/try.h"
#include "table/block_file.h"
#include "table/data_block_format.h"
#include "table/probe_sampling.h"
#include "table/table.h"
#include "table/table_inside.h"

namespace tamis {
namespace {

/// Whether a key that was not found in a block may be in the next one, because its older versions are there.
bool goes_on(const Index& index, std::uint32_t block, const DataBlock& data, std::string_view key) {
  const std::uint32_t next = block + 1;
  return next != index.blocks() && index.continues(next) && data.ends_with_key(key);
}

/// The group of blocks that may hold the key. Prefetches its part of the index and its slots.
std::uint32_t begin_locate(const Index& index, const BlockSlot* slots, std::string_view key) {
  const std::uint32_t group = index.begin_locate(key);
  const Index::BlockRange blocks = index.blocks_of(group);
  constexpr std::size_t kSlotsInLine = kCacheLineBytes / sizeof(BlockSlot);
  for (std::size_t i = 0; i < blocks.count; i += kSlotsInLine) __builtin_prefetch(slots + blocks.first + i);
  return group;
}

bool ends(StagedLookup& staged, LookupAnswer answer) {
  staged.answer = answer;
  return false;
}

/// Neighbours often probe the same table: counts them together.
class PeekTally {
 public:
  void add(const StagedLookup& staged) {
    if (staged.table != table_) {
      finish();
      table_ = staged.table;
      found_ = absent_ = 0;
    }
    found_ += staged.answer == LookupAnswer::kFound ? 1 : 0;
    absent_ += staged.answer == LookupAnswer::kAbsentHere ? 1 : 0;
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

// The stages are private and inline: in position-independent code, calls of any other member are not inlined.

/// kAbsentHere: the lookup continues. Without `asks`, it assumes that the filter passes the key.
inline LookupAnswer Table::peek_filter(std::uint64_t hash, bool asks) const {
  if (const TableFilter* filter = filter_.load()) {
    return !asks || filter->may_contain(hash) ? LookupAnswer::kAbsentHere : LookupAnswer::kAbsent;
  }
  return inside_->filter_is_useless.load(std::memory_order_relaxed) ? LookupAnswer::kAbsentHere
                                                                    : LookupAnswer::kUnknown;
}

/// False: the index is not in memory, or there are no slots.
inline bool Table::peek_index(BlockPlace& place) const {
  place.index = index_.load();
  place.slots = slots_.load(std::memory_order_acquire);
  return place.index != nullptr && place.slots != nullptr;
}

/// Searches the current block, and the next one as long as the key continues there.
template <bool kIsPrefetched>
inline LookupAnswer Table::peek_blocks(BlockPlace& place, const Lookup& lookup, FoundEntry& found) const {
  const bool use_tags = shares_hash_.load(std::memory_order_relaxed);
  for (bool is_prefetched = kIsPrefetched;; is_prefetched = false) {
    const DataBlock data(block_of(place.frame->bytes()));
    place.frame->touch();
    const std::optional<FoundEntry> entry =
        is_prefetched && use_tags ? data.find_prefetched(lookup, place.entry) : data.find(lookup, use_tags);
    if (entry) {
      found = *entry;
      return LookupAnswer::kFound;
    }
    if (!goes_on(*place.index, place.block, data, lookup.key)) return LookupAnswer::kAbsentHere;
    place.frame = place.slots[++place.block].load();
    if (place.frame == nullptr) return LookupAnswer::kUnknown;
  }
}

LookupAnswer Table::peek(const Lookup& lookup, bool expected, FoundEntry& found) const {
  BlockPlace place = {};
  const bool is_in_memory = peek_index(place);
  if (expected && is_in_memory) place.group = begin_locate(*place.index, place.slots, lookup.key);
  if (const LookupAnswer filter = peek_filter(lookup.hash, true); filter != LookupAnswer::kAbsentHere) return filter;
  if (!is_in_memory) return LookupAnswer::kUnknown;
  if (!expected) place.group = begin_locate(*place.index, place.slots, lookup.key);
  place.block = place.index->locate_in(place.group, lookup.key);
  place.frame = place.slots[place.block].load();
  return place.frame == nullptr ? LookupAnswer::kUnknown : peek_blocks<false>(place, lookup, found);
}

/// Ends a lookup without an entry, as if the filter had been asked first.
inline bool Table::end_without_entry(StagedLookup& staged, LookupAnswer answer) const {
  const TableFilter* const filter = staged.is_expected ? filter_.load() : nullptr;
  const bool is_ruled_out = filter != nullptr && !filter->may_contain(staged.lookup.hash);
  return ends(staged, is_ruled_out ? LookupAnswer::kAbsent : answer);
}

/// The first three lines of a block hold its tags, heads, offsets and prefix, or most of them. The line before them is
/// the frame's, with the block's length.
void Table::peek_many(LookupGroup& group) {
  group.keep_if([](StagedLookup& staged) {
    const LookupAnswer filter = staged.table->peek_filter(staged.lookup.hash, !staged.is_expected);
    if (filter != LookupAnswer::kAbsentHere) return ends(staged, filter);
    if (!staged.table->peek_index(staged.place)) return staged.table->end_without_entry(staged, LookupAnswer::kUnknown);
    staged.place.group = staged.place.index->begin_locate(staged.lookup.key);
    return true;
  });
  for (StagedLookup* staged : group) {
    BlockPlace& place = staged->place;
    place.block = place.index->locate_in(place.group, staged->lookup.key);
    __builtin_prefetch(place.slots + place.block);
  }
  group.keep_if([](StagedLookup& staged) {
    BlockPlace& place = staged.place;
    place.frame = place.slots[place.block].load();
    if (place.frame == nullptr) return staged.table->end_without_entry(staged, LookupAnswer::kUnknown);
    const char* const block = reinterpret_cast<const char*>(place.frame) + BlockBuffer::kFrameBytes;
    for (int line = -1; line < 3; ++line) __builtin_prefetch(block + line * std::ptrdiff_t{kCacheLineBytes});
    return true;
  });
  for (StagedLookup* staged : group) {
    const DataBlock data(block_of(staged->place.frame->bytes()));
    staged->place.entry = static_cast<std::uint32_t>(data.prefetch_entry(staged->lookup));
  }
  PeekTally tally;
  for (StagedLookup* staged : group) {
    staged->answer = staged->table->peek_blocks<true>(staged->place, staged->lookup, staged->found);
    if (staged->answer != LookupAnswer::kFound) staged->table->end_without_entry(*staged, staged->answer);
    tally.add(*staged);
  }
  tally.finish();
}

void Table::count_peeks(std::uint64_t found, std::uint64_t absent) const {
  Inside::PeekCounts& counts = inside_->peeks[thread_number() % inside_->peeks.size()];
  add_to(counts.found, found);
  add_to(counts.absent, absent);
}

void Table::count_sampled_probe(bool found) const {
  add_to(inside_->probes, ProbeSampling::kProbesPerSample);
  add_to(inside_->vain_probes, found ? 0 : ProbeSampling::kProbesPerSample);
}

void Table::count_sampled_passing() const { add_to(inside_->passed_over, ProbeSampling::kProbesPerSample); }

FilterVerdict Table::ask_filter(std::uint64_t hash, std::uint32_t& metadata_reads) {
  const auto ask = [hash](const TableFilter& filter) { return filter.may_contain(hash); };
  std::optional<bool> may_contain = ask_loaded(filter_, ask);
  if (!may_contain) [[unlikely]] {
    load_filter(metadata_reads);
    may_contain = ask_loaded(filter_, ask);
  }
  if (may_contain) return *may_contain ? FilterVerdict::kMaybe : FilterVerdict::kNo;
  const bool is_useless = inside_->filter_is_useless.load(std::memory_order_relaxed);
  return is_useless ? FilterVerdict::kNone : FilterVerdict::kNotInMemory;
}

Result<bool> Table::begin_search(const Lookup& lookup, bool fills_cache, TableSearch& search) {
  search = {};
  search.table = this;
  search.fills_cache = fills_cache;
  search.step.table = this;
  search.is_sampled = ProbeSampling::is_sampled();
  search.step.verdict = ask_filter(lookup.hash, search.step.metadata_reads);
  if (search.step.verdict == FilterVerdict::kNo) {
    search.step.outcome = TableOutcome::kRuledOut;
    if (search.is_sampled) count_sampled_probe(false);
    return false;
  }
  TAMIS_TRY(search.part, index_part(lookup.key, fills_cache, search.step.metadata_reads));
  search.block = search.part.locate(lookup.key);
  return true;
}

Result<bool> Table::search_block(TableSearch& search, const Lookup& lookup, Bytes frame,
                                 std::optional<FoundEntry>& found) {
  if (search.step.source == BlockSource::kNone) search.step.source = BlockSource::kCache;
  const DataBlock data(block_of(frame));
  found = data.find(lookup, shares_hash_.load(std::memory_order_relaxed));
  if (!found && search.part.is_continued(search.block) && data.ends_with_key(lookup.key)) {
    if (!search.part.holds(++search.block)) {
      TAMIS_TRY_STATUS(enter_part(search.part, search.part.number + 1, search.fills_cache, search.step.metadata_reads));
    }
    return true;
  }
  if (found) search.step.outcome = outcome_of(*found);
  count(search.step, found.has_value());
  if (search.is_sampled) count_sampled_probe(found.has_value());
  return false;
}

Result<PinnedBlock> Table::fetch_block(TableSearch& search) const {
  search.step.source = BlockSource::kDisk;
  ++search.step.blocks_read;
  TAMIS_TRY(const std::shared_ptr<const ReadableFile> file, open_file());
  TAMIS_TRY(BlockBuffer frame, read_block(*file, search.part.position(search.block), facts_->written_number(), path()));
  return keep_block(search.block, std::move(frame), search.fills_cache);
}

PinnedBlock Table::find_block(std::uint32_t block) const {
  return context_.cache->find({facts_->number, block}, slot_of(block));
}

PinnedBlock Table::keep_block(std::uint32_t block, BlockBuffer frame, bool fills_cache) const {
  const BlockKey key{facts_->number, block};
  const std::size_t charge_bytes = frame.size();
  return fills_cache ? context_.cache->insert(key, std::move(frame), charge_bytes, slot_of(block))
                     : context_.cache->hold(key, std::move(frame), charge_bytes);
}

void Table::count(const TableStep& step, bool found) {
  Inside& inside = *inside_;
  add_to(inside.positives, 1);
  add_to(inside.false_positives, step.verdict == FilterVerdict::kMaybe && !found ? 1 : 0);
  add_to(inside.unfiltered, step.verdict == FilterVerdict::kNotInMemory ? 1 : 0);
  add_to(inside.hits, found ? 1 : 0);
  add_to(inside.blocks_read, step.blocks_read);
}

}  // namespace tamis
