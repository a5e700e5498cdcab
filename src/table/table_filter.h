// A table's filter in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/aligned_bytes.h"
#include "filter/held_slices.h"
#include "io/file_system.h"
#include "table/metadata_budget.h"
#include "table/table_format.h"
#include "tamis/filter.h"
#include "tamis/status.h"

namespace tamis {

/// A filter, or the first columns of one in slices. A filter without slices counts as one column.
///
/// Invariants:
///  1. It answers from verified bytes.
///  2. Its bytes stay charged until it is destroyed.
///
/// Threads: constant.
class TableFilter {
 public:
  /// A filter that was read, or the columns before the first damaged slice.
  struct Reading {
    std::shared_ptr<const TableFilter> filter;  // Null: there is none.
    Status problem;                             // Why it has fewer columns than asked for; names file and offset.
    std::uint64_t bytes_read = 0;
  };
  /// Reads the first `columns` from the file, except the whole slices that `before` has, which may be null.
  static Reading read(const ReadableFile& file, const TableProperties& properties, std::uint64_t columns, Charge charge,
                      const TableFilter* before, std::string_view name);
  /// The first columns of this one, fewer than it has. Null without memory for them.
  [[nodiscard]] std::shared_ptr<const TableFilter> with_fewer(std::uint64_t columns, Charge charge) const;

  [[nodiscard]] bool may_contain(std::uint64_t hash) const { return probe_.may_contain(hash); }
  void prefetch(std::uint64_t hash) const { probe_.prefetch(hash); }
  [[nodiscard]] std::uint64_t columns() const { return slices_ ? slices_->columns() : 1; }

 private:
  explicit TableFilter(Charge charge) : charge_(std::move(charge)) {}
  Status read_whole(const ReadableFile& file, const TableProperties& properties, std::string_view name,
                    Reading& reading);
  Status read_slices(const ReadableFile& file, const TableProperties& properties, std::uint64_t columns,
                     const TableFilter* before, std::string_view name, Reading& reading);
  [[nodiscard]] bool hold_copy(const HeldSlices& of, std::uint64_t columns);

  FilterProbe probe_;
  Charge charge_;
  std::optional<Filter> whole_;       // One of these two.
  std::optional<HeldSlices> slices_;  // In bytes_.
  AlignedBytes bytes_;
};

}  // namespace tamis
