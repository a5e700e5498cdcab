// Getting out of a damaged table what can still be read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "entry/entry.h"
#include "io/file_system.h"
#include "table/table_facts.h"
#include "tamis/stats.h"
#include "tamis/status.h"

namespace tamis {

/// Which table, and what is known of it.
struct TableToSalvage {
  std::string path = {};
  std::uint64_t number = 0;
  const TableFacts* facts = nullptr;  ///< From the manifest or its properties; null: nobody knows.
};

/// What a salvage came to.
struct Salvaged {
  std::vector<Problem> lost = {};     ///< Nothing, when all blocks are there and only what serves to find them is not.
  std::uint64_t entries = 0;          ///< That were taken.
  std::uint64_t bytes_looked_at = 0;  ///< Read, passed, decoded and hashed, each time it happened.
};

/// Calls `take` for every entry of every data block whose checksum holds, in the table's order. With an index, block by
/// block; without one they are looked for (BlockSearch). `progress` is told the bytes of each step, in all about those
/// of the file; false stops with kClosed. Fails where `take` fails, the file cannot be opened, or what is wrong is no
/// damage (is_damage).
Result<Salvaged> salvage_entries(FileSystem& files, const TableToSalvage& table,
                                 const std::function<Status(const Entry&)>& take,
                                 const std::function<bool(std::uint64_t bytes)>& progress = {});

}  // namespace tamis
