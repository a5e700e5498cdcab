// The range deletes of a version's tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "entry/range_deletes.h"
#include "table/table.h"

namespace tamis {

/// All range deletes of some tables. They are read when a version is made, so that lookups need not read them from
/// disk.
///
/// Invariants: those that could not be read are an error for each key that they may cover, never none (rule 26). Every
/// reader then tries to read them again, so a read that failed leaves no version unreadable (P6).
///
/// Threads: any.
class TableRangeDeletes final : public RangeDeletes {
 public:
  /// Null if no table has any; `before` if it is of the same tables.
  static std::shared_ptr<const TableRangeDeletes> of(std::span<const std::shared_ptr<Table>> tables,
                                                     const std::shared_ptr<const TableRangeDeletes>& before);
  explicit TableRangeDeletes(std::span<const std::shared_ptr<Table>> tables);

  [[nodiscard]] Result<const RangeTombstone*> newest_covering(std::string_view key, Sequence moment,
                                                              KeyStretch* same = nullptr) const override;
  /// Of those that could be read at once.
  [[nodiscard]] Sequence newest(Sequence moment) const override { return set_->newest(moment); }
  /// Whether some that may cover the key are not in memory.
  [[nodiscard]] bool lacks(std::string_view key) const;
  /// Tries to read those that are not in memory. Not inside an EpochGuard (rule 10).
  void read_again() const;
  /// Those that could be read at once.
  [[nodiscard]] const RangeTombstones& known() const { return *set_; }
  [[nodiscard]] std::size_t size() const { return set_->all().size(); }
  [[nodiscard]] std::size_t memory_bytes() const { return set_->memory_bytes(); }

 private:
  struct Unread {
    std::shared_ptr<Table> table;
    Status why;
  };

  std::vector<std::uint64_t> numbers_;  // Of the tables with range deletes.
  std::unique_ptr<const RangeTombstones> set_;
  std::vector<Unread> unread_;  // When this was made. Their tables keep what is read later.
};

}  // namespace tamis
