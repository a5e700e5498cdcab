// Builds and measures a memtable and a table of a hypothetical store.
#pragma once

#include <cstdint>

#include "tamis/status.h"

namespace tamis {

/// Entries of one size. Keys are spread evenly over the key space; values count as incompressible.
struct SampleSpec {
  std::uint64_t key_bytes = 16;
  std::uint64_t value_bytes = 100;
  std::uint64_t keys = 0;  ///< In the table's run; determines how close together they are.
  std::uint32_t block_bytes = 4096;
  std::uint64_t table_bytes = std::uint64_t{64} << 20;  ///< The maximum; a sample's table may be smaller.
  bool has_sequences = false;                           ///< True in all but a store's oldest run.
};

/// The sizes of such a table, without filters.
struct TableSample {
  double data_bytes_per_entry = 0;  ///< Blocks with their trailers.
  double blocks_per_entry = 0;
  double index_bytes_per_block = 0;   ///< In the file.
  double index_memory_per_block = 0;  ///< Once opened.
  std::uint64_t other_bytes = 0;      ///< Per table: header, properties, footer.
  std::uint64_t manifest_bytes = 0;   ///< Per table, in a freshly written manifest.
};

/// Builds a table in a memory file system. kInvalidArgument if keys are too short to be distinct.
Result<TableSample> sample_table(const SampleSpec& spec);

/// How many entries a memtable of this size holds; beyond 32 MiB, extrapolated.
std::uint64_t entries_of_memtable(const SampleSpec& spec, std::uint64_t memory_bytes);

}  // namespace tamis
