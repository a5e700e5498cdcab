// Which runs of a version may hold a key, from one matrix lookup instead of one filter per run.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "tree/run_matrix.h"
#include "tree/shape.h"

namespace tamis {

class EntryIterator;

/// A column of a matrix with every key of some tables. It is released with its last owner.
///
/// Threads: constant once filled.
class RunColumn {
 public:
  static constexpr std::uint64_t kEntriesPerQuestion = 1024;  // Well below a millisecond.

  /// Reads all keys of `entries`, including deletes, into a free column. Null if the iteration fails, if `is_cancelled`
  /// returns true, or if no column is free. It is called before every kEntriesPerQuestion entries.
  static std::shared_ptr<const RunColumn> fill(std::shared_ptr<RunMatrix> matrix, std::vector<std::uint64_t> tables,
                                               EntryIterator& entries, const KeyHasher& hasher,
                                               const std::function<bool()>& is_cancelled);
  ~RunColumn() { matrix_->give_back(column_); }
  RunColumn(const RunColumn&) = delete;
  RunColumn& operator=(const RunColumn&) = delete;

  [[nodiscard]] const std::shared_ptr<RunMatrix>& matrix() const { return matrix_; }
  [[nodiscard]] std::uint32_t column() const { return column_; }
  [[nodiscard]] const std::vector<std::uint64_t>& tables() const { return tables_; }
  /// Whether it has every key of the run. A run that lost tables since is still covered, one that gained any is not.
  [[nodiscard]] bool covers(const Run& run) const;

 private:
  RunColumn(std::shared_ptr<RunMatrix> matrix, std::uint32_t column, std::vector<std::uint64_t> tables);

  std::shared_ptr<RunMatrix> matrix_;
  std::uint32_t column_;
  std::vector<std::uint64_t> tables_;  // Ascending.
};

using RunColumns = std::vector<std::shared_ptr<const RunColumn>>;

/// Positions of runs in a version, newest first. Runs at kPlaces and beyond are always included.
class RunSet {
 public:
  static constexpr std::uint32_t kPlaces = 256;

  static RunSet all() {
    RunSet set;
    set.words_.fill(~std::uint64_t{0});
    return set;
  }
  void add(std::uint32_t run) { words_[run / 64] |= std::uint64_t{1} << (run % 64); }
  void remove(std::uint32_t run) { words_[run / 64] &= ~(std::uint64_t{1} << (run % 64)); }
  [[nodiscard]] bool contains(std::uint32_t run) const {
    return run >= kPlaces || (words_[run / 64] >> (run % 64) & 1) != 0;
  }
  /// The first at or after `run`.
  [[nodiscard]] std::uint32_t next(std::uint32_t run) const {
    while (run < kPlaces) {
      const std::uint64_t rest = words_[run / 64] >> (run % 64);
      if (rest != 0) return run + static_cast<std::uint32_t>(std::countr_zero(rest));
      run = (run / 64 + 1) * 64;
    }
    return run;
  }

 private:
  std::array<std::uint64_t, kPlaces / 64> words_ = {};
};

/// The runs of one shape and their columns. Rules out a run only if its column proves that the key is absent: a run
/// without a column is always possible.
///
/// Threads: constant.
class RunIndex {
 public:
  RunIndex() = default;
  /// Takes the columns that cover a run of the shape; all are of the same matrix.
  RunIndex(const Shape& shape, const RunColumns& columns);

  [[nodiscard]] bool empty() const { return matrix_ == nullptr; }
  /// The runs that may hold a key of this hash, which must come from the hasher used to fill the columns.
  [[nodiscard]] RunSet possible(std::uint64_t hash) const {
    return matrix_ == nullptr ? RunSet::all() : possible_by_matrix(hash);
  }
  void prefetch(std::uint64_t hash) const {
    if (matrix_ != nullptr) matrix_->prefetch(hash);
  }
  /// The second step, once the first has arrived.
  void prefetch_rows(std::uint64_t hash) const {
    if (matrix_ != nullptr) matrix_->prefetch_rows(hash);
  }
  [[nodiscard]] const RunColumns& columns() const { return columns_; }
  /// The columns' matrix; null without any.
  [[nodiscard]] const RunMatrix* matrix() const { return matrix_; }
  /// Whether the run at this position has a column.
  [[nodiscard]] bool has_column(std::uint32_t run) const { return !without_column_.contains(run); }

 private:
  [[nodiscard]] RunSet possible_by_matrix(std::uint64_t hash) const;

  RunColumns columns_;
  const RunMatrix* matrix_ = nullptr;  // Kept alive by the columns.
  ColumnSet in_use_ = {};
  std::array<std::uint8_t, RunMatrixPlan::kMaxRuns> run_of_column_ = {};
  RunSet without_column_ = RunSet::all();
};

}  // namespace tamis
