// One question for many runs: Bloom filters of equal size, stored side by side, a bit of each in every row, and one of
// all their keys before them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_bytes.h"
#include "base/hash.h"
#include "base/sync.h"
#include "table/metadata_budget.h"

namespace tamis {

/// The shape of a matrix. Pure numbers, so that what it will take is known before it is made.
struct RunMatrixPlan {
  static constexpr std::size_t kFewestRuns = 4;  ///< Below, asking each filter is as good.
  static constexpr std::uint32_t kMostRuns = 256;
  static constexpr std::uint64_t kBitsPerKey = 24;       ///< Over all runs in it; more is not taken.
  static constexpr std::uint64_t kGateShare = 3;         ///< One part in so many is the gate's.
  static constexpr std::uint64_t kFewestRowsPerKey = 6;  ///< Of a run in it: one in 17 strangers passes.
  static constexpr std::uint32_t kMostProbes = 4;        ///< Each is a line of memory.
  static constexpr std::uint32_t kMostGateProbes = 8;
  static constexpr std::uint32_t kLineBits = 512;

  std::uint64_t rows = 0;   ///< 0: no matrix.
  std::uint64_t lines = 0;  ///< Of the gate.
  std::uint32_t width = 0;  ///< Columns: 8, 16, 32, or a multiple of 64.
  std::uint32_t probes = 0;
  std::uint32_t gate_probes = 0;
  std::size_t runs = 0;  ///< That it is planned for.

  [[nodiscard]] std::uint64_t gate_bytes() const { return lines * kLineBits / 8; }
  [[nodiscard]] std::uint64_t bytes() const { return gate_bytes() + rows * width / 8; }
  /// Whether a column can serve a run of this many keys.
  [[nodiscard]] bool takes(std::uint64_t keys) const { return keys <= rows / kFewestRowsPerKey; }
};

/// The matrix for as many of these runs as possible in so many bytes, the smallest first: all columns are as long as
/// the largest run needs, so one that is much larger than the others is better asked by itself.
RunMatrixPlan plan_run_matrix(std::vector<std::uint64_t> keys_of_runs, std::uint64_t room_bytes);

/// Which columns of a matrix.
using ColumnSet = std::array<std::uint64_t, RunMatrixPlan::kMostRuns / 64>;

/// A key belongs to a few rows; a run that holds the key has its column's bit set in all of them. The rows ANDed are
/// the runs that may hold it. Each row is a line of memory to wait for, so a gate stands before them: one Bloom filter,
/// a line for each key, of all keys that were ever added to any column. Most keys that no run has are told by it alone.
/// The hash is mixed anew, so that what the matrix lets through by mistake is not what the run's own filter lets
/// through.
///
/// Invariants:
///  1. A column that is taken has the bits of every hash that was added to it, and so has the gate.
///  2. Its bytes are charged to the budget as long as it lives.
///
/// Threads: any number may ask. Columns may be filled meanwhile, by one thread per column, but nothing may be concluded
/// from a column's bit before whoever filled it has published that it is full: bits are relaxed.
class RunMatrix {
 public:
  /// Null when the budget has no room, or there is no memory.
  static std::shared_ptr<RunMatrix> make(const RunMatrixPlan& plan, MetadataBudget& budget);
  ~RunMatrix();
  RunMatrix(const RunMatrix&) = delete;
  RunMatrix& operator=(const RunMatrix&) = delete;

  [[nodiscard]] const RunMatrixPlan& plan() const { return plan_; }
  /// A column that nobody uses, emptied; none when all are taken.
  [[nodiscard]] std::optional<std::uint32_t> take_column();
  void give_back(std::uint32_t column);
  [[nodiscard]] std::uint32_t free_columns() const;

  void add(std::uint32_t column, std::uint64_t hash);
  /// Columns whose bits are set in all rows of the hash, none when the gate is closed; those that are not taken say
  /// nothing.
  [[nodiscard]] ColumnSet ask(std::uint64_t hash) const;
  /// Starts loading what `ask` will need first: the gate.
  void prefetch(std::uint64_t hash) const;
  /// The second step, once the first has arrived: the rows, where the gate is open.
  void prefetch_rows(std::uint64_t hash) const;
  /// Whether the gate has the bits of many more keys than these: of columns that were given back. It costs time only.
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
