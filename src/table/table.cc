#include "table/table.h"

#include <utility>

#include "base/epoch.h"
#include "base/sharded_counter.h"
#include "base/try.h"
#include "io/file_names.h"
#include "table/block_file.h"
#include "table/data_block_format.h"
#include "table/probe_sampling.h"
#include "table/table_inside.h"
#include "table/table_iterator.h"

namespace tamis {
namespace {

void add(std::atomic<std::uint64_t>& count, std::uint64_t amount) {
  if (amount != 0) count.fetch_add(amount, std::memory_order_relaxed);
}

/// The group of blocks the key falls in; its part of the index and its slots are on their way.
std::uint32_t begin_locate(const Index& index, const BlockSlot* slots, std::string_view key) {
  const std::uint32_t group = index.begin_locate(key);
  const Index::BlockRange blocks = index.blocks_of(group);
  constexpr std::size_t kSlotsInLine = kCacheLineBytes / sizeof(BlockSlot);
  for (std::size_t i = 0; i < blocks.count; i += kSlotsInLine) __builtin_prefetch(slots + blocks.first + i);
  return group;
}

/// What the filter says, if it is in memory: for lookups that are not inside an EpochGuard, because they may have to
/// read from disk next.
template <typename Ask>
std::optional<bool> ask_loaded(const std::atomic<const Filter*>& loaded, Ask ask) {
  const EpochGuard guard;
  const Filter* const filter = loaded.load();
  if (filter == nullptr) return std::nullopt;
  return ask(*filter);
}

}  // namespace

bool MetadataBudget::try_charge(std::uint64_t bytes) {
  std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
  do {
    const std::uint64_t limit = limit_bytes();
    if (used > limit || bytes > limit - used) return false;
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

Table::Table(std::shared_ptr<const TableFacts> facts, const TableContext& context)
    : facts_(std::move(facts)), context_(context), inside_(std::make_unique<Inside>()) {}

Table::~Table() {
  BlockSlot* const slots = slots_.load();
  if (slots == nullptr) return;
  for (std::uint32_t block = 0; block < facts_->blocks; ++block) {
    context_.cache->empty_slot({facts_->number, block}, slots[block]);
  }
  context_.index_budget->discharge(facts_->blocks * sizeof(BlockSlot));
}

std::string Table::path() const { return table_path(context_.directory, facts_->number); }

Result<std::shared_ptr<const ReadableFile>> Table::open_file() const {
  return context_.handles->open(facts_->number, path());
}

template <typename Steps>
Result<std::optional<FoundEntry>> Table::find(const Lookup& lookup, bool fills_cache, PinnedBlock& pin, Steps& steps) {
  TableSearch search;
  std::optional<FoundEntry> found;
  TAMIS_TRY(bool goes_on, begin_search(lookup, search));
  while (goes_on) {
    TAMIS_TRY_STATUS(fetch_block(*search.index, search.block, fills_cache, pin, search.step));
    goes_on = search_block(search, lookup, pin.bytes(), found);
  }
  if constexpr (Steps::kRecords) steps.add(search.step);
  return found;
}

template Result<std::optional<FoundEntry>> Table::find(const Lookup&, bool, PinnedBlock&, NoSteps&);
template Result<std::optional<FoundEntry>> Table::find(const Lookup&, bool, PinnedBlock&, RecordedSteps&);

Peek Table::peek(const Lookup& lookup, bool expected, FoundEntry& found) const {
  const Index* const index = index_.load();
  BlockSlot* const slots = slots_.load(std::memory_order_acquire);
  const bool is_in_memory = index != nullptr && slots != nullptr;
  std::uint32_t group = 0;
  if (expected && is_in_memory) group = begin_locate(*index, slots, lookup.key);
  if (const Filter* filter = filter_.load()) {
    if (!filter->may_contain_hash(lookup.hash)) return Peek::kAbsent;
  } else if (!inside_->filter_is_useless.load(std::memory_order_relaxed)) {
    return Peek::kUnknown;
  }
  if (!is_in_memory) return Peek::kUnknown;
  if (!expected) group = begin_locate(*index, slots, lookup.key);
  const bool use_tags = shares_hash_.load(std::memory_order_relaxed);
  for (std::uint32_t block = index->locate_in(group, lookup.key);; ++block) {
    Frame* const frame = slots[block].load();
    if (frame == nullptr) return Peek::kUnknown;
    const DataBlock data(block_of(frame->bytes()));
    frame->touch();
    if (const std::optional<FoundEntry> entry = data.find(lookup, use_tags)) {
      found = *entry;
      return Peek::kFound;
    }
    if (block + 1 == index->blocks() || !index->continues(block + 1) || !data.ends_with_key(lookup.key)) {
      return Peek::kAbsentHere;
    }
  }
}

void Table::count_peeks(std::uint64_t found, std::uint64_t absent) const {
  Inside::PeekCounts& counts = inside_->peeks[thread_number() % inside_->peeks.size()];
  add(counts.found, found);
  add(counts.absent, absent);
}

void Table::count_sampled_probe() const { add(inside_->probes, ProbeSampling::kProbesPerSample); }

FilterVerdict Table::ask_filter(std::uint64_t hash, std::uint32_t& metadata_reads) {
  const auto ask = [hash](const Filter& filter) { return filter.may_contain_hash(hash); };
  std::optional<bool> may_contain = ask_loaded(filter_, ask);
  if (!may_contain) [[unlikely]] {
    load_filter(metadata_reads);
    may_contain = ask_loaded(filter_, ask);
  }
  if (may_contain) return *may_contain ? FilterVerdict::kMaybe : FilterVerdict::kNo;
  const bool is_useless = inside_->filter_is_useless.load(std::memory_order_relaxed);
  return is_useless ? FilterVerdict::kNone : FilterVerdict::kNotInMemory;
}

Result<bool> Table::begin_search(const Lookup& lookup, TableSearch& search) {
  search = {};
  search.table = this;
  search.step.table = this;
  if (ProbeSampling::is_sampled()) [[unlikely]]
    count_sampled_probe();
  search.step.verdict = ask_filter(lookup.hash, search.step.metadata_reads);
  if (search.step.verdict == FilterVerdict::kNo) {
    search.step.outcome = TableOutcome::kRuledOut;
    return false;
  }
  TAMIS_TRY(search.index, shared_index(search.step.metadata_reads));
  search.block = search.index->locate(lookup.key);
  return true;
}

/// Goes on into the next block while that one begins with the key: its older versions stand there.
bool Table::search_block(TableSearch& search, const Lookup& lookup, Bytes frame, std::optional<FoundEntry>& found) {
  const DataBlock data(block_of(frame));
  found = data.find(lookup, shares_hash_.load(std::memory_order_relaxed));
  const std::uint32_t next = search.block + 1;
  if (!found && next < search.index->blocks() && search.index->continues(next) && data.ends_with_key(lookup.key)) {
    search.block = next;
    return true;
  }
  TableOutcome& outcome = search.step.outcome;
  if (found) outcome = found->kind == EntryKind::kDelete ? TableOutcome::kDeleted : TableOutcome::kFound;
  count(search.step, found.has_value());
  return false;
}

PinnedBlock Table::cached_block(std::uint32_t block, TableStep& step) const {
  PinnedBlock pin = context_.cache->find({facts_->number, block}, slot_of(block));
  if (pin && step.source == BlockSource::kNone) step.source = BlockSource::kCache;
  return pin;
}

Status Table::fetch_block(const Index& index, std::uint32_t block, bool fills_cache, PinnedBlock& pin,
                          TableStep& step) {
  pin = cached_block(block, step);
  if (pin) return {};
  step.source = BlockSource::kDisk;
  ++step.blocks_read;
  TAMIS_TRY(const std::shared_ptr<const ReadableFile> file, open_file());
  TAMIS_TRY(BlockBuffer frame, read_block(*file, index.position(block), facts_->number, path()));
  pin = keep_block(block, std::move(frame), fills_cache);
  return {};
}

PinnedBlock Table::keep_block(std::uint32_t block, BlockBuffer frame, bool fills_cache) const {
  const BlockKey key{facts_->number, block};
  const std::size_t charge_bytes = frame.size();
  return fills_cache ? context_.cache->insert(key, std::move(frame), charge_bytes, slot_of(block))
                     : context_.cache->hold(key, std::move(frame), charge_bytes);
}

void Table::count(const TableStep& step, bool found) {
  Inside& inside = *inside_;
  add(inside.positives, 1);
  add(inside.false_positives, step.verdict == FilterVerdict::kMaybe && !found ? 1 : 0);
  add(inside.unfiltered, step.verdict == FilterVerdict::kNotInMemory ? 1 : 0);
  add(inside.hits, found ? 1 : 0);
  add(inside.blocks_read, step.blocks_read);
}

TableCounts Table::counts() const {
  const auto load = [](const std::atomic<std::uint64_t>& count) { return count.load(std::memory_order_relaxed); };
  TableCounts counts{.probes = load(inside_->probes),
                     .positives = load(inside_->positives),
                     .false_positives = load(inside_->false_positives),
                     .unfiltered = load(inside_->unfiltered),
                     .hits = load(inside_->hits),
                     .blocks_read = load(inside_->blocks_read),
                     .metadata_loads = load(inside_->metadata_loads)};
  const bool has_filter = !inside_->filter_is_useless.load(std::memory_order_relaxed);
  for (const Inside::PeekCounts& peeks : inside_->peeks) {
    const std::uint64_t found = load(peeks.found);
    const std::uint64_t absent = load(peeks.absent);
    counts.positives += found + absent;
    counts.slot_hits += found + absent;
    counts.hits += found;
    if (has_filter) counts.false_positives += absent;
  }
  return counts;
}

TableCounts& TableCounts::operator+=(const TableCounts& other) {
  probes += other.probes;
  positives += other.positives;
  false_positives += other.false_positives;
  unfiltered += other.unfiltered;
  hits += other.hits;
  blocks_read += other.blocks_read;
  slot_hits += other.slot_hits;
  metadata_loads += other.metadata_loads;
  return *this;
}

std::unique_ptr<EntryIterator> Table::iterate(bool fills_cache) {
  return std::make_unique<TableIterator>(*this, fills_cache);
}

bool Table::may_contain_prefix(std::string_view scan_prefix) {
  const auto ask = [scan_prefix](const Filter& filter) { return filter.may_contain_prefix(scan_prefix); };
  std::optional<bool> may_contain = ask_loaded(inside_->prefix_filter, ask);
  if (!may_contain) {
    load_prefix_filter();
    may_contain = ask_loaded(inside_->prefix_filter, ask);
  }
  return may_contain.value_or(true);
}

Result<std::uint64_t> Table::approximate_bytes(std::string_view from, std::optional<std::string_view> to) {
  if (from > facts_->largest_key || (to && (*to <= from || *to <= facts_->smallest_key))) return std::uint64_t{0};
  std::uint32_t metadata_reads = 0;
  TAMIS_TRY(const std::shared_ptr<const Index> index, shared_index(metadata_reads));
  const BlockPosition last = index->position(index->blocks() - 1);
  const std::uint64_t begin = index->position(index->locate(from)).offset;
  // Before the block that `to` stands in: some keys of that one are left out, some of the first are in by mistake.
  const std::uint64_t end =
      to && *to <= facts_->largest_key ? index->position(index->locate(*to)).offset : last.offset + last.bytes;
  return end - begin;
}

}  // namespace tamis
