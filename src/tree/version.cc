#include "tree/version.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/epoch.h"
#include "base/try.h"
#include "table/table_iterator.h"
#include "tree/run_iterator.h"

namespace tamis {
namespace {

constexpr std::size_t kMostCountedPeeks = 8;  // Of one lookup; one that meets more goes the long way.

using Tables = std::span<const std::shared_ptr<Table>>;

/// For RunIterator: tables that stand in key order.
class TableParts {
 public:
  TableParts(Tables tables, bool fills_cache) : tables_(tables), fills_cache_(fills_cache) {}

  [[nodiscard]] std::size_t size() const { return tables_.size(); }
  [[nodiscard]] std::string_view smallest(std::size_t part) const { return tables_[part]->facts().smallest_key; }
  [[nodiscard]] std::string_view largest(std::size_t part) const { return tables_[part]->facts().largest_key; }
  void open(std::size_t part) { inside_.emplace(*tables_[part], fills_cache_); }
  [[nodiscard]] TableIterator& inside() { return *inside_; }

 private:
  Tables tables_;
  bool fills_cache_;
  std::optional<TableIterator> inside_;
};

/// The same for tables that were picked.
class PickedParts : public TableParts {
 public:
  explicit PickedParts(std::vector<std::shared_ptr<Table>> tables)
      : TableParts(tables, false), kept_(std::move(tables)) {}

 private:
  std::vector<std::shared_ptr<Table>> kept_;  // Moved, its memory stays where the span has it.
};

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
  SearchRun& added = runs_.emplace_back();
  added.level = level;
  added.first_table = static_cast<std::uint32_t>(tables_.size());
  added.table_count = static_cast<std::uint32_t>(run.tables.size());
  for (const std::shared_ptr<const TableFacts>& facts : run.tables) {
    std::shared_ptr<Table> table = before == nullptr ? nullptr : before->table(facts->number);
    if (table == nullptr) table = std::make_shared<Table>(facts, context);
    by_number_.emplace(facts->number, static_cast<std::uint32_t>(tables_.size()));
    tables_.push_back(std::move(table));
    heads_.push_back({key_head(facts->smallest_key), key_head(facts->largest_key)});
  }
  if (!run.tables.empty()) added.bounds = {heads_[added.first_table].smallest, heads_.back().largest};
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
  // By heads alone, and without a branch on them: nobody can foretell which way it would go.
  for (std::uint32_t count = run.table_count; count > 0;) {
    const std::uint32_t half = (count + 1) / 2;
    first += half & (0U - static_cast<std::uint32_t>(heads_[first + half - 1].largest < key.head));
    count -= half;
  }
  std::uint32_t end = run.first_table + run.table_count;
  if (first == end || heads_[first].largest != key.head) [[likely]]
    return first;
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
  if (key.head < run.bounds.smallest || key.head > run.bounds.largest) return nullptr;
  const std::uint32_t table = first_reaching(run, key);
  if (table == run.first_table + run.table_count || begins_after(table, key)) return nullptr;
  return tables_[table].get();
}

Table* Version::next_candidate(const Lookup& lookup, const RunSet& possible, std::uint32_t& run) const {
  const SearchKey key{lookup.key, key_head(lookup.key)};
  for (run = possible.next(run); run < runs_.size(); run = possible.next(run + 1)) {
    if (Table* const table = candidate(runs_[run], key)) return table;
  }
  return nullptr;
}

/// The lines of their filters are asked for, so that they arrive together.
std::size_t Version::next_candidates(const Lookup& lookup, const RunSet& possible, std::uint32_t& run,
                                     Candidates& candidates) const {
  std::size_t count = 0;
  while (count < candidates.size()) {
    Table* const table = next_candidate(lookup, possible, run);
    if (table == nullptr) break;
    table->prefetch_filter(lookup.hash);
    candidates[count++] = {table, run++};
  }
  return count;
}

/// Of the tables that may have the key the last one is expected to, if this thread has found what it looked for before:
/// then its index need not wait for its filter. Whoever asks for absent keys does not pay for that.
Peek Version::peek(const Lookup& lookup, FoundEntry& found) const {
  thread_local bool found_before = false;
  const RunSet possible = run_index_.possible(lookup.hash);
  Candidates candidates;
  std::array<const Table*, kMostCountedPeeks> let_through;  // Without having the key.
  std::size_t passed = 0;
  Peek answer = Peek::kAbsent;
  for (std::uint32_t run = 0; run < runs_.size() && answer == Peek::kAbsent;) {
    const std::size_t count = next_candidates(lookup, possible, run, candidates);
    for (std::size_t i = 0; i < count && answer == Peek::kAbsent; ++i) {
      const Table& table = *candidates[i].table;
      const Peek here = table.peek(lookup, found_before && i + 1 == count, found);
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
  found_before = answer == Peek::kFound;
  return answer;
}

template <typename Steps>
void Version::record_passed_over(const Lookup& lookup, std::uint32_t first, std::uint32_t end, Steps& steps) const {
  const SearchKey key{lookup.key, key_head(lookup.key)};
  for (std::uint32_t run = first; run < end; ++run) {
    TableStep step;
    step.table = candidate(runs_[run], key);
    if (step.table != nullptr) {
      step.verdict = FilterVerdict::kNoByRunIndex;
      step.outcome = TableOutcome::kRuledOut;
    } else {
      step.table = tables_[runs_[run].first_table].get();
      step.outcome = TableOutcome::kOutside;
    }
    steps.add(step);
  }
}

template <typename Steps>
Result<std::optional<FoundEntry>> Version::find(const Lookup& lookup, bool fills_cache, PinnedBlock& pin,
                                                Steps& steps) const {
  const RunSet possible = run_index_.possible(lookup.hash);
  Candidates candidates;
  const auto next = [&](std::uint32_t& run) {
    const EpochGuard guard;  // Looks at their filters, to prefetch.
    return next_candidates(lookup, possible, run, candidates);
  };
  std::uint32_t told = 0;  // Of the runs before this one it is written down what happened.
  for (std::uint32_t run = 0; run < runs_.size();) {
    const std::size_t count = next(run);
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (Steps::kRecords) {
        record_passed_over(lookup, std::exchange(told, candidates[i].run + 1), candidates[i].run, steps);
      }
      TAMIS_TRY(const std::optional<FoundEntry> found, candidates[i].table->find(lookup, fills_cache, pin, steps));
      if (found) return found;
    }
  }
  if constexpr (Steps::kRecords) record_passed_over(lookup, told, runs_.size(), steps);
  return std::optional<FoundEntry>();
}

template Result<std::optional<FoundEntry>> Version::find(const Lookup&, bool, PinnedBlock&, NoSteps&) const;
template Result<std::optional<FoundEntry>> Version::find(const Lookup&, bool, PinnedBlock&, RecordedSteps&) const;

std::span<const std::shared_ptr<Table>> Version::tables_in(const SearchRun& run, const KeyRange& range) const {
  const std::uint32_t first = first_reaching(run, {range.from, key_head(range.from)});
  const Tables tables = Tables(tables_).subspan(first, run.first_table + run.table_count - first);
  if (!range.to) return tables;
  const auto end = std::partition_point(tables.begin(), tables.end(), [&](const std::shared_ptr<Table>& table) {
    return !range.ends_before(table->facts().smallest_key);
  });
  return {tables.begin(), end};
}

void Version::iterate(const KeyRange& range, std::string_view prefix, bool fills_cache,
                      std::vector<std::unique_ptr<EntryIterator>>& iterators) const {
  if (range.ends_before(range.from)) return;
  iterators.reserve(iterators.size() + runs_.size());
  for (const SearchRun& run : runs_) {
    Tables tables = tables_in(run, range);
    if (!prefix.empty()) {
      // A table between two others of the range has no key without the prefix: its filter need not be asked.
      while (!tables.empty() && !tables.front()->may_contain_prefix(prefix)) tables = tables.subspan(1);
      while (!tables.empty() && !tables.back()->may_contain_prefix(prefix)) tables = tables.first(tables.size() - 1);
    }
    if (tables.size() == 1) {
      iterators.push_back(tables.front()->iterate(fills_cache));
    } else if (!tables.empty()) {
      iterators.push_back(std::make_unique<RunIterator<TableParts>>(tables, fills_cache));
    }
  }
}

std::unique_ptr<EntryIterator> Version::iterate_tables(const std::vector<std::uint64_t>& numbers) const {
  std::vector<std::shared_ptr<Table>> tables;
  for (const std::uint64_t number : numbers) {
    const auto found = by_number_.find(number);
    TAMIS_CHECK(found != by_number_.end());
    tables.push_back(tables_[found->second]);
  }
  std::ranges::sort(tables, {}, [](const auto& table) { return std::string_view(table->facts().smallest_key); });
  return std::make_unique<RunIterator<PickedParts>>(std::move(tables));
}

Result<std::uint64_t> Version::approximate_bytes(std::string_view from, std::optional<std::string_view> to) const {
  KeyRange range{std::string(from), {}};
  if (to) range.to = std::string(*to);
  std::uint64_t total = 0;
  if (range.ends_before(range.from)) return total;
  for (const SearchRun& run : runs_) {
    for (const std::shared_ptr<Table>& table : tables_in(run, range)) {
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
