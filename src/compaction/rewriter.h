// From entries to tables: what flushes and compactions share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "compaction/filter_planner.h"
#include "compaction/policy.h"
#include "entry/entry_iterator.h"
#include "io/file_system.h"
#include "table/table_builder.h"
#include "tamis/status.h"
#include "tree/shape.h"

namespace tamis {

/// How the entries are to be written, and which of them may be left out.
struct RewriteSpec {
  FileSystem* files = nullptr;
  std::string directory = {};
  TableIdentity identity = {};
  const KeyHasher* hasher = nullptr;
  std::uint32_t block_bytes = 4096;
  std::uint64_t table_bytes = 0;
  /// Tables are cut so that building a filter takes no more than about this.
  std::uint64_t filter_build_bytes = ~std::uint64_t{0};
  const Codec* codec = nullptr;
  PrefixRule prefix_rule = {};
  std::uint32_t output_level = 0;
  std::uint64_t output_run = 0;
  std::vector<std::uint64_t> replaces = {};
  std::uint64_t flushed_sequence = 0;
  std::uint64_t now_unix_seconds = 0;
  std::uint64_t oldest_delete_unix_seconds = 0;
  const FilterPlanner* filters = nullptr;
  /// Ascending; the last one is the sequence that was published when they were copied (rule 9).
  std::vector<Sequence> snapshots = {};
  /// Runs older than all inputs, in the same or deeper levels: a delete covers nothing more when none of them can hold
  /// its key. Empty: nothing is older, and what all readers see is written with sequence 0.
  std::vector<const Run*> older_runs = {};
  /// Tables are also cut so that none overlaps more than ten tables of this run, the next level's; null: no such run.
  const Run* next_level = nullptr;
  /// A number that no file has had.
  std::function<Result<std::uint64_t>()> new_number = {};
  /// Asked now and then; true: stop with kClosed.
  std::function<bool()> is_cancelled = {};
};

/// What was written. Every file is synced; names are not: the caller syncs the folder.
struct RewriteResult {
  std::vector<std::shared_ptr<const TableFacts>> tables;  ///< In key order; none when everything was dropped.
  std::uint64_t entries_read = 0;
  std::uint64_t entries_dropped = 0;
  std::uint64_t bytes_written = 0;
};

/// Reads `source` from its first entry to its last and writes what readers can still see. After an error, files that
/// were begun have been removed as far as that was possible.
Result<RewriteResult> rewrite(EntryIterator& source, const RewriteSpec& spec);

}  // namespace tamis
