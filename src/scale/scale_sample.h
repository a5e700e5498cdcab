// A little of a store that does not exist: a memtable and a table of its entries, really made, and looked at.
#pragma once

#include <cstdint>

#include "tamis/status.h"

namespace tamis {

/// Entries of one size; keys are spread evenly over all there could be, values cannot be compressed.
struct SampleSpec {
  std::uint64_t key_bytes = 16;
  std::uint64_t value_bytes = 100;
  std::uint64_t keys = 0;  ///< Of the run that the table would be part of: how close together they are.
  std::uint32_t block_bytes = 4096;
  std::uint64_t table_bytes = std::uint64_t{64} << 20;  ///< The table of a sample is smaller, or as large.
  bool has_sequences = false;                           ///< As everywhere but in the oldest run of a store.
};

/// What such a table has for each entry or block; without filters.
struct TableSample {
  double data_bytes_per_entry = 0;  ///< Blocks with their trailers.
  double blocks_per_entry = 0;
  double index_bytes_per_block = 0;   ///< In the file.
  double index_memory_per_block = 0;  ///< As it is opened.
  std::uint64_t other_bytes = 0;      ///< Of each table: header, properties, footer.
  std::uint64_t manifest_bytes = 0;   ///< Of each table, in a manifest that was just written.
};

/// Builds a table on a disk in memory. kInvalidArgument for keys too short to be told apart.
Result<TableSample> sample_table(const SampleSpec& spec);

/// How many entries a memtable takes before it has this much memory; beyond 32 MiB in proportion.
std::uint64_t entries_of_memtable(const SampleSpec& spec, std::uint64_t memory_bytes);

}  // namespace tamis
