#include "tree/version.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "entry/uncovered_iterator.h"
#include "table/table_iterator.h"
#include "table/value_pointers.h"
#include "tree/run_iterator.h"

namespace tamis {
namespace {

using Tables = std::span<const std::shared_ptr<Table>>;

/// For RunIterator: tables in key order.
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

/// The same for selected tables, which it keeps alive.
class PickedParts : public TableParts {
 public:
  explicit PickedParts(std::vector<std::shared_ptr<Table>> tables)
      : TableParts(tables, false), kept_(std::move(tables)) {}

 private:
  std::vector<std::shared_ptr<Table>> kept_;  // A move does not relocate its memory, so the span stays valid.
};

std::unique_ptr<EntryIterator> omit_covered(std::unique_ptr<EntryIterator> run, Tables tables,
                                            const Uncovered& uncovered) {
  const auto part = [tables](std::size_t i) {
    const TableFacts& facts = tables[i]->facts();
    return SourcePart{facts.smallest_key, facts.largest_key, facts.largest_sequence};
  };
  return std::make_unique<UncoveredIterator>(std::move(run), uncovered, SourceParts{tables.size(), part});
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
  range_deletes_ = TableRangeDeletes::of(tables_, before == nullptr ? nullptr : before->range_deletes_);
  value_files_.reserve(shape_.value_files.size());
  for (const ValueFileFacts& facts : shape_.value_files) {
    std::shared_ptr<ValueFile> file = before == nullptr ? nullptr : before->value_file(facts.number);
    if (file == nullptr) file = std::make_shared<ValueFile>(facts, context);
    value_files_.push_back(std::move(file));
  }
}

void Version::add_run(std::uint32_t level, const Run& run, const Version* before, const TableContext& context) {
  SearchRun& added = runs_.emplace_back();
  added.level = level;
  added.first_table = static_cast<std::uint32_t>(tables_.size());
  for (const std::shared_ptr<const TableFacts>& facts : run.tables) {
    if (!facts->has_range_deletes_alone()) add_table(facts, before, context);
  }
  added.table_count = static_cast<std::uint32_t>(tables_.size()) - added.first_table;
  added.bounds = {~std::uint64_t{0}, 0};
  if (added.table_count > 0) added.bounds = {heads_[added.first_table].smallest, heads_.back().largest};
  for (const std::shared_ptr<const TableFacts>& facts : run.tables) {
    if (facts->has_range_deletes_alone()) add_table(facts, before, context);
  }
}

void Version::add_table(const std::shared_ptr<const TableFacts>& facts, const Version* before,
                        const TableContext& context) {
  std::shared_ptr<Table> table = before == nullptr ? nullptr : before->table(facts->number);
  if (table == nullptr) table = std::make_shared<Table>(facts, context);
  by_number_.emplace(facts->number, static_cast<std::uint32_t>(tables_.size()));
  tables_.push_back(std::move(table));
  heads_.push_back({key_head(facts->smallest_key), key_head(facts->largest_key)});
}

std::span<const std::shared_ptr<Table>> Version::tables_in(const SearchRun& run, const KeyRange& range) const {
  const std::uint32_t first = first_reaching(run, {range.from, key_head(range.from)});
  const Tables tables = Tables(tables_).subspan(first, run.first_table + run.table_count - first);
  if (!range.to) return tables;
  const auto end = std::partition_point(tables.begin(), tables.end(), [&](const std::shared_ptr<Table>& table) {
    return !range.ends_before(table->facts().smallest_key);
  });
  return {tables.begin(), end};
}

void Version::iterate(const KeyRange& range, std::string_view prefix, bool fills_cache, const Uncovered& uncovered,
                      std::vector<std::unique_ptr<EntryIterator>>& iterators) const {
  if (range.ends_before(range.from)) return;
  iterators.reserve(iterators.size() + runs_.size());
  for (const SearchRun& run : runs_) {
    Tables tables = tables_in(run, range);
    if (!prefix.empty()) {
      // All keys of a table between two others of the range have the prefix: its filter need not be asked.
      while (!tables.empty() && !tables.front()->may_contain_prefix(prefix)) tables = tables.subspan(1);
      while (!tables.empty() && !tables.back()->may_contain_prefix(prefix)) tables = tables.first(tables.size() - 1);
    }
    if (tables.size() == 1) {
      iterators.push_back(tables.front()->iterate(fills_cache));
    } else if (!tables.empty()) {
      iterators.push_back(std::make_unique<RunIterator<TableParts>>(tables, fills_cache));
    }
    if (uncovered.deletes != nullptr && !tables.empty()) [[unlikely]]
      iterators.back() = omit_covered(std::move(iterators.back()), tables, uncovered);
  }
}

std::unique_ptr<EntryIterator> Version::iterate_tables(const std::vector<std::uint64_t>& numbers) const {
  std::vector<std::shared_ptr<Table>> tables;
  for (const std::uint64_t number : numbers) {
    const auto found = by_number_.find(number);
    TAMIS_CHECK(found != by_number_.end());
    const std::shared_ptr<Table>& table = tables_[found->second];
    if (!table->facts().has_range_deletes_alone()) tables.push_back(table);
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
        total += table->facts().file_bytes + sum_of(table->facts().values_apart).bytes;
      } else {
        TAMIS_TRY(const std::uint64_t part, table->approximate_bytes(from, to));
        const double share = static_cast<double>(part) / static_cast<double>(table->facts().file_bytes);
        total +=
            part + static_cast<std::uint64_t>(share * static_cast<double>(sum_of(table->facts().values_apart).bytes));
      }
    }
  }
  return total;
}

std::shared_ptr<ValueFile> Version::value_file(std::uint64_t number) const {
  const auto at =
      std::ranges::lower_bound(value_files_, number, {}, [](const auto& file) { return file->facts().number; });
  return at == value_files_.end() || (*at)->facts().number != number ? nullptr : *at;
}

Result<ValueRead> Version::begin_value(std::string_view key, std::string_view pointer, std::string& to) const {
  ValueRead read{.key = key, .to = &to};
  TAMIS_TRY(read.pointer, decode_value_pointer(pointer, "a pointer"));
  read.file = value_file(read.pointer.file).get();  // This version keeps it.
  if (read.file != nullptr) return read;
  return Status::corruption(
      fmt::format("value file {}: value at offset {}: there is no such file", read.pointer.file, read.pointer.offset));
}

std::shared_ptr<Table> Version::table(std::uint64_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : tables_[found->second];
}

}  // namespace tamis
