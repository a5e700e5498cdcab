// One query for many runs: Bloom filters of equal size, stored side by side, with one bit of each in every row,
// preceded by one filter of all their keys.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/aligned_bytes.h"
#include "base/hash.h"
#include "base/sync.h"
#include "table/metadata_budget.h"

namespace tamis {

/// The dimensions of a matrix, known before it is allocated.
struct RunMatrixPlan {
  static constexpr std::size_t kMinRuns = 4;  ///< Below, asking each filter is as good.
  static constexpr std::uint32_t kMaxRuns = 256;
  static constexpr std::uint64_t kBitsPerKey = 24;    ///< Over all runs in it; more is not used.
  static constexpr std::uint64_t kGateShare = 3;      ///< The gate gets one part in this many.
  static constexpr std::uint64_t kMinRowsPerKey = 6;  ///< Of a run in it: one in 17 absent keys passes.
  static constexpr std::uint32_t kMaxProbes = 4;      ///< Each is a line of memory.
  static constexpr std::uint32_t kMaxGateProbes = 8;
  static constexpr std::uint32_t kLineBits = 512;

  std::uint64_t rows = 0;   ///< 0: no matrix.
  std::uint64_t lines = 0;  ///< Of the gate.
  std::uint32_t width = 0;  ///< Columns: 8, 16, 32, or a multiple of 64.
  std::uint32_t probes = 0;
  std::uint32_t gate_probes = 0;
  std::size_t runs = 0;  ///< The number of runs planned for.

  [[nodiscard]] std::uint64_t gate_bytes() const { return lines * kLineBits / 8; }
  [[nodiscard]] std::uint64_t bytes() const { return gate_bytes() + rows * width / 8; }
  /// Whether a column can serve a run of this many keys.
  [[nodiscard]] bool takes(std::uint64_t keys) const { return keys <= rows / kMinRowsPerKey; }
};

/// The matrix for as many of these runs as fit this many bytes, smallest first: all columns are as long as the largest
/// run needs, so a run much larger than the others is better asked by itself.
RunMatrixPlan plan_run_matrix(std::vector<std::uint64_t> keys_of_runs, std::uint64_t room_bytes);

/// A set of columns.
using ColumnSet = std::array<std::uint64_t, RunMatrixPlan::kMaxRuns / 64>;

/// A key belongs to a few rows; a run that holds the key has its column's bit set in all of them. The AND of the rows
/// gives the runs that may hold it. Each row is a cache miss, so they are preceded by a gate: one Bloom filter, one
/// line per key, of all keys ever added to any column. It alone rules out most keys that are in no run. The hash is
/// remixed, so that the matrix's false positives are independent of the run's own filter.
///
/// Invariants:
///  1. A taken column has the bits of every hash added to it, and so has the gate.
///  2. Its bytes are charged to the budget during its lifetime.
///
/// Threads: any may query. Columns may be filled meanwhile, by one thread per column, but a column's bits mean nothing
/// until the thread that filled it has published it: bits are relaxed.
class RunMatrix {
 public:
  /// Null if the budget or memory is exhausted.
  static std::shared_ptr<RunMatrix> make(const RunMatrixPlan& plan, MetadataBudget& budget);
  ~RunMatrix();
  RunMatrix(const RunMatrix&) = delete;
  RunMatrix& operator=(const RunMatrix&) = delete;

  [[nodiscard]] const RunMatrixPlan& plan() const { return plan_; }
  /// An unused column, cleared; nullopt if all are taken.
  [[nodiscard]] std::optional<std::uint32_t> take_column();
  void give_back(std::uint32_t column);
  [[nodiscard]] std::uint32_t free_columns() const;

  void add(std::uint32_t column, std::uint64_t hash);
  /// The columns whose bits are set in all rows of the hash; none if the gate is closed. Ignore those that are not
  /// taken.
  [[nodiscard]] ColumnSet ask(std::uint64_t hash) const;
  /// Prefetches what `ask` needs first: the gate.
  void prefetch(std::uint64_t hash) const;
  /// The second step, once the first has arrived: the rows, if the gate is open.
  void prefetch_rows(std::uint64_t hash) const;
  /// Whether the gate has the bits of many more keys than these: of released columns. This only costs time.
  [[nodiscard]] bool has_stale_gate(std::uint64_t keys_in_columns) const;

 private:
  RunMatrix(const RunMatrixPlan& plan, AlignedBytes bits, MetadataBudget& budget);
  void empty(std::uint32_t column);
  void open_gate(std::uint64_t mixed);
  [[nodiscard]] bool is_gate_open(std::uint64_t mixed) const;
  template <typename Function>
  void each_row(std::uint64_t mixed, Function f) const;
  [[nodiscard]] std::uint64_t word(std::uint64_t number) const {
    return words_[number].load(std::memory_order_relaxed);
  }

  const RunMatrixPlan plan_;
  AlignedBytes bits_;
  std::atomic<std::uint64_t>* const gate_;   // In bits_.
  std::atomic<std::uint64_t>* const words_;  // Behind it: the rows.
  std::atomic<std::uint64_t> gate_bits_ = 0;
  MetadataBudget& budget_;
  mutable Mutex mutex_;
  ColumnSet taken_ GUARDED_BY(mutex_) = {};
};

}  // namespace tamis
