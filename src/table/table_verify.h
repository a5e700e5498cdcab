// Finds everything that can be wrong with a table's file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_system.h"
#include "table/table_format.h"
#include "tamis/status.h"

namespace tamis {

/// A problem and its position in the file.
struct TableProblem {
  std::uint64_t offset = 0;
  std::string what;

  friend bool operator==(const TableProblem&, const TableProblem&) = default;
};

/// Reads every byte and checks checksums, the order and bounds of keys, counts against facts, separators against keys,
/// tags and filters against hashes (no false negatives). Returns the bytes read and adds problems to `problems`; a
/// damaged block does not stop it from checking the others. `progress` gets the bytes of each step; false stops with
/// kClosed. Other errors are not the file's.
Result<std::uint64_t> verify_table(const ReadableFile& file, const TableProperties& properties, std::string_view name,
                                   std::vector<TableProblem>& problems,
                                   const std::function<bool(std::uint64_t bytes)>& progress);

}  // namespace tamis
