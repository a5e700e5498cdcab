#include "table/table.h"

#include <utility>

#include "base/try.h"
#include "io/file_names.h"
#include "table/table_inside.h"
#include "table/table_iterator.h"

namespace tamis {

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

Status Table::hold_file() {
  if (inside_->held_file != nullptr) return {};
  TAMIS_TRY(inside_->held_file, open_file());
  return {};
}

Result<std::shared_ptr<const ReadableFile>> Table::open_file() const {
  if (inside_->held_file != nullptr) return inside_->held_file;
  return context_.handles->open(facts_->number, path());
}

TableCounts Table::counts() const {
  const auto load = [](const std::atomic<std::uint64_t>& count) { return count.load(std::memory_order_relaxed); };
  TableCounts counts{.probes = load(inside_->probes),
                     .vain_probes = load(inside_->vain_probes),
                     .passed_over = load(inside_->passed_over),
                     .positives = load(inside_->positives),
                     .false_positives = load(inside_->false_positives),
                     .unfiltered = load(inside_->unfiltered),
                     .hits = load(inside_->hits),
                     .blocks_read = load(inside_->blocks_read),
                     .metadata_loads = load(inside_->metadata_loads),
                     .filter_bytes_read = load(inside_->filter_bytes_read)};
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

std::unique_ptr<EntryIterator> Table::iterate(ScanCaching caching) {
  return std::make_unique<TableIterator>(*this, caching);
}

bool Table::may_contain_prefix(std::string_view scan_prefix) {
  const auto ask = [scan_prefix](const Filter& filter) { return filter.may_contain_prefix(scan_prefix); };
  std::optional<bool> may_contain = inside_->prefix_filter.ask(ask);
  if (!may_contain) {
    load_prefix_filter();
    may_contain = inside_->prefix_filter.ask(ask);
  }
  return may_contain.value_or(true);
}

bool Table::may_contain_range(std::string_view from, std::string_view to) {
  const auto ask = [from, to](const RangeFilter& filter) { return filter.may_contain(from, to); };
  std::optional<bool> may_contain = inside_->range_filter.ask(ask);
  if (!may_contain) {
    load_range_filter();
    may_contain = inside_->range_filter.ask(ask);
  }
  return may_contain.value_or(true);
}

Result<std::uint64_t> Table::approximate_bytes(std::string_view from, std::optional<std::string_view> to) {
  if (from > facts_->largest_key || (to && (*to <= from || *to <= facts_->smallest_key))) return std::uint64_t{0};
  std::uint32_t metadata_reads = 0;
  TAMIS_TRY(IndexPart part, index_part(from, true, metadata_reads));
  const std::uint64_t begin = part.position(part.locate(from)).offset;
  if (!to || *to > facts_->largest_key) {
    TAMIS_TRY(const TableProperties* read, properties());
    return read->filter.offset - begin;  // The filter follows the blocks.
  }
  // Excludes the block of `to`: some keys of that block are missed, some of the first block are counted in error.
  TAMIS_TRY(part, index_part(*to, true, metadata_reads));
  return part.position(part.locate(*to)).offset - begin;
}

}  // namespace tamis
