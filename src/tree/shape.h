// Which tables make up a store, as plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "table/table_facts.h"
#include "tamis/status.h"

namespace tamis {

/// Tables in key order that do not overlap, searched as one.
struct Run {
  std::uint64_t id = 0;  ///< Larger is newer, within a level.
  std::vector<std::shared_ptr<const TableFacts>> tables;

  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t transients() const;  ///< As TableFacts::transients.
  [[nodiscard]] std::uint64_t keys() const;
};

/// A table's position in a Shape; valid during the Shape's lifetime.
struct TablePlace {
  std::uint32_t level = 0;
  const Run* run = nullptr;
  const std::shared_ptr<const TableFacts>* facts = nullptr;
};

/// One change of the tables; also what the manifest records.
struct ShapeEdit {
  struct Added {
    std::uint32_t level = 0;
    std::uint64_t run = 0;
    std::shared_ptr<const TableFacts> facts;
  };
  std::vector<std::uint64_t> removed = {};  ///< Table numbers. A moved table is removed and added.
  std::vector<Added> added = {};
  std::vector<std::uint64_t> values_removed = {};  ///< Numbers of value files.
  std::vector<ValueFileFacts> values_added = {};

  [[nodiscard]] bool empty() const {
    return removed.empty() && added.empty() && values_removed.empty() && values_added.empty();
  }
};

/// How much of a value file is in use.
struct ValueFileUse {
  ValueFileFacts facts = {};
  std::uint64_t live_bytes = 0;  ///< Stored, of all values that a table points to.
  std::uint64_t values = 0;

  /// What a rewrite would save, without the header.
  [[nodiscard]] std::uint64_t garbage_bytes() const;
};

/// Levels of runs: entries in a level above, or in a newer run of the same level, are newer.
///
/// Invariants (checked by `check` after every edit):
///  1. Within a level runs are newest first, with strictly descending ids.
///  2. Within a run tables are in key order and their bounds, range deletes included, do not overlap (rule 25). A run
///     has at least one table.
///  3. No table number occurs twice, and no number of a value file.
///  4. The value files that tables point into are here, and are at least as long as what tables point to (rule 41).
///
/// Threads: a value; shared as const.
struct Shape {
  static constexpr std::uint32_t kMaxLevels = 8;

  std::vector<std::vector<Run>> levels = {};  ///< By level; trailing empty levels are dropped.

  std::vector<ValueFileFacts> value_files = {};  ///< By ascending number.

  /// The shape after the edit; kCorruption if the edit does not fit or breaks an invariant.
  [[nodiscard]] Result<Shape> with(const ShapeEdit& edit) const;
  [[nodiscard]] Status check() const;

  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::size_t tables() const;
  [[nodiscard]] std::size_t runs() const;
  /// The deepest non-empty level; 0 for an empty shape.
  [[nodiscard]] std::uint32_t last_level() const;
  [[nodiscard]] const Run* find_run(std::uint32_t level, std::uint64_t id) const;
  /// Nullopt if no table has this number.
  [[nodiscard]] std::optional<TablePlace> find_table(std::uint64_t number) const;
  /// One per value file, in their order: what the facts of all tables say together.
  [[nodiscard]] std::vector<ValueFileUse> value_use() const;
  /// "L0: 7[a..k] 5[b..z]\nL1: 3[a..c],4[d..z]", for tests and messages: table numbers with their bounds, the tables of
  /// a run joined by commas, empty levels omitted.
  [[nodiscard]] std::string to_text() const;

 private:
  [[nodiscard]] Status check_values() const;
  [[nodiscard]] Status count_values(std::vector<ValueFileUse>& uses) const;
};

}  // namespace tamis
