#include "tree/run_matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>
#include <utility>

#include "base/check.h"

namespace tamis {
namespace {

using Word = std::atomic<std::uint64_t>;
static_assert(sizeof(Word) == sizeof(std::uint64_t) && Word::is_always_lock_free);

constexpr std::uint32_t kGolden = 0x9e3779b9U;
constexpr std::uint32_t kRowShift = 23;  // Leaves 9 bits: a row of 512.
static_assert(RunMatrixPlan::kBlockRows == 1U << (32 - kRowShift));

std::uint32_t width_for(std::size_t runs) { return runs <= 32 ? 32 : runs <= 64 ? 64 : RunMatrixPlan::kMostRuns; }

/// Where the rows of a hash are: the first row of its block, and the number that each_row multiplies on.
struct Place {
  std::uint64_t first_row = 0;
  std::uint32_t x = 0;
};

Place place_of(std::uint64_t hash, const RunMatrixPlan& plan) {
  const std::uint64_t mixed = remix(hash);
  const std::uint32_t block = fast_range32(static_cast<std::uint32_t>(mixed >> 32), plan.blocks);
  return {std::uint64_t{block} * RunMatrixPlan::kBlockRows, static_cast<std::uint32_t>(mixed)};
}

template <typename Function>
void each_row(Place place, std::uint32_t probes, Function f) {
  for (std::uint32_t i = 0; i < probes; ++i) {
    f(place.first_row + (place.x >> kRowShift));
    place.x *= kGolden;
  }
}

}  // namespace

RunMatrixPlan plan_run_matrix(std::vector<std::uint64_t> keys_of_runs, std::uint64_t room_bytes) {
  std::ranges::sort(keys_of_runs);
  if (keys_of_runs.size() > RunMatrixPlan::kMostRuns) keys_of_runs.resize(RunMatrixPlan::kMostRuns);
  std::uint64_t keys = 0;
  for (const std::uint64_t run : keys_of_runs) keys += run;
  for (std::size_t runs = keys_of_runs.size(); runs >= RunMatrixPlan::kFewestRuns; --runs) {
    const std::uint64_t largest = keys_of_runs[runs - 1];
    RunMatrixPlan plan{.width = width_for(runs), .runs = runs};
    const std::uint64_t block_bytes = std::uint64_t{RunMatrixPlan::kBlockRows} * plan.width / 8;
    const std::uint64_t wanted_bytes = std::max(keys * RunMatrixPlan::kBitsPerKey / 8, block_bytes);
    const std::uint64_t blocks = std::min(room_bytes, wanted_bytes) / block_bytes;
    plan.blocks = static_cast<std::uint32_t>(std::min(blocks, std::uint64_t{~std::uint32_t{0}}));
    keys -= largest;
    if (plan.blocks == 0 || !plan.takes(largest)) continue;
    const double rows_per_key =
        static_cast<double>(plan.rows()) / static_cast<double>(std::max(largest, std::uint64_t{1}));
    plan.probes = static_cast<std::uint32_t>(
        std::clamp(std::round(0.69 * rows_per_key), 1.0, double{RunMatrixPlan::kMostProbes}));
    return plan;
  }
  return {};
}

std::shared_ptr<RunMatrix> RunMatrix::make(const RunMatrixPlan& plan, MetadataBudget& budget) {
  TAMIS_CHECK(plan.blocks > 0 && plan.probes > 0);
  if (!budget.try_charge(plan.bytes())) return nullptr;
  AlignedBytes bits = AlignedBytes::zeroed(static_cast<std::size_t>(plan.bytes()));
  if (bits.size() != plan.bytes()) {
    budget.discharge(plan.bytes());
    return nullptr;
  }
  return std::shared_ptr<RunMatrix>(new RunMatrix(plan, std::move(bits), budget));
}

RunMatrix::RunMatrix(const RunMatrixPlan& plan, AlignedBytes bits, MetadataBudget& budget)
    : plan_(plan),
      bits_(std::move(bits)),
      words_(new (bits_.data()) Word[bits_.size() / sizeof(Word)]()),
      budget_(budget) {}

RunMatrix::~RunMatrix() { budget_.discharge(plan_.bytes()); }

std::optional<std::uint32_t> RunMatrix::take_column() {
  std::optional<std::uint32_t> column;
  {
    MutexLock lock(mutex_);
    for (std::uint32_t i = 0; i < plan_.width && !column; ++i) {
      std::uint64_t& word = taken_[i / 64];
      if ((word >> (i % 64) & 1) != 0) continue;
      word |= std::uint64_t{1} << (i % 64);
      column = i;
    }
  }
  if (column) empty(*column);
  return column;
}

void RunMatrix::give_back(std::uint32_t column) {
  MutexLock lock(mutex_);
  taken_[column / 64] &= ~(std::uint64_t{1} << (column % 64));
}

std::uint32_t RunMatrix::free_columns() const {
  MutexLock lock(mutex_);
  std::uint32_t taken = 0;
  for (const std::uint64_t word : taken_) taken += static_cast<std::uint32_t>(std::popcount(word));
  return plan_.width - taken;
}

/// Rows of 32 columns share a word with their neighbour, rows of 128 take two.
void RunMatrix::add(std::uint32_t column, std::uint64_t hash) {
  each_row(place_of(hash, plan_), plan_.probes, [&](std::uint64_t row) {
    const std::uint64_t bit = row * plan_.width + column;
    words_[bit / 64].fetch_or(std::uint64_t{1} << (bit % 64), std::memory_order_relaxed);
  });
}

void RunMatrix::empty(std::uint32_t column) {
  for (std::uint64_t row = 0; row < plan_.rows(); ++row) {
    const std::uint64_t bit = row * plan_.width + column;
    const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
    if ((word(bit / 64) & mask) != 0) words_[bit / 64].fetch_and(~mask, std::memory_order_relaxed);
  }
}

ColumnSet RunMatrix::ask(std::uint64_t hash) const {
  const Place place = place_of(hash, plan_);
  ColumnSet columns = {~std::uint64_t{0}, ~std::uint64_t{0}};
  if (plan_.width == 128) {
    each_row(place, plan_.probes, [&](std::uint64_t row) {
      columns[0] &= word(2 * row);
      columns[1] &= word(2 * row + 1);
    });
    return columns;
  }
  columns[1] = 0;
  if (plan_.width == 64) {
    each_row(place, plan_.probes, [&](std::uint64_t row) { columns[0] &= word(row); });
    return columns;
  }
  columns[0] = ~std::uint32_t{0};
  each_row(place, plan_.probes, [&](std::uint64_t row) { columns[0] &= word(row / 2) >> (32 * (row % 2)); });
  return columns;
}

void RunMatrix::prefetch(std::uint64_t hash) const {
  each_row(place_of(hash, plan_), plan_.probes,
           [&](std::uint64_t row) { __builtin_prefetch(words_ + row * plan_.width / 64); });
}

}  // namespace tamis
