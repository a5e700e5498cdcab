#include "tree/version.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "tree/run_iterator.h"

namespace tamis {
namespace {

constexpr std::size_t kMostCountedPeeks = 8;  // Of one lookup; one that meets more goes the long way.

/// One iterator over tables that stand in key order.
std::unique_ptr<EntryIterator> walk(std::vector<Table*> tables, bool fills_cache) {
  if (tables.size() == 1) return tables.front()->iterate(fills_cache);
  std::vector<RunIterator::Bounds> bounds;
  bounds.reserve(tables.size());
  for (const Table* table : tables) bounds.push_back({table->facts().smallest_key, table->facts().largest_key});
  return std::make_unique<RunIterator>(std::move(bounds), [tables = std::move(tables), fills_cache](std::size_t part) {
    return tables[part]->iterate(fills_cache);
  });
}

}  // namespace

Version::Version(Shape shape, const Version* before, const TableContext& context)
    : Version(std::move(shape), before, context, before == nullptr ? RunColumns() : before->run_index_.columns()) {}

Version::Version(Shape shape, const Version* before, const TableContext& context, const RunColumns& columns)
    : shape_(std::move(shape)), run_index_(shape_, columns) {
  const std::size_t count = shape_.tables();
  tables_.reserve(count);
  heads_.reserve(count);
  by_number_.reserve(count);
  runs_.reserve(shape_.runs());
  for (std::uint32_t level = 0; level < shape_.levels.size(); ++level) {
    for (const Run& run : shape_.levels[level]) add_run(level, run, before, context);
  }
}

void Version::add_run(std::uint32_t level, const Run& run, const Version* before, const TableContext& context) {
  runs_.push_back({level, static_cast<std::uint32_t>(tables_.size()), static_cast<std::uint32_t>(run.tables.size())});
  for (const std::shared_ptr<const TableFacts>& facts : run.tables) {
    std::shared_ptr<Table> table = before == nullptr ? nullptr : before->table(facts->number);
    if (table == nullptr) table = std::make_shared<Table>(facts, context);
    by_number_.emplace(facts->number, static_cast<std::uint32_t>(tables_.size()));
    tables_.push_back(std::move(table));
    heads_.push_back({key_head(facts->smallest_key), key_head(facts->largest_key)});
  }
}

bool Version::ends_before(std::uint32_t table, const SearchKey& key) const {
  const std::uint64_t largest = heads_[table].largest;
  return largest != key.head ? largest < key.head : tables_[table]->facts().largest_key < key.key;
}

bool Version::begins_after(std::uint32_t table, const SearchKey& key) const {
  const std::uint64_t smallest = heads_[table].smallest;
  return smallest != key.head ? smallest > key.head : tables_[table]->facts().smallest_key > key.key;
}

std::uint32_t Version::first_reaching(const SearchRun& run, const SearchKey& key) const {
  std::uint32_t first = run.first_table;
  std::uint32_t end = run.first_table + run.table_count;
  while (first < end) {
    const std::uint32_t middle = first + (end - first) / 2;
    if (ends_before(middle, key)) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

Table* Version::candidate(const SearchRun& run, const SearchKey& key) const {
  const std::uint32_t table = first_reaching(run, key);
  if (table == run.first_table + run.table_count || begins_after(table, key)) return nullptr;
  return tables_[table].get();
}

/// The lines of their filters are asked for, so that they arrive together.
std::size_t Version::next_candidates(const Lookup& lookup, const RunSet& possible, std::size_t& run,
                                     Candidates& candidates) const {
  const SearchKey key{lookup.key, key_head(lookup.key)};
  std::size_t count = 0;
  for (run = possible.next(run); run < runs_.size() && count < candidates.size(); run = possible.next(run + 1)) {
    Table* const table = candidate(runs_[run], key);
    if (table == nullptr) continue;
    table->prefetch_filter(lookup.hash);
    candidates[count++] = {table, run};
  }
  return count;
}

Peek Version::peek(const Lookup& lookup, FoundEntry& found) const {
  const RunSet possible = run_index_.possible(lookup.hash);
  Candidates candidates;
  std::array<const Table*, kMostCountedPeeks> let_through;  // Without having the key.
  std::size_t passed = 0;
  Peek answer = Peek::kAbsent;
  for (std::size_t run = 0; run < runs_.size() && answer == Peek::kAbsent;) {
    const std::size_t count = next_candidates(lookup, possible, run, candidates);
    for (std::size_t i = 0; i < count && answer == Peek::kAbsent; ++i) {
      const Table& table = *candidates[i].table;
      const Peek here = table.peek(lookup, found);
      if (here == Peek::kUnknown) return Peek::kUnknown;
      if (here == Peek::kFound) {
        table.count_peek(true);
        answer = here;
      } else if (here == Peek::kAbsentHere) {
        if (passed == let_through.size()) return Peek::kUnknown;
        let_through[passed++] = &table;
      }
    }
  }
  for (std::size_t i = 0; i < passed; ++i) let_through[i]->count_peek(false);
  return answer;
}

template <typename Steps>
void Version::record_ruled_out(const Lookup& lookup, const RunSet& possible, std::size_t first, std::size_t end,
                               Steps& steps) const {
  const SearchKey key{lookup.key, key_head(lookup.key)};
  for (std::size_t run = first; run < end; ++run) {
    if (possible.contains(run)) continue;
    TableStep step;
    step.table = candidate(runs_[run], key);
    step.verdict = FilterVerdict::kNoByRunIndex;
    step.outcome = TableOutcome::kRuledOut;
    if (step.table != nullptr) steps.add(step);
  }
}

template <typename Steps>
Result<std::optional<FoundEntry>> Version::find(const Lookup& lookup, bool fills_cache, PinnedBlock& pin,
                                                Steps& steps) const {
  const RunSet possible = run_index_.possible(lookup.hash);
  Candidates candidates;
  std::size_t told = 0;  // Of the runs before this one it is written down what happened.
  for (std::size_t run = 0; run < runs_.size();) {
    const std::size_t count = next_candidates(lookup, possible, run, candidates);
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (Steps::kRecords) {
        record_ruled_out(lookup, possible, std::exchange(told, candidates[i].run + 1), candidates[i].run, steps);
      }
      TAMIS_TRY(const std::optional<FoundEntry> found, candidates[i].table->find(lookup, fills_cache, pin, steps));
      if (found) return found;
    }
  }
  if constexpr (Steps::kRecords) record_ruled_out(lookup, possible, told, runs_.size(), steps);
  return std::optional<FoundEntry>();
}

template Result<std::optional<FoundEntry>> Version::find(const Lookup&, bool, PinnedBlock&, NoSteps&) const;
template Result<std::optional<FoundEntry>> Version::find(const Lookup&, bool, PinnedBlock&, RecordedSteps&) const;

/// Those of the run whose bounds meet the range.
std::vector<Table*> Version::tables_in(const SearchRun& run, const KeyRange& range) const {
  std::vector<Table*> inside;
  const std::uint32_t end = run.first_table + run.table_count;
  for (std::uint32_t i = first_reaching(run, {range.from, key_head(range.from)}); i < end; ++i) {
    Table* const table = tables_[i].get();
    if (range.ends_before(table->facts().smallest_key)) break;
    inside.push_back(table);
  }
  return inside;
}

std::vector<std::unique_ptr<EntryIterator>> Version::iterate(const KeyRange& range, std::string_view prefix,
                                                             bool fills_cache) const {
  std::vector<std::unique_ptr<EntryIterator>> iterators;
  if (range.ends_before(range.from)) return iterators;
  for (const SearchRun& run : runs_) {
    std::vector<Table*> tables = tables_in(run, range);
    if (!prefix.empty()) std::erase_if(tables, [&](Table* table) { return !table->may_contain_prefix(prefix); });
    if (!tables.empty()) iterators.push_back(walk(std::move(tables), fills_cache));
  }
  return iterators;
}

std::unique_ptr<EntryIterator> Version::iterate_tables(const std::vector<std::uint64_t>& numbers) const {
  std::vector<Table*> tables;
  for (const std::uint64_t number : numbers) {
    const auto found = by_number_.find(number);
    TAMIS_CHECK(found != by_number_.end());
    tables.push_back(tables_[found->second].get());
  }
  std::ranges::sort(tables, {}, [](const Table* table) { return std::string_view(table->facts().smallest_key); });
  return walk(std::move(tables), false);
}

Result<std::uint64_t> Version::approximate_bytes(std::string_view from, std::optional<std::string_view> to) const {
  KeyRange range{std::string(from), {}};
  if (to) range.to = std::string(*to);
  std::uint64_t total = 0;
  if (range.ends_before(range.from)) return total;
  for (const SearchRun& run : runs_) {
    for (Table* table : tables_in(run, range)) {
      if (range.contains(table->facts().smallest_key) && range.contains(table->facts().largest_key)) {
        total += table->facts().file_bytes;
      } else {
        TAMIS_TRY(const std::uint64_t part, table->approximate_bytes(from, to));
        total += part;
      }
    }
  }
  return total;
}

std::shared_ptr<Table> Version::table(std::uint64_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : tables_[found->second];
}

}  // namespace tamis
