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
constexpr std::uint64_t kLongGolden = 0x9e3779b97f4a7c15U;
constexpr std::uint32_t kLineShift = 23;  // Leaves 9 bits: one of 512.
static_assert(RunMatrixPlan::kLineBits == 1U << (32 - kLineShift));
constexpr std::uint64_t kWordsOfLine = RunMatrixPlan::kLineBits / 64;
constexpr std::uint64_t kRowStep = 64;  // Whole lines, for any width.
constexpr std::uint64_t kMost = ~std::uint32_t{0};

std::uint32_t width_for(std::size_t runs) {
  if (runs <= 32) return runs <= 8 ? 8 : runs <= 16 ? 16 : 32;
  return static_cast<std::uint32_t>((runs + 63) / 64 * 64);
}

/// For a Bloom filter with this many bits per key.
std::uint32_t probes_for(std::uint64_t bits, std::uint64_t keys, std::uint32_t most) {
  const double per_key = static_cast<double>(bits) / static_cast<double>(std::max(keys, std::uint64_t{1}));
  return static_cast<std::uint32_t>(std::clamp(std::round(0.69 * per_key), 1.0, static_cast<double>(most)));
}

/// Upper half: which line. Lower half: which bits in it.
template <typename Function>
void each_gate_bit(std::uint64_t mixed, const RunMatrixPlan& plan, Function f) {
  const std::uint64_t line =
      fast_range32(static_cast<std::uint32_t>(mixed >> 32), static_cast<std::uint32_t>(plan.lines));
  auto x = static_cast<std::uint32_t>(mixed);
  for (std::uint32_t i = 0; i < plan.gate_probes; ++i) {
    const std::uint32_t bit = x >> kLineShift;
    f(line * kWordsOfLine + bit / 64, std::uint64_t{1} << (bit % 64));
    x *= kGolden;
  }
}

}  // namespace

RunMatrixPlan plan_run_matrix(std::vector<std::uint64_t> keys_of_runs, std::uint64_t room_bytes) {
  std::ranges::sort(keys_of_runs);
  if (keys_of_runs.size() > RunMatrixPlan::kMaxRuns) keys_of_runs.resize(RunMatrixPlan::kMaxRuns);
  std::uint64_t keys = 0;
  for (const std::uint64_t run : keys_of_runs) keys += run;
  for (std::size_t runs = keys_of_runs.size(); runs >= RunMatrixPlan::kMinRuns; --runs) {
    const std::uint64_t largest = keys_of_runs[runs - 1];
    const std::uint64_t keys_here = std::exchange(keys, keys - largest);
    RunMatrixPlan plan{.width = width_for(runs), .runs = runs};
    const std::uint64_t step_bytes = kRowStep * plan.width / 8;
    const std::uint64_t wanted_bytes = std::max(keys_here * RunMatrixPlan::kBitsPerKey / 8, 2 * step_bytes);
    const std::uint64_t bytes = std::min(room_bytes, wanted_bytes);
    plan.lines = std::min(bytes / RunMatrixPlan::kGateShare * 8 / RunMatrixPlan::kLineBits, kMost);
    plan.rows = std::min((bytes - plan.gate_bytes()) / step_bytes * kRowStep, kMost / kRowStep * kRowStep);
    if (plan.rows == 0 || plan.lines == 0 || !plan.takes(largest)) continue;
    plan.probes = probes_for(plan.rows, largest, RunMatrixPlan::kMaxProbes);
    plan.gate_probes = probes_for(plan.lines * RunMatrixPlan::kLineBits, keys_here, RunMatrixPlan::kMaxGateProbes);
    return plan;
  }
  return {};
}

std::shared_ptr<RunMatrix> RunMatrix::make(const RunMatrixPlan& plan, MetadataBudget& budget) {
  TAMIS_CHECK(plan.rows > 0 && plan.rows % kRowStep == 0 && plan.probes > 0);
  TAMIS_CHECK(plan.lines > 0 && plan.gate_probes > 0);
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
      gate_(new (bits_.data()) Word[bits_.size() / sizeof(Word)]()),
      words_(gate_ + plan.gate_bytes() / sizeof(Word)),
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

template <typename Function>
void RunMatrix::each_row(std::uint64_t mixed, Function f) const {
  for (std::uint32_t i = 0; i < plan_.probes; ++i) {
    mixed *= kLongGolden;
    f(std::uint64_t{fast_range32(static_cast<std::uint32_t>(mixed >> 32), static_cast<std::uint32_t>(plan_.rows))});
  }
}

/// Narrow rows share a word with their neighbours.
void RunMatrix::add(std::uint32_t column, std::uint64_t hash) {
  const std::uint64_t mixed = remix(hash);
  open_gate(mixed);
  each_row(mixed, [&](std::uint64_t row) {
    const std::uint64_t bit = row * plan_.width + column;
    words_[bit / 64].fetch_or(std::uint64_t{1} << (bit % 64), std::memory_order_relaxed);
  });
}

void RunMatrix::open_gate(std::uint64_t mixed) {
  std::uint64_t added = 0;
  each_gate_bit(mixed, plan_, [&](std::uint64_t word, std::uint64_t mask) {
    if ((gate_[word].load(std::memory_order_relaxed) & mask) != 0) return;
    gate_[word].fetch_or(mask, std::memory_order_relaxed);
    ++added;
  });
  if (added > 0) gate_bits_.fetch_add(added, std::memory_order_relaxed);
}

bool RunMatrix::is_gate_open(std::uint64_t mixed) const {
  std::uint64_t missing = 0;
  each_gate_bit(mixed, plan_, [&](std::uint64_t word, std::uint64_t mask) {
    missing |= ~gate_[word].load(std::memory_order_relaxed) & mask;
  });
  return missing == 0;
}

bool RunMatrix::has_stale_gate(std::uint64_t keys_in_columns) const {
  const auto bits = static_cast<double>(plan_.lines * RunMatrixPlan::kLineBits);
  const double due = bits * -std::expm1(-static_cast<double>(plan_.gate_probes * keys_in_columns) / bits);
  const auto set = static_cast<double>(gate_bits_.load(std::memory_order_relaxed));
  return set > 0.65 * bits && set > 1.25 * due;
}

void RunMatrix::empty(std::uint32_t column) {
  for (std::uint64_t row = 0; row < plan_.rows; ++row) {
    const std::uint64_t bit = row * plan_.width + column;
    const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
    if ((word(bit / 64) & mask) != 0) words_[bit / 64].fetch_and(~mask, std::memory_order_relaxed);
  }
}

ColumnSet RunMatrix::ask(std::uint64_t hash) const {
  const std::uint64_t mixed = remix(hash);
  ColumnSet columns = {};
  if (!is_gate_open(mixed)) return columns;
  if (plan_.width <= 64) {
    std::uint64_t all = ~std::uint64_t{0} >> (64 - plan_.width);
    each_row(mixed, [&](std::uint64_t row) {
      const std::uint64_t bit = row * plan_.width;
      all &= word(bit / 64) >> (bit % 64);
    });
    columns[0] = all;
    return columns;
  }
  const std::size_t words = plan_.width / 64;
  for (std::size_t i = 0; i < words; ++i) columns[i] = ~std::uint64_t{0};
  each_row(mixed, [&](std::uint64_t row) {
    for (std::size_t i = 0; i < words; ++i) columns[i] &= word(words * row + i);
  });
  return columns;
}

void RunMatrix::prefetch(std::uint64_t hash) const {
  const auto top = static_cast<std::uint32_t>(remix(hash) >> 32);
  __builtin_prefetch(gate_ + fast_range32(top, static_cast<std::uint32_t>(plan_.lines)) * kWordsOfLine);
}

void RunMatrix::prefetch_rows(std::uint64_t hash) const {
  const std::uint64_t mixed = remix(hash);
  if (!is_gate_open(mixed)) return;
  each_row(mixed, [&](std::uint64_t row) { __builtin_prefetch(words_ + row * plan_.width / 64); });
}

}  // namespace tamis
