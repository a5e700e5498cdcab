#include "tree/run_index.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "entry/entry_iterator.h"

namespace tamis {

static_assert(RunSet::kPlaces - 1 <= 0xff);  // The range of run_of_column_.

RunColumn::RunColumn(std::shared_ptr<RunMatrix> matrix, std::uint32_t column, std::vector<std::uint64_t> tables)
    : matrix_(std::move(matrix)), column_(column), tables_(std::move(tables)) {
  std::ranges::sort(tables_);
}

std::shared_ptr<const RunColumn> RunColumn::fill(std::shared_ptr<RunMatrix> matrix, std::vector<std::uint64_t> tables,
                                                 EntryIterator& entries, const KeyHasher& hasher,
                                                 const std::function<bool()>& is_cancelled) {
  const std::optional<std::uint32_t> column = matrix->take_column();
  if (!column) return nullptr;
  std::shared_ptr<const RunColumn> filled(new RunColumn(std::move(matrix), *column, std::move(tables)));
  std::uint64_t read = 0;
  for (entries.seek_to_first(); entries.valid(); entries.next()) {
    if (read++ % kEntriesPerQuestion == 0 && is_cancelled()) return nullptr;
    filled->matrix_->add(*column, hasher(entries.entry().key));
  }
  // An iteration that ended early missed some keys.
  if (!entries.status().ok()) return nullptr;
  return filled;
}

bool RunColumn::covers(const Run& run) const {
  return std::ranges::all_of(run.tables, [&](const std::shared_ptr<const TableFacts>& table) {
    return std::ranges::binary_search(tables_, table->number);
  });
}

RunIndex::RunIndex(const Shape& shape, const RunColumns& columns) {
  std::unordered_map<std::uint64_t, const std::shared_ptr<const RunColumn>*> by_table;
  for (const std::shared_ptr<const RunColumn>& column : columns) {
    for (const std::uint64_t table : column->tables()) by_table.emplace(table, &column);
  }
  if (by_table.empty()) return;
  std::size_t place = 0;
  for (const std::vector<Run>& level : shape.levels) {
    for (const Run& run : level) {
      if (place >= RunSet::kPlaces) break;
      const std::size_t here = place++;
      const auto found = by_table.find(run.tables.front()->number);
      if (found == by_table.end()) continue;
      const std::shared_ptr<const RunColumn>& column = *found->second;
      const std::uint32_t number = column->column();
      // A run may have been split in two: a column stands for one run only.
      const bool is_taken = (in_use_[number / 64] >> (number % 64) & 1) != 0;
      if (is_taken || !column->covers(run)) continue;
      TAMIS_CHECK(matrix_ == nullptr || matrix_ == column->matrix().get());
      matrix_ = column->matrix().get();
      in_use_[number / 64] |= std::uint64_t{1} << (number % 64);
      run_of_column_[number] = static_cast<std::uint8_t>(here);
      without_column_.remove(here);
      columns_.push_back(column);
    }
  }
}

RunSet RunIndex::possible_by_matrix(std::uint64_t hash) const {
  const ColumnSet columns = matrix_->ask(hash);
  RunSet runs = without_column_;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::uint64_t left = columns[i] & in_use_[i]; left != 0; left &= left - 1) {
      runs.add(run_of_column_[64 * i + static_cast<std::size_t>(std::countr_zero(left))]);
    }
  }
  return runs;
}

}  // namespace tamis
