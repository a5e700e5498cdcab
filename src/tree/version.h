// The tables of one moment, ready for lookups.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/sharded_counter.h"
#include "cache/block_cache.h"
#include "entry/entry.h"
#include "entry/entry_iterator.h"
#include "entry/key_range.h"
#include "entry/uncovered_iterator.h"
#include "table/table.h"
#include "table/value_file.h"
#include "tamis/status.h"
#include "tree/run_index.h"
#include "tree/shape.h"
#include "tree/table_range_deletes.h"

namespace tamis {

struct BlocksOpened;  // table/table_iterator.h.

/// A lookup that memory could not answer, continued at the run that it has reached. The staged lookup gets the answer.
///
/// Threads: one.
struct DiskLookup {
  explicit DiskLookup(StagedLookup& lookup) : staged(&lookup) { lookup.answer = LookupAnswer::kUnknown; }
  void fail(Status why) {
    status = std::move(why);
    is_over = true;
  }

  StagedLookup* staged;
  Status status;       // Why there is no answer.
  PinnedBlock pin;     // The block with the value, or the one that the search needs.
  RunSet possible;     // This and the fields below belong to Version::find.
  TableSearch search;  // Without a table: between two runs.
  bool is_over = false;
  std::size_t waits_for = 0;  // The block's number in the batch.
};

/// A shape with its tables and value files. Immutable: a change makes a new one, which shares those that stay.
///
/// Threads: any number.
class Version {
 public:
  /// Takes the tables and value files that are in both and the columns of the run index from `before` (may be null);
  /// makes the others.
  Version(Shape shape, const Version* before, const TableContext& context);
  /// The same with these columns, all of one matrix and filled with the hash that lookups use.
  Version(Shape shape, const Version* before, const TableContext& context, const RunColumns& columns);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const RunIndex& run_index() const { return run_index_; }
  /// Null if no table has any. No filter, bound or run index is asked before them (rule 26).
  [[nodiscard]] const std::shared_ptr<const TableRangeDeletes>& range_deletes() const { return range_deletes_; }

  // Lookups: version_lookup.cc. They probe every run that may hold the key by its bounds and by the run index, newest
  // first, until one has it. Steps is NoSteps or RecordedSteps.

  /// In memory only, and only inside an EpochGuard, which keeps the value valid. A lookup that becomes kUnknown
  /// continues with `find`. Prefetches the filter lines of all runs before it tests the first.
  template <typename Steps>
  void peek(StagedLookup& staged, Steps& steps) const;
  /// The same for up to kLookupsAtOnce lookups together: those whose answer is still kAbsent.
  void peek_many(std::span<StagedLookup> lookups) const;
  /// Answers lookups from the run that they have reached, from disk if necessary. Their blocks are read together.
  template <typename Steps>
  void find(std::span<DiskLookup> lookups, bool fills_cache, Steps& steps) const;

  /// Appends iterators over all runs that may hold a key of the range, newest first: one per run, or per several that
  /// continue each other. It omits a run if bounds or prefix filters prove that it holds none; `prefix` is common to
  /// all keys of the range. The version must outlive the iterators. `deletes`, if there are range deletes: the
  /// iterators omit what these hide.
  void iterate(const KeyRange& range, std::string_view prefix, ScanCaching caching, const Uncovered& deletes,
               std::vector<std::unique_ptr<EntryIterator>>& iterators) const;
  /// For a compaction's inputs: exactly these tables, which belong to one run. `opened`, if not null, counts their
  /// blocks.
  [[nodiscard]] std::unique_ptr<EntryIterator> iterate_tables(const std::vector<std::uint64_t>& numbers,
                                                              BlocksOpened* opened = nullptr) const;

  /// The runs that scans have had to seek in since the last flush, without the first one of each scan.
  [[nodiscard]] std::uint64_t extra_runs_scanned() const { return extra_runs_scanned_.sum(); }

  [[nodiscard]] Result<std::uint64_t> approximate_bytes(std::string_view from,
                                                        std::optional<std::string_view> to) const;
  /// Null if it is not in this version.
  [[nodiscard]] std::shared_ptr<Table> table(std::uint64_t number) const;
  /// Null if it is not in this version.
  [[nodiscard]] std::shared_ptr<ValueFile> value_file(std::uint64_t number) const;
  /// A read of the value to which an entry of this key points. kCorruption if there is no such file.
  [[nodiscard]] Result<ValueRead> begin_value(std::string_view key, std::string_view pointer, std::string& to) const;
  [[nodiscard]] const std::vector<std::shared_ptr<ValueFile>>& value_files() const { return value_files_; }
  /// All tables; those of a run that have entries are adjacent and in key order.
  [[nodiscard]] const std::vector<std::shared_ptr<Table>>& tables() const { return tables_; }

 private:
  /// The heads of a table's bounds. They suffice to compare with most keys, and their array is read without access to
  /// each table's facts.
  struct BoundHeads {
    std::uint64_t smallest = 0;
    std::uint64_t largest = 0;
  };
  /// Adjacent in tables_, in key order, all with entries.
  struct TableSpan {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  /// The data of a run that lookups need.
  struct SearchRun {
    std::uint32_t level = 0;
    TableSpan tables = {};  // If it is empty, `first` is a table with range deletes alone.
    BoundHeads bounds = {~std::uint64_t{0}, 0};
  };
  /// Runs that are one to a scan: the keys of each are larger than those of the run that is older than it. So are runs
  /// of keys that were written in order.
  struct ScanRun {
    TableSpan tables = {};
    Sequence largest_sequence = {};
  };
  /// The key to find, with its head computed once.
  struct SearchKey {
    std::string_view key;
    std::uint64_t head = 0;
  };

  static constexpr std::size_t kCandidatesAtOnce = 128;
  struct Candidate {
    Table* table;
    std::uint32_t run;
  };
  using Candidates = std::array<Candidate, kCandidatesAtOnce>;
  using Tables = std::span<const std::shared_ptr<Table>>;
  /// Without those at the front that range deletes hide, and what is before `floor` in the first one of the others.
  struct UncoveredTables {
    Tables tables;
    std::string_view floor = {};  // Belongs to a range delete.
    bool may_be_covered = false;  // Some of the rest.
  };

  void add_runs(const Version* before, const TableContext& context);
  void add_scan_run(const std::vector<std::uint32_t>& continued, const std::vector<const Run*>& runs,
                    const Version* before, const TableContext& context);
  void add_table(const std::shared_ptr<const TableFacts>& facts, const Version* before, const TableContext& context);
  [[nodiscard]] bool ends_before(std::uint32_t table, const SearchKey& key) const;
  [[nodiscard]] bool begins_after(std::uint32_t table, const SearchKey& key) const;
  /// The index in tables_ of the span's first table that ends at or after the key; one past its last if none.
  [[nodiscard]] std::uint32_t first_reaching(TableSpan span, const SearchKey& key) const;
  /// The only table of the run whose bounds include the key, or null.
  [[nodiscard]] Table* candidate(const SearchRun& run, const SearchKey& key) const;
  /// The candidate of the first possible run from `run` on that has one. Sets `run` to that run, or past the last one.
  Table* next_candidate(const Lookup& lookup, const RunSet& possible, std::uint32_t& run) const;
  /// The candidates of possible runs from `run` on, at most kCandidatesAtOnce. Sets `run` for the next call.
  std::size_t next_candidates(const Lookup& lookup, const RunSet& possible, std::uint32_t& run,
                              Candidates& candidates) const;
  /// Records why the runs before `end` that have no step yet were not probed: their bounds exclude the key, or the run
  /// index ruled them out.
  void record_passed_over(const Lookup& lookup, std::size_t end, RecordedSteps& steps) const;
  void sample_passed_over(const StagedLookup& staged, const RunSet& possible) const;
  void count_passed_over(const StagedLookup& staged, const RunSet& possible) const;
  template <typename Steps>
  Status advance(DiskLookup& lookup, bool is_alone, bool fills_cache, Steps& steps) const;
  /// Those whose bounds overlap the range.
  [[nodiscard]] Tables tables_in(TableSpan span, const KeyRange& range) const;
  void iterate_uncovered(const KeyRange& range, std::string_view prefix, ScanCaching caching, const Uncovered& deletes,
                         std::vector<std::unique_ptr<EntryIterator>>& iterators) const;
  [[nodiscard]] std::unique_ptr<EntryIterator> iterate_run(Tables tables, std::string_view floor, const KeyRange& range,
                                                           ScanCaching caching) const;
  static UncoveredTables uncovered(const ScanRun& run, Tables tables, const KeyRange& range, CoveringDelete& covering);

  Shape shape_;
  std::vector<std::shared_ptr<Table>> tables_;
  std::vector<BoundHeads> heads_;  // One per table.
  std::vector<SearchRun> runs_;    // Newest first.
  std::vector<ScanRun> scan_runs_;
  std::vector<std::shared_ptr<ValueFile>> value_files_;  // By ascending number.
  RunIndex run_index_;
  std::shared_ptr<const TableRangeDeletes> range_deletes_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_number_;  // Indexes in tables_.
  mutable ShardedCounter extra_runs_scanned_;
};

}  // namespace tamis
