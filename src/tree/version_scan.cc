// Scans of a version.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "table/table_iterator.h"
#include "tree/run_iterator.h"
#include "tree/version.h"

namespace tamis {
namespace {

using Tables = std::span<const std::shared_ptr<Table>>;

/// For RunIterator: tables in key order. A range delete may hide what is before `floor`, a key of the first one or
/// empty.
class TableParts {
 public:
  static constexpr bool kAreForReaders = true;

  TableParts(Tables tables, std::string_view floor, ScanCaching caching)
      : tables_(tables), floor_(floor), caching_(caching) {}

  [[nodiscard]] std::size_t size() const { return tables_.size(); }
  [[nodiscard]] std::string_view smallest(std::size_t part) const { return tables_[part]->facts().smallest_key; }
  [[nodiscard]] std::string_view largest(std::size_t part) const { return tables_[part]->facts().largest_key; }
  [[nodiscard]] std::string_view floor(std::size_t part) const { return part == 0 ? floor_ : std::string_view(); }
  void open(std::size_t part) { inside_.emplace(*tables_[part], caching_); }
  [[nodiscard]] TableIterator& inside() { return *inside_; }

 private:
  Tables tables_;
  std::string_view floor_;
  ScanCaching caching_;

 protected:
  std::optional<TableIterator> inside_;
};

/// The same for selected tables, which it keeps alive.
class PickedParts : public TableParts {
 public:
  static constexpr bool kAreForReaders = false;

  PickedParts(std::vector<std::shared_ptr<Table>> tables, BlocksOpened* opened)
      : TableParts(tables, {}, false), kept_(std::move(tables)), opened_(opened) {}

  void open(std::size_t part) { inside_.emplace(*kept_[part], false, opened_); }

 private:
  std::vector<std::shared_ptr<Table>> kept_;  // A move does not relocate its memory, so the span stays valid.
  BlocksOpened* opened_;
};

static_assert(sizeof(RunIterator<TableParts>) <= 1032);  // What glibc allocates fast.

std::unique_ptr<EntryIterator> omit_covered(std::unique_ptr<EntryIterator> run, Tables tables,
                                            const Uncovered& uncovered) {
  const auto part = [tables](std::size_t i) {
    const TableFacts& facts = tables[i]->facts();
    return SourcePart{facts.smallest_key, facts.largest_key, facts.largest_sequence};
  };
  return std::make_unique<UncoveredIterator>(std::move(run), uncovered, SourceParts{tables.size(), part});
}

/// Without tables at both ends whose prefix filters rule them out. All keys of a table between two others of the range
/// have the prefix: its filter need not be asked.
Tables with_prefix(Tables tables, std::string_view prefix) {
  if (prefix.empty()) return tables;
  while (!tables.empty() && !tables.front()->may_contain_prefix(prefix)) tables = tables.subspan(1);
  while (!tables.empty() && !tables.back()->may_contain_prefix(prefix)) tables = tables.first(tables.size() - 1);
  return tables;
}

/// None if the range lies inside of the only table, and its range filter rules it out. Any other table of a run has its
/// first or its last key in the range. `range` bounds all that the scan will ask for.
Tables with_range(Tables tables, const KeyRange& range) {
  if (tables.size() != 1 || !range.to || tables.front()->facts().range_filter_bytes == 0) return tables;
  const TableFacts& facts = tables.front()->facts();
  if (!range.begins_after(facts.smallest_key) || !range.ends_before(facts.largest_key)) return tables;
  return tables.front()->may_contain_range(range.from, *range.to) ? tables : Tables();
}

}  // namespace

Version::Tables Version::tables_in(TableSpan span, const KeyRange& range) const {
  const std::uint32_t first = first_reaching(span, {range.from, key_head(range.from)});
  const Tables tables = Tables(tables_).subspan(first, span.first + span.count - first);
  if (!range.to) return tables;
  const auto end = std::partition_point(tables.begin(), tables.end(), [&](const std::shared_ptr<Table>& table) {
    return !range.ends_before(table->facts().smallest_key);
  });
  return {tables.begin(), end};
}

/// What a reader of the range sees of these tables of a run.
Version::UncoveredTables Version::uncovered(const ScanRun& run, Tables tables, const KeyRange& range,
                                            CoveringDelete& covering) {
  std::string_view floor;
  while (!tables.empty()) {
    const std::string_view smallest = tables.front()->facts().smallest_key;
    if (!covering.ask(std::max({std::string_view(range.from), smallest, floor})).ok()) break;
    if (covering.newest() == nullptr) {
      const std::optional<std::string_view>& until = covering.same().to;
      return {tables, floor, until && *until <= tables.back()->facts().largest_key};
    }
    const RangeTombstone& hides = *covering.newest();
    const auto covers = [&](const auto& table) { return !hides.range.ends_before(table->facts().largest_key); };
    const auto is_older = [&](const auto& table) { return table->facts().largest_sequence < hides.sequence; };
    const auto shown =
        run.largest_sequence < hides.sequence
            ? std::ranges::partition_point(tables, covers)
            : std::ranges::find_if_not(tables, [&](const auto& table) { return covers(table) && is_older(table); });
    tables = Tables(shown, tables.end());
    if (tables.empty() || !is_older(tables.front())) break;
    floor = *hides.range.to;
  }
  return {tables, floor, true};
}

void Version::iterate(const KeyRange& range, std::string_view prefix, ScanCaching caching, const Uncovered& deletes,
                      std::vector<std::unique_ptr<EntryIterator>>& iterators) const {
  if (range.ends_before(range.from)) return;
  const std::size_t before = iterators.size();
  iterators.reserve(before + scan_runs_.size());
  if (deletes.deletes != nullptr) [[unlikely]] {
    iterate_uncovered(range, prefix, caching, deletes, iterators);
  } else {
    for (const ScanRun& run : scan_runs_) {
      const Tables tables = with_range(with_prefix(tables_in(run.tables, range), prefix), range);
      if (!tables.empty()) iterators.push_back(iterate_run(tables, {}, range, caching));
    }
  }
  if (const std::size_t runs = iterators.size() - before; runs > 1) extra_runs_scanned_.add(runs - 1);
}

void Version::iterate_uncovered(const KeyRange& range, std::string_view prefix, ScanCaching caching,
                                const Uncovered& deletes,
                                std::vector<std::unique_ptr<EntryIterator>>& iterators) const {
  CoveringDelete covering(deletes);
  for (const ScanRun& run : scan_runs_) {
    const UncoveredTables part = uncovered(run, tables_in(run.tables, range), range, covering);
    const Tables tables = with_range(with_prefix(part.tables, prefix), range);
    if (tables.empty()) continue;
    iterators.push_back(iterate_run(tables, part.floor, range, caching));
    if (part.may_be_covered) iterators.back() = omit_covered(std::move(iterators.back()), tables, deletes);
  }
}

/// A table that is alone, or that the scan begins in, is read without a RunIterator.
std::unique_ptr<EntryIterator> Version::iterate_run(Tables tables, std::string_view floor, const KeyRange& range,
                                                    ScanCaching caching) const {
  const bool is_entered = scan_runs_.size() == 1 || range.from >= tables.front()->facts().smallest_key;
  if (tables.size() == 1 && is_entered && floor.empty()) return tables.front()->iterate(caching);
  return std::make_unique<RunIterator<TableParts>>(tables, floor, caching);
}

std::unique_ptr<EntryIterator> Version::iterate_tables(const std::vector<std::uint64_t>& numbers,
                                                       BlocksOpened* opened) const {
  std::vector<std::shared_ptr<Table>> tables;
  for (const std::uint64_t number : numbers) {
    const auto found = by_number_.find(number);
    TAMIS_CHECK(found != by_number_.end());
    const std::shared_ptr<Table>& table = tables_[found->second];
    if (!table->facts().has_range_deletes_alone()) tables.push_back(table);
  }
  std::ranges::sort(tables, {}, [](const auto& table) { return std::string_view(table->facts().smallest_key); });
  return std::make_unique<RunIterator<PickedParts>>(std::move(tables), opened);
}

}  // namespace tamis
