// A store without files: only which key is in which table. Simulates policies on millions of keys.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compaction/level_zero.h"
#include "compaction/policy.h"
#include "tamis/status.h"
#include "tree/shape.h"

namespace tamis {

/// One simulated write; keys are numbers, eight big-endian bytes in files.
struct SimulatedWrite {
  std::uint64_t key = 0;
  std::uint64_t version = 0;
  bool is_delete = false;

  friend bool operator==(const SimulatedWrite&, const SimulatedWrite&) = default;
};

/// The bytes of such a key.
std::string simulated_key(std::uint64_t key);

/// Applies flushes and compactions to table facts: newest first, one version per key; tombstones are dropped if nothing
/// older can hold their key. There are no snapshots. All entries have one size.
///
/// Invariants:
///  1. The shape passes check(); every executed plan passes check_plan.
///  2. `find` searches the shape like a lookup, so it is wrong if a plan mixes up ages.
///
/// Threads: one at a time.
class SimulatedStore {
 public:
  SimulatedStore(std::uint64_t entry_bytes, std::uint64_t table_bytes);

  /// Where tables of levels 0 and 1 end from now on, besides.
  void set_cuts(LevelZeroCuts cuts) { cuts_ = std::move(cuts); }
  [[nodiscard]] const LevelZeroCuts& cuts() const { return cuts_; }

  /// Adds a run to level 0. Any order; the later of two writes to a key wins.
  Status flush(std::vector<SimulatedWrite> writes, std::uint64_t now_unix_seconds);
  Status run(const CompactionPlan& plan);
  /// The two halves of `run`, between which other plans may be run.
  using Tables = std::vector<std::shared_ptr<const TableFacts>>;
  Result<Tables> write(const CompactionPlan& plan);
  Status install(const CompactionPlan& plan, const Tables& tables);

  /// Nothing for a key that was never written or is deleted.
  [[nodiscard]] std::optional<SimulatedWrite> find(std::uint64_t key) const;
  /// Everything in tables, unordered.
  [[nodiscard]] std::vector<SimulatedWrite> writes() const;
  /// The number of runs with a table whose bounds hold the key.
  [[nodiscard]] std::uint64_t runs_around(std::uint64_t key) const;

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::uint64_t next_number() const { return next_number_; }  ///< Of the next table.
  [[nodiscard]] std::uint64_t bytes_flushed() const { return bytes_flushed_; }
  [[nodiscard]] std::uint64_t bytes_written() const { return bytes_written_; }  ///< Including flushes.

 private:
  using Writes = std::vector<SimulatedWrite>;

  [[nodiscard]] Writes merge(const CompactionPlan& plan) const;
  Tables make_tables(const Writes& writes, std::uint32_t level, std::uint64_t created, std::uint64_t oldest_delete);

  const std::uint64_t entry_bytes_;
  const std::uint64_t table_bytes_;
  Shape shape_;
  LevelZeroCuts cuts_;
  std::unordered_map<std::uint64_t, Writes> contents_;  // By table number; sorted by key.
  std::uint64_t next_number_ = 1;
  std::uint64_t next_run_ = 1;
  std::uint64_t bytes_flushed_ = 0;
  std::uint64_t bytes_written_ = 0;
};

}  // namespace tamis
