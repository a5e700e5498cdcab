// Recovers the readable entries of a damaged table.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "entry/entry.h"
#include "entry/range_tombstones.h"
#include "io/file_system.h"
#include "table/table_facts.h"
#include "tamis/stats.h"
#include "tamis/status.h"

namespace tamis {

/// The table to read, and what is known about it.
struct TableToSalvage {
  std::string path = {};
  std::uint64_t number = 0;
  const TableFacts* facts = nullptr;  ///< From the manifest or its properties; null: unknown.
};

/// The result of a salvage.
struct Salvaged {
  std::vector<Problem> lost = {};  ///< Empty if all blocks exist and only the metadata that locates them is lost.
  std::uint64_t entries = 0;       ///< Passed to `take`.
  std::vector<RangeTombstone> range_deletes = {};
  std::uint64_t bytes_looked_at = 0;  ///< Counted each time they are read, skipped, decoded or hashed.
};

/// Calls `take` for every entry of every data block with a valid checksum, in the table's order. Without an index, it
/// searches for the blocks (BlockSearch). `progress` receives the bytes of each step, in total about the file's size;
/// false stops with kClosed. Fails if `take` fails, the file cannot be opened, or an error is not damage (is_damage).
Result<Salvaged> salvage_entries(FileSystem& files, const TableToSalvage& table,
                                 const std::function<Status(const Entry&)>& take,
                                 const std::function<bool(std::uint64_t bytes)>& progress = {});

}  // namespace tamis
