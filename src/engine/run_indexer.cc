#include "engine/run_indexer.h"

#include <algorithm>
#include <utility>

#include "engine/memory_shares.h"

namespace tamis {
namespace {

constexpr std::uint64_t kEagerness = 4;  // Another core does most of the reading, beside the lookups.

/// A run without a column that could have one.
struct WaitingRun {
  std::vector<std::uint64_t> tables;
  std::uint64_t keys = 0;
};

std::vector<WaitingRun> runs_for(const RunMatrixPlan& plan, const Version& version, const RunIndex& index) {
  std::vector<WaitingRun> waiting;
  std::size_t place = 0;
  for (const std::vector<Run>& level : version.shape().levels) {
    for (const Run& run : level) {
      const std::size_t here = place++;
      if (here >= RunSet::kPlaces || index.has_column(here) || !plan.takes(run.keys())) continue;
      WaitingRun& added = waiting.emplace_back();
      added.keys = run.keys();
      for (const auto& table : run.tables) added.tables.push_back(table->number);
    }
  }
  return waiting;
}

/// Whether another matrix would be so much better or smaller that reading all runs again is worth it.
bool is_outgrown(const RunMatrixPlan& matrix, std::size_t runs_it_could_hold, const RunMatrixPlan& wanted) {
  const std::size_t runs = std::min<std::size_t>(runs_it_could_hold, matrix.width);
  return 8 * runs < 7 * wanted.runs || 2 * wanted.rows > 3 * matrix.rows || 4 * wanted.bytes() < matrix.bytes();
}

std::uint64_t keys_in_columns(const Shape& shape, const RunIndex& index) {
  std::uint64_t keys = 0;
  std::uint32_t place = 0;
  for (const std::vector<Run>& level : shape.levels) {
    for (const Run& run : level) keys += index.has_column(place++) ? run.keys() : 0;
  }
  return keys;
}

}  // namespace

void RunIndexer::index_runs(const IsInVain& is_in_vain) {
  if (tree_.settings()->options.filter == "none") return;
  {
    MutexLock lock(mutex_);
    if (std::exchange(is_indexing_, true)) return;
  }
  index_waiting_runs(is_in_vain);
  MutexLock lock(mutex_);
  is_indexing_ = false;
  is_idle_.notify_all();
}

void RunIndexer::drop_if_too_large() {
  const std::shared_ptr<const Version> version = tree_.version();
  const RunMatrix* const matrix = version->run_index().matrix();
  if (matrix != nullptr && is_too_large(matrix->plan(), version->shape())) tree_.install_columns({});
}

bool RunIndexer::is_too_large(const RunMatrixPlan& matrix, const Shape& shape) const {
  return matrix.bytes() > memory_.shares_for(tree_.id(), shape).run_matrix_room;
}

void RunIndexer::wait() {
  MutexLock lock(mutex_);
  while (is_indexing_) is_idle_.wait(mutex_);
}

void RunIndexer::index_waiting_runs(const IsInVain& is_in_vain) {
  std::shared_ptr<const Version> version = tree_.version();
  const RunIndex* index = &version->run_index();
  if (index->empty() && version->shape().runs() < RunMatrixPlan::kMinRuns) return;
  const MemoryShares shares = memory_.shares_for(tree_.id(), version->shape());
  const RunMatrixPlan wanted = shares.run_matrix;
  if (!index->empty() && (wanted.rows == 0 || index->matrix()->plan().bytes() > shares.run_matrix_room)) {
    return tree_.install_columns({});
  }
  if (wanted.rows == 0) return;

  std::vector<WaitingRun> waiting = runs_for(index->empty() ? wanted : index->matrix()->plan(), *version, *index);
  std::uint64_t unserved = waiting.size();
  bool replaces = false;
  if (!index->empty()) {
    const RunMatrix& matrix = *index->matrix();
    replaces = is_outgrown(matrix.plan(), index->columns().size() + waiting.size(), wanted) ||
               matrix.has_stale_gate(keys_in_columns(version->shape(), *index));
    if (replaces) {
      waiting = runs_for(wanted, *version, RunIndex());
      unserved = version->shape().runs() - index->columns().size();
    }
  }
  std::uint64_t keys = 0;
  for (const WaitingRun& run : waiting) keys += run.keys;
  const std::uint64_t lookups = reader_.counts().all();
  const std::uint64_t paid = (lookups - gets_at_last_indexing_) * std::max<std::uint64_t>(unserved, 1);
  if (waiting.empty() || paid * kEagerness < keys) return;

  if (replaces) {  // Frees its memory before the next one is allocated. A compaction may have ended meanwhile.
    tree_.install_columns({});
    version = tree_.version();
    index = &version->run_index();
    waiting = runs_for(wanted, *version, *index);
  }
  RunColumns columns = index->columns();
  const std::shared_ptr<RunMatrix> matrix =
      columns.empty() ? RunMatrix::make(wanted, memory_.filter_budget()) : columns.front()->matrix();
  if (matrix == nullptr) return;
  for (WaitingRun& run : waiting) {
    const std::unique_ptr<EntryIterator> entries = version->iterate_tables(run.tables);
    const auto stops = [&] { return is_in_vain(run.tables); };
    auto column = RunColumn::fill(matrix, run.tables, *entries, context_.hasher, stops);
    if (column != nullptr) columns.push_back(std::move(column));
    if (health_.is_closing()) break;
  }
  if (!health_.is_closing()) gets_at_last_indexing_ = lookups;
  tree_.install_columns(columns);
  drop_if_too_large();  // The memory may have become less meanwhile.
}

}  // namespace tamis
