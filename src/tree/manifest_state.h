// The contents of a manifest, as plain data.
#pragma once

#include <cstdint>
#include <optional>

#include "table/table_format.h"
#include "tree/shape.h"

namespace tamis {

/// Everything the manifest records.
struct ManifestState {
  TableIdentity identity;  ///< Drawn when the store was created.
  Shape shape;
  std::uint64_t flushed_sequence = 0;  ///< All writes up to here are in tables.
  std::uint64_t first_journal = 0;     ///< Journals with smaller numbers are not needed.
  /// Numbers below this may have been given to a file; a table below it that is not in the shape is redundant.
  std::uint64_t reserved_numbers = 0;
};

/// One durable step. The three numbers never decrease.
struct ManifestEdit {
  ShapeEdit shape = {};
  std::optional<std::uint64_t> flushed_sequence = {};
  std::optional<std::uint64_t> first_journal = {};
  std::optional<std::uint64_t> reserved_numbers = {};
};

/// The state after the edit; kCorruption if the edit does not fit it.
Result<ManifestState> with_edit(const ManifestState& state, const ManifestEdit& edit);
/// The edit that turns an empty state of the same identity into this one.
ManifestEdit whole_edit(const ManifestState& state);

/// The end of a journal that was closed cleanly, kept in CURRENT so that a truncated file cannot pass for a shorter
/// one. Valid while that journal exists.
struct KnownJournalEnd {
  std::uint64_t number = 0;  ///< 0: unknown.
  std::uint64_t salt = 0;
  std::uint64_t durable_bytes = 0;

  friend bool operator==(const KnownJournalEnd&, const KnownJournalEnd&) = default;
};

}  // namespace tamis
