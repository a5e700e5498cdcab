// The tables of one moment, ready to be asked.
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

#include "cache/block_cache.h"
#include "entry/entry.h"
#include "entry/entry_iterator.h"
#include "entry/key_range.h"
#include "table/table.h"
#include "tamis/status.h"
#include "tree/run_index.h"
#include "tree/shape.h"

namespace tamis {

/// A lookup that memory alone could not answer, taken over at the run that it has reached. The answer is the staged
/// lookup's.
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
  PinnedBlock pin;     // Where the value lies, or the block that the search needed.
  RunSet possible;     // This and the rest are Version::find's.
  TableSearch search;  // Without a table: on the way to the next run.
  bool is_over = false;
  std::size_t waits_for = 0;  // In the batch.
};

/// A shape with its tables. Immutable; a change makes a new one, which shares the tables that stay.
///
/// Threads: any number.
class Version {
 public:
  /// Takes from `before` (may be null) the tables that are in both, and the columns of its run index; makes the others.
  Version(Shape shape, const Version* before, const TableContext& context);
  /// The same with these columns, all of one matrix and filled with the hash that lookups bring.
  Version(Shape shape, const Version* before, const TableContext& context, const RunColumns& columns);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const RunIndex& run_index() const { return run_index_; }

  // Lookups: version_lookup.cc. They ask every run that can hold the key by its bounds and by the run index, newest
  // first, until one has it. Steps is NoSteps or RecordedSteps.

  /// As far as memory alone can tell: only inside an EpochGuard, while which the value lives. A lookup that becomes
  /// kUnknown goes on with `find`. The filter lines of all runs are prefetched before the first is tested.
  template <typename Steps>
  void peek(StagedLookup& staged, Steps& steps) const;
  /// The same for up to kLookupsAtOnce lookups side by side: those whose answer is still kAbsent.
  void peek_many(std::span<StagedLookup> lookups) const;
  /// Answers lookups from the run on that they have reached, from disk where it must be. What several of them wait for
  /// is read together.
  template <typename Steps>
  void find(std::span<DiskLookup> lookups, bool fills_cache, Steps& steps) const;

  /// One iterator per run that may hold a key of the range, newest first. A run is left out when its bounds or its
  /// prefix filters prove that it holds none; `prefix` is one that all keys of the range begin with.
  /// The version must outlive them. They are put behind the `iterators` there are.
  void iterate(const KeyRange& range, std::string_view prefix, bool fills_cache,
               std::vector<std::unique_ptr<EntryIterator>>& iterators) const;
  /// The same for a compaction's inputs: exactly these tables, which belong to one run.
  [[nodiscard]] std::unique_ptr<EntryIterator> iterate_tables(const std::vector<std::uint64_t>& numbers) const;

  [[nodiscard]] Result<std::uint64_t> approximate_bytes(std::string_view from,
                                                        std::optional<std::string_view> to) const;
  /// Null when it is not here.
  [[nodiscard]] std::shared_ptr<Table> table(std::uint64_t number) const;
  /// All of them, newest run first, in key order inside a run.
  [[nodiscard]] const std::vector<std::shared_ptr<Table>>& tables() const { return tables_; }

 private:
  /// The heads of a table's bounds: for most keys they tell on which side of it the key lies, and the array of them is
  /// read without a jump to each table's facts.
  struct BoundHeads {
    std::uint64_t smallest = 0;
    std::uint64_t largest = 0;
  };
  /// A run as a lookup sees it.
  struct SearchRun {
    std::uint32_t level = 0;
    std::uint32_t first_table = 0;  // In tables_.
    std::uint32_t table_count = 0;
    BoundHeads bounds;
  };
  /// The key asked for, with its head made once.
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

  void add_run(std::uint32_t level, const Run& run, const Version* before, const TableContext& context);
  [[nodiscard]] bool ends_before(std::uint32_t table, const SearchKey& key) const;
  [[nodiscard]] bool begins_after(std::uint32_t table, const SearchKey& key) const;
  /// The number in tables_ of the run's first table that ends at the key or after it; one past the run's last if none.
  [[nodiscard]] std::uint32_t first_reaching(const SearchRun& run, const SearchKey& key) const;
  /// The one table of the run whose bounds hold the key, or null.
  [[nodiscard]] Table* candidate(const SearchRun& run, const SearchKey& key) const;
  /// That of the first of the possible runs from `run` on that has one; sets `run` to it, or beyond the last run.
  Table* next_candidate(const Lookup& lookup, const RunSet& possible, std::uint32_t& run) const;
  /// Of the possible runs from `run` on, at most kCandidatesAtOnce; leaves `run` where the next call has to go on.
  std::size_t next_candidates(const Lookup& lookup, const RunSet& possible, std::uint32_t& run,
                              Candidates& candidates) const;
  /// Records why no table was asked of the runs before `end` that have no step yet: their bounds do not hold the key,
  /// or the run index ruled them out.
  void record_passed_over(const Lookup& lookup, std::size_t end, RecordedSteps& steps) const;
  template <typename Steps>
  Status advance(DiskLookup& lookup, bool is_alone, bool fills_cache, Steps& steps) const;
  /// Those of the run whose bounds meet the range.
  [[nodiscard]] std::span<const std::shared_ptr<Table>> tables_in(const SearchRun& run, const KeyRange& range) const;

  Shape shape_;
  std::vector<std::shared_ptr<Table>> tables_;
  std::vector<BoundHeads> heads_;  // Of each table.
  std::vector<SearchRun> runs_;
  RunIndex run_index_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_number_;  // To places in tables_.
};

}  // namespace tamis
