// A store without files: only which key is in which table. What a policy does can be looked at by the million.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compaction/policy.h"
#include "tamis/status.h"
#include "tree/shape.h"

namespace tamis {

/// One write as the simulation sees it; keys are numbers, in files they would be eight bytes, the first the highest.
struct SimulatedWrite {
  std::uint64_t key = 0;
  std::uint64_t version = 0;
  bool is_delete = false;

  friend bool operator==(const SimulatedWrite&, const SimulatedWrite&) = default;
};

/// The bytes of such a key.
std::string simulated_key(std::uint64_t key);

/// Does to facts what flushes and compactions do to tables: newest first, one version of each key, deletes dropped
/// when nothing older can hold their key. There are no snapshots. All entries are of one size.
///
/// Invariants:
///  1. The shape passes check(); every plan that is run passes check_plan.
///  2. `find` walks the shape as a lookup does, so it is wrong if a plan mixes up ages.
///
/// Threads: one at a time.
class SimulatedStore {
 public:
  SimulatedStore(std::uint64_t entry_bytes, std::uint64_t table_bytes);

  /// A new run of level 0. Any order; of a key written twice the later write counts.
  Status flush(std::vector<SimulatedWrite> writes, std::uint64_t now_unix_seconds);
  Status run(const CompactionPlan& plan);

  /// Nothing for a key that was never written or is deleted.
  [[nodiscard]] std::optional<SimulatedWrite> find(std::uint64_t key) const;
  /// All that is in tables, in no order.
  [[nodiscard]] std::vector<SimulatedWrite> writes() const;
  /// How many runs have a table in whose bounds the key lies.
  [[nodiscard]] std::uint64_t runs_around(std::uint64_t key) const;

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::uint64_t next_number() const { return next_number_; }  ///< Of the next table.
  [[nodiscard]] std::uint64_t bytes_flushed() const { return bytes_flushed_; }
  [[nodiscard]] std::uint64_t bytes_written() const { return bytes_written_; }  ///< Flushes included.

 private:
  using Writes = std::vector<SimulatedWrite>;

  [[nodiscard]] Writes merge(const CompactionPlan& plan) const;
  std::vector<std::shared_ptr<const TableFacts>> make_tables(const Writes& writes, std::uint64_t created,
                                                             std::uint64_t oldest_delete);
  Status replace(const CompactionPlan& plan, const std::vector<std::shared_ptr<const TableFacts>>& tables);

  const std::uint64_t entry_bytes_;
  const std::uint64_t table_bytes_;
  Shape shape_;
  std::unordered_map<std::uint64_t, Writes> contents_;  // By number of the table; sorted by key.
  std::uint64_t next_number_ = 1;
  std::uint64_t next_run_ = 1;
  std::uint64_t bytes_flushed_ = 0;
  std::uint64_t bytes_written_ = 0;
};

}  // namespace tamis
