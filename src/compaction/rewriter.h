// From entries to tables, for flushes and compactions.
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
#include "entry/key_range.h"
#include "entry/range_tombstones.h"
#include "io/file_system.h"
#include "table/table_builder.h"
#include "table/value_file_format.h"
#include "table/value_files.h"
#include "tamis/merge.h"
#include "tamis/status.h"
#include "tree/shape.h"

namespace tamis {

/// Whose entries they are.
struct RewrittenKeyspace {
  KeyspaceId id = kDefaultKeyspace;
  std::string name = {};
  /// Folds merge operands; null, or without a function: they stay as they are (rule 32).
  const MergeOperator* merge_operator = nullptr;
};

/// Which values go to value files (rule 41).
struct ValueRules {
  std::uint64_t bytes_apart = 0;                 ///< Of puts: values of at least this size; 0: none.
  std::uint64_t file_bytes = ~std::uint64_t{0};  ///< Size at which a value file is finished.
  /// Value files whose values are copied to new ones, ascending.
  std::vector<std::uint64_t> collected = {};
  /// Reads a value to be copied.
  std::function<Status(const ValuePointer& pointer, std::string_view key, std::string& to)> read = {};
};

/// Where tables end before they have their size.
struct CutRules {
  /// Building a filter takes about this much at most.
  std::uint64_t filter_build_bytes = ~std::uint64_t{0};
  /// None overlaps more than ten tables of this run, the next level's; null: there is no such run.
  const Run* next_level = nullptr;
  /// A table ends before each of these, which ascend.
  std::vector<std::string> keys = {};
};

/// What the output replaces; repair must know it without a manifest.
struct ReplacedTables {
  /// The tables that are rewritten: each output lists those that overlap it, and the gap before it. The first one of a
  /// part lists all: another part may have no output.
  std::vector<std::shared_ptr<const TableFacts>> inputs = {};
  std::vector<std::uint64_t> others = {};  ///< Every output lists them.
  /// A number that all parts of a divided rewrite share and no file has; 0: the rewrite is not divided.
  std::uint64_t rewrite = 0;
};

/// What a rewrite calls meanwhile.
struct RewriteCalls {
  BlockListener wrote_block = {};
  /// Polled occasionally with the bytes written so far; true: stop with kClosed.
  std::function<bool(std::uint64_t bytes_written)> is_cancelled = {};
};

/// Filters of new tables that scans ask.
struct ScanFilters {
  PrefixRule prefix_rule = {};
  std::uint32_t range_filter_bits = 0;
};

/// How to write the entries, and which may be dropped.
struct RewriteSpec {
  FileSystem* files = nullptr;
  std::string directory = {};
  TableIdentity identity = {};
  RewrittenKeyspace keyspace = {};
  Features features = {};  ///< What the entries may need.
  const KeyHasher* hasher = nullptr;
  std::uint32_t block_bytes = 4096;
  std::uint64_t table_bytes = 0;
  const Codec* codec = nullptr;
  ScanFilters scan_filters = {};
  std::uint32_t output_level = 0;
  std::uint64_t output_run = 0;
  KeyRange part = {};  ///< Entries outside are left alone.
  ReplacedTables replaced = {};
  std::uint64_t flushed_sequence = 0;
  std::uint64_t now_unix_seconds = 0;
  std::uint64_t oldest_delete_unix_seconds = 0;
  const FilterPlanner* filters = nullptr;
  /// Ascending; the last one is the sequence published when they were copied (rule 9).
  std::vector<Sequence> snapshots = {};
  /// For each of them: an entry that it is the first to see has expired if it is due by then. Empty: none has.
  std::vector<std::uint64_t> expired_by = {};
  /// All range deletes of the inputs, in any order. Each lies inside the bounds of its input.
  std::vector<RangeTombstone> range_deletes = {};
  /// Larger sequences do not become 0.
  Sequence zeroed_up_to = kMaxSequence;
  /// Runs older than all inputs, in the same or deeper levels: a tombstone is droppable if none of them can hold its
  /// key, a range delete if none overlaps its range. Empty: nothing is older, and entries that all readers see are
  /// written with sequence 0.
  std::vector<const Run*> older_runs = {};
  CutRules cuts = {};
  /// Returns a number that no file has had.
  std::function<Result<std::uint64_t>()> new_number = {};
  ValueRules values = {};
  RewriteCalls calls = {};
};

/// The output. Every file is synced, but not its name: the caller syncs the folder.
struct RewriteResult {
  std::vector<std::shared_ptr<const TableFacts>> tables;  ///< In key order; none if everything was dropped.
  std::vector<ValueFileFacts> values;  ///< Those that the tables point into and that were written here.
  std::uint64_t entries_read = 0;
  std::uint64_t entries_dropped = 0;
  std::uint64_t bytes_written = 0;

  /// Adds the output of the next part.
  void add(const RewriteResult& part);
};

/// Reads the part of `source` and writes what readers can still see, range deletes cut at the ends of tables. A value
/// to be copied that is damaged stays where it is: the entry keeps its pointer. After an error, files begun here have
/// been removed if possible.
Result<RewriteResult> rewrite(EntryIterator& source, const RewriteSpec& spec);

}  // namespace tamis
