// What is known about a table without opening it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/features.h"
#include "entry/entry.h"
#include "entry/key_end.h"
#include "entry/key_range.h"
#include "filter/sliced_sizes.h"
#include "table/index_layout_format.h"
#include "table/value_files.h"

namespace tamis {

/// As which a table was written: its header, its properties and the seeds of its checksums have these.
struct TableOrigin {
  std::array<std::byte, 16> store_id = {};
  std::uint64_t number = 0;

  friend bool operator==(const TableOrigin&, const TableOrigin&) = default;
};

/// Everything that policies, the filter plan and the read path need to know about a table before they open its file.
/// Stored in the table's properties and, for live tables, in the manifest.
///
/// Threads: a value; shared as const once the table is built.
struct TableFacts {
  std::uint64_t number = 0;  ///< Names the file; never reused in a store.
  std::uint64_t file_bytes = 0;
  std::uint64_t entries = 0;  ///< All versions, including deletes. A table with range deletes may have none.
  std::uint64_t deletes = 0;
  std::uint64_t keys = 0;       ///< Distinct.
  std::uint64_t key_bytes = 0;  ///< Sums over all entries, before prefixes are stripped and blocks compressed.
  std::uint64_t value_bytes = 0;
  std::uint64_t blocks = 0;
  std::string smallest_key;         ///< Of the entries, as the next one. Both are empty without entries.
  std::string largest_key;          ///< Inclusive.
  Sequence smallest_sequence = {};  ///< Of entries and range deletes, as the next one.
  Sequence largest_sequence = {};
  std::uint64_t index_bytes = 0;                  ///< Of the section in the file.
  std::uint64_t filter_bytes = 0;                 ///< Of the section; 0: no filter.
  std::uint8_t filter_kind = 0;                   ///< FilterKindInfo::id; 0: none.
  double filter_rate = 1;                         ///< Designed.
  std::optional<SlicedSizes> filter_slices = {};  ///< Of a filter whose columns are loaded as memory allows.
  std::uint64_t prefix_filter_bytes = 0;
  std::uint64_t range_filter_bytes = 0;
  std::uint64_t created_unix_seconds = 0;
  std::uint64_t oldest_delete_unix_seconds = 0;  ///< When the oldest delete was first written to a table; 0: none here.

  std::uint64_t expiring = 0;  ///< Entries that expire, of all; the next two are 0 if there are none.
  std::uint64_t earliest_due = 0;
  std::uint64_t latest_due = 0;

  std::uint64_t operands = 0;  ///< Merge operands, of all entries.

  std::optional<TableOrigin> origin = {};  ///< Only in a manifest, for a table that another store wrote.
  Features features = {};                  ///< What its entries need; also in its header.
  std::uint64_t range_deletes = 0;         ///< Fragments.
  KeyRange range_extent = {};              ///< From the first to the last key that they cover.

  /// By ascending file: the value files that its entries point into (rule 41). Empty: every value is in the table.
  std::vector<ValuesOfTable> values_apart = {};

  /// The first bytes of its filter that can be verified by themselves: the first slice, or all.
  [[nodiscard]] std::uint64_t first_filter_bytes() const {
    return filter_slices ? filter_slices->first_bytes : filter_bytes;
  }
  /// What the first columns of its filter are worth. A filter without slices is one column.
  [[nodiscard]] std::uint64_t filter_columns() const {
    if (filter_slices) return filter_slices->columns;
    return filter_bytes == 0 ? 0 : 1;
  }
  [[nodiscard]] std::uint64_t filter_bytes_with(std::uint64_t columns) const {
    if (columns == 0) return 0;
    return filter_slices ? filter_slices->bytes_with(columns) : filter_bytes;
  }
  [[nodiscard]] double filter_rate_with(std::uint64_t columns) const {
    if (columns == 0) return 1;
    return filter_slices ? filter_slices->rate_with(columns) : filter_rate;
  }
  /// Of the filters that scans ask.
  [[nodiscard]] std::uint64_t scan_filter_bytes() const { return prefix_filter_bytes + range_filter_bytes; }
  /// The number in the file's header and in the seeds of its checksums.
  [[nodiscard]] std::uint64_t written_number() const { return origin ? origin->number : number; }
  /// Whether these, from a manifest, speak of the table whose properties have `written`.
  [[nodiscard]] bool are_of(const TableFacts& written) const {
    if (!origin) return written == *this;
    TableFacts expected = *this;
    expected.number = origin->number;
    expected.origin.reset();
    return written == expected;
  }
  /// Counts an entry that expires.
  void add_expiring(std::uint64_t due) {
    earliest_due = expiring == 0 ? due : std::min(earliest_due, due);
    latest_due = std::max(latest_due, due);
    ++expiring;
  }
  /// About how many entries are due by then: exact if that is before the first or after the last, otherwise as if they
  /// were spread evenly between the two.
  [[nodiscard]] std::uint64_t expired_by(std::uint64_t time) const {
    if (expiring == 0 || time < earliest_due) return 0;
    if (time >= latest_due) return expiring;
    const double share = static_cast<double>(time - earliest_due) / static_cast<double>(latest_due - earliest_due);
    return static_cast<std::uint64_t>(share * static_cast<double>(expiring));
  }
  /// The block cache may hold blocks of this table with smaller numbers: its own, and the top and parts of its index.
  [[nodiscard]] std::uint64_t cached_blocks() const {
    return blocks + 1 + (blocks + kIndexGroupBlocks - 1) / kIndexGroupBlocks;
  }
  /// The bounds of all that it holds, range deletes included (rule 25).
  [[nodiscard]] std::string_view begin() const {
    if (range_deletes == 0) [[likely]]
      return smallest_key;
    return entries == 0 || range_extent.from < smallest_key ? range_extent.from : smallest_key;
  }
  [[nodiscard]] KeyEnd end() const {
    const KeyEnd of_entries = KeyEnd::with(largest_key);
    if (range_deletes == 0) [[likely]]
      return of_entries;
    const KeyEnd of_ranges = range_extent.to ? KeyEnd::before(*range_extent.to) : KeyEnd::nowhere();
    return entries == 0 || of_entries < of_ranges ? of_ranges : of_entries;
  }
  [[nodiscard]] bool overlaps(std::string_view from, const KeyEnd& to) const {
    return !to.is_before(begin()) && !end().is_before(from);
  }
  [[nodiscard]] bool overlaps(const KeyRange& range) const {
    return overlaps(range.from, range.to ? KeyEnd::before(*range.to) : KeyEnd::nowhere());
  }
  [[nodiscard]] bool has_range_deletes_alone() const { return entries == 0 && range_deletes > 0; }
  [[nodiscard]] std::uint64_t tombstones() const { return deletes + range_deletes; }
  /// What a rewrite drops or folds where nothing is older.
  [[nodiscard]] std::uint64_t transients() const { return tombstones() + operands; }
  [[nodiscard]] double filter_bits_per_key() const {
    return keys == 0 ? 0 : 8.0 * static_cast<double>(filter_bytes) / static_cast<double>(keys);
  }

  friend bool operator==(const TableFacts&, const TableFacts&) = default;
};

}  // namespace tamis
