// One immutable sorted file, for reading.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/block_cache.h"
#include "entry/entry.h"
#include "entry/entry_iterator.h"
#include "io/file_handles.h"
#include "table/index_format.h"
#include "table/lookup_steps.h"
#include "table/metadata_budget.h"
#include "table/staged_lookup.h"
#include "table/table_facts.h"
#include "table/table_format.h"
#include "table/table_verify.h"
#include "tamis/filter.h"
#include "tamis/status.h"

namespace tamis {

/// What the tables of a store share. Outlives them all.
struct TableContext {
  std::string directory;
  TableIdentity identity;  ///< The store's; tables of another one are refused.
  FileHandles* handles = nullptr;
  BlockCache* cache = nullptr;
  MetadataBudget* index_budget = nullptr;
  MetadataBudget* filter_budget = nullptr;
};

/// Counts of one table since it was opened. Positives are exact; probes are sampled (rule 15).
struct TableCounts {
  std::uint64_t probes = 0;           ///< Lookups that asked the table, estimated.
  std::uint64_t positives = 0;        ///< Lookups that its filter let through, or that had no filter to ask.
  std::uint64_t false_positives = 0;  ///< Of these, those its filter let through and that found nothing.
  std::uint64_t unfiltered = 0;       ///< Of these, those whose filter exists but was not in memory.
  std::uint64_t hits = 0;
  std::uint64_t blocks_read = 0;  ///< By lookups, from the file.
  std::uint64_t slot_hits = 0;    ///< Blocks that lookups found in the cache without asking it.
  std::uint64_t metadata_loads = 0;

  TableCounts& operator+=(const TableCounts& other) {
    probes += other.probes;
    positives += other.positives;
    false_positives += other.false_positives;
    unfiltered += other.unfiltered;
    hits += other.hits;
    blocks_read += other.blocks_read;
    slot_hits += other.slot_hits;
    metadata_loads += other.metadata_loads;
    return *this;
  }
};

/// What a table kept in memory so that lookups need not read it. The caller frees it once the epoch has passed in which
/// it was unloaded (rule 10): filters are asked inside an EpochGuard only, and so are indexes, unless by a counted
/// reference. It is charged to its budget until it is gone; an index that a search or an iterator still uses goes with
/// the last of them.
struct UnloadedMetadata {
  std::shared_ptr<const Filter> filter;
  std::shared_ptr<const Filter> prefix_filter;
  std::shared_ptr<const Index> index;
};

/// A table that can be asked. Making one touches no file; index and filter are loaded by the first lookup that needs
/// them if their budget has room, and stay until unload. Without room the index is read for each lookup anew, and the
/// filter is not asked.
///
/// Invariants:
///  1. Nothing is answered from bytes whose checksum was not verified.
///  2. A filter that is missing, damaged, or of another key or hash answers maybe; an index or block that is damaged is
///     kCorruption with file and offset.
///  3. Filter and index are charged to their budgets while they are in memory.
///
/// Threads: any number may look up and iterate; loading is done by one of them at a time, the others go on without.
/// unload: one at a time.
class Table {
 public:
  Table(std::shared_ptr<const TableFacts> facts, const TableContext& context);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  [[nodiscard]] const TableFacts& facts() const { return *facts_; }
  [[nodiscard]] std::string path() const;

  // Lookups: table_lookup.cc. In memory alone, and only inside an EpochGuard.

  /// Starts loading the line of the filter that `peek` will test.
  void prefetch_filter(std::uint64_t hash) const {
    if (const Filter* filter = filter_.load()) filter->prefetch_hash(hash);
  }
  /// The newest version of the key at or below the lookup's sequence, unless something that is not in memory decides.
  /// Counts nothing: the caller does (count_peeks, count_sampled_probe). Where the key is `expected` to be here, what
  /// comes after the filter is fetched before the filter has answered.
  LookupAnswer peek(const Lookup& lookup, bool expected, FoundEntry& found) const;
  /// The same for several, side by side. Each asks the table that it names, and has its answer afterwards; counted, but
  /// for probes. Empties the group.
  static void peek_many(LookupGroup& group);
  /// Of lookups that the filter let through.
  void count_peeks(std::uint64_t found, std::uint64_t absent) const;
  /// Stands for all that ProbeSampling passed over. Not of a lookup that is kUnknown: begin_search counts it.
  void count_sampled_probe() const;

  // The same, for lookups that may read from disk. This and what follows is not for the inside of an EpochGuard.

  /// Asks the filter and finds the first block. False: the filter rules the key out, and the search is over.
  Result<bool> begin_search(const Lookup& lookup, TableSearch& search);
  /// A block; empty when it is not in the cache.
  [[nodiscard]] PinnedBlock find_block(std::uint32_t block) const;
  /// The block that the search stands at, read from the file.
  Result<PinnedBlock> fetch_block(TableSearch& search, bool fills_cache) const;
  /// Looks into the block that the search stands at: true when the search goes on in the next one. Once it does not, it
  /// is over and counted. The value lies in the block.
  bool search_block(TableSearch& search, const Lookup& lookup, Bytes frame, std::optional<FoundEntry>& found);

  /// Walks over all entries. Holds what it needs of the index itself. The table must outlive it.
  /// With `fills_cache` false, blocks that are not cached are read into buffers of its own, several at a time.
  [[nodiscard]] std::unique_ptr<EntryIterator> iterate(bool fills_cache);
  /// False: no key that begins with `scan_prefix` is in this table. Loads the prefix filter if there is room.
  [[nodiscard]] bool may_contain_prefix(std::string_view scan_prefix);
  /// Bytes of data blocks between two keys, to about a block.
  Result<std::uint64_t> approximate_bytes(std::string_view from, std::optional<std::string_view> to);

  /// Loads index and filters now, as far as their budgets have room.
  Status load();
  /// Takes filter or index out of memory; lookups that begin now do not see it.
  [[nodiscard]] UnloadedMetadata unload_filter();
  [[nodiscard]] UnloadedMetadata unload_index();
  [[nodiscard]] bool has_filter_in_memory() const { return filter_.load(std::memory_order_relaxed) != nullptr; }
  [[nodiscard]] bool has_index_in_memory() const { return index_.load(std::memory_order_relaxed) != nullptr; }
  /// What loading it takes from its budget.
  [[nodiscard]] std::uint64_t filter_memory_bytes() const;
  [[nodiscard]] std::uint64_t index_memory_bytes() const;
  /// Why a filter that the table has is not used: damaged, or of another hash. Nothing while it is not known to be.
  [[nodiscard]] std::optional<Status> filter_problem() const;

  [[nodiscard]] TableCounts counts() const;

  /// Reads all of the file, past the cache, and adds what is wrong with it. Returns the bytes read; errors are those
  /// that are not the file's, and kClosed when `progress` returned false. `progress` is told the bytes of each step.
  Result<std::uint64_t> verify(std::vector<TableProblem>& problems,
                               const std::function<bool(std::uint64_t bytes)>& progress) const;

  // For those who read blocks themselves: TableIterator, BlockBatch.

  [[nodiscard]] FileHandles& handles() const { return *context_.handles; }
  [[nodiscard]] Result<std::shared_ptr<const ReadableFile>> open_file() const;
  /// The index in memory, loaded if there is room; otherwise one that lives as long as the caller wants.
  Result<std::shared_ptr<const Index>> shared_index(std::uint32_t& metadata_reads);
  /// Pins a block that was read, and keeps it in the cache if that is to be filled.
  [[nodiscard]] PinnedBlock keep_block(std::uint32_t block, BlockBuffer frame, bool fills_cache) const;
  /// Null when there are no slots.
  [[nodiscard]] BlockSlot* slot_of(std::uint32_t block) const {
    BlockSlot* const slots = slots_.load(std::memory_order_acquire);
    return slots == nullptr ? nullptr : slots + block;
  }

 private:
  struct Inside;

  // Metadata: table_metadata.cc.
  Result<TableProperties> read_own_properties(const ReadableFile& file) const;
  Result<const TableProperties*> properties();
  void load_filter(std::uint32_t& metadata_reads);
  void load_prefix_filter();
  void remember_filter_problem(const Status& problem);
  void make_slots(std::uint32_t blocks);
  // Stages: table_lookup.cc.
  [[nodiscard]] LookupAnswer peek_filter(std::uint64_t hash, bool asks) const;
  bool peek_index(BlockPlace& place) const;
  template <bool kIsPrefetched>
  LookupAnswer peek_blocks(BlockPlace& place, const Lookup& lookup, FoundEntry& found) const;
  bool end_without_entry(StagedLookup& staged, LookupAnswer answer) const;
  FilterVerdict ask_filter(std::uint64_t hash, std::uint32_t& metadata_reads);
  void count(const TableStep& step, bool found);

  std::shared_ptr<const TableFacts> facts_;
  const TableContext& context_;
  // Loaded: stored with release by the loader. Unloaded, and loaded by lookups inside an EpochGuard, with sequential
  // consistency (base/epoch.h).
  std::atomic<const Filter*> filter_ = nullptr;
  std::atomic<const Index*> index_ = nullptr;
  /// Whether the table's hash is the store's, so that tags and filters mean something. Stored before index_ and
  /// filter_.
  std::atomic<bool> shares_hash_ = false;
  /// One per block. Made with the first index that is in memory, if there is room; they stay as long as the table.
  std::atomic<BlockSlot*> slots_ = nullptr;
  std::unique_ptr<Inside> inside_;
};

}  // namespace tamis
