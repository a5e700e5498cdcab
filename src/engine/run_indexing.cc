// Keeping the run index: when it is worth its reading, and which runs are in it.
#include <algorithm>
#include <utility>

#include "engine/engine.h"

namespace tamis {
namespace {

constexpr std::uint64_t kEagerness = 4;  // The reading is done behind the lookups' backs, mostly by another core.

/// A run that has no column and could have one.
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

/// Whether another matrix would serve so much better, or be so much smaller, that all runs are read again for it.
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

void Engine::index_runs() {
  if (options_.filter == "none") return;
  {
    MutexLock lock(state_mutex_);
    if (std::exchange(is_indexing_, true)) return;
  }
  index_waiting_runs();
  MutexLock lock(state_mutex_);
  is_indexing_ = false;
  state_changed_.notify_all();
}

/// Lookups pay for every run that they have to ask by itself, about as much as reading a key into a column costs. So
/// the runs are read when lookups have paid a part of that: a store that is only written to never reads them.
void Engine::index_waiting_runs() {
  std::shared_ptr<const Version> version = tree_version();
  const RunIndex* index = &version->run_index();
  if (index->empty() && version->shape().runs() < RunMatrixPlan::kFewestRuns) return;
  const MemoryShares shares = tamis::share_memory(options_, version->shape());
  const RunMatrixPlan wanted = shares.run_matrix;
  if (!index->empty() && (wanted.rows == 0 || index->matrix()->plan().bytes() > shares.run_matrix_room)) {
    return install_columns({});
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
  const std::uint64_t lookups = gets();
  const std::uint64_t paid = (lookups - lookups_at_indexing_) * std::max<std::uint64_t>(unserved, 1);
  if (waiting.empty() || paid * kEagerness < keys) return;

  if (replaces) {  // Its memory must be free before the next one's is taken.
    install_columns({});
    version = tree_version();
    index = &version->run_index();
  }
  RunColumns columns = index->columns();
  const std::shared_ptr<RunMatrix> matrix =
      columns.empty() ? RunMatrix::make(wanted, filter_budget_) : columns.front()->matrix();
  if (matrix == nullptr) return;
  for (WaitingRun& run : waiting) {
    const std::unique_ptr<EntryIterator> entries = version->iterate_tables(run.tables);
    const auto is_in_vain = [this, &tables = std::as_const(run.tables)] { return is_reading_in_vain(tables); };
    auto column = RunColumn::fill(matrix, run.tables, *entries, hasher_, is_in_vain);
    if (column != nullptr) columns.push_back(std::move(column));
    if (is_stopping_) break;
  }
  if (!is_stopping_) lookups_at_indexing_ = lookups;
  install_columns(columns);
}

/// The version of this moment may be a later one than the columns were read from: it takes those that cover its runs.
void Engine::install_columns(const RunColumns& columns) {
  {
    MutexLock tree_lock(tree_mutex_);
    const std::shared_ptr<const Version> before = tree_version();
    auto next = std::make_shared<const Version>(before->shape(), before.get(), context_, columns);
    share_memory(*next);
    MutexLock lock(state_mutex_);
    version_ = std::move(next);
    install_view();
  }
  view_.drop_replaced();
}

std::shared_ptr<const Version> Engine::tree_version() const {
  MutexLock lock(state_mutex_);
  return version_;
}

/// The thread that reads runs into columns is the one that compacts, and may be the one that flushes. So what has
/// become due is done first. Afterwards the run may be another: then it need not be read to its end.
bool Engine::is_reading_in_vain(const std::vector<std::uint64_t>& tables) {
  if (is_stopping_) return true;
  if (!environment_.runs_in_background) return false;  // Whoever calls does one after the other.
  while (options_.background_threads == 1 && flush_if_due()) {
  }
  if (!is_compaction_awaited()) return false;
  while (compact_if_due()) {
  }
  const std::shared_ptr<const Version> version = tree_version();
  return std::ranges::any_of(tables, [&](std::uint64_t table) { return version->table(table) == nullptr; });
}

/// One that failed is tried again later.
bool Engine::is_compaction_awaited() const {
  MutexLock lock(state_mutex_);
  return compaction_wanted_ && !write_stop_ && failed_rewrites_ == 0;
}

}  // namespace tamis
