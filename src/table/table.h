// Reads one immutable sorted file.
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
#include "entry/range_tombstones.h"
#include "filter/range_filter_format.h"
#include "io/file_handles.h"
#include "table/index_part.h"
#include "table/lookup_steps.h"
#include "table/metadata_budget.h"
#include "table/scan_caching.h"
#include "table/staged_lookup.h"
#include "table/table_facts.h"
#include "table/table_filter.h"
#include "table/table_format.h"
#include "table/table_verify.h"
#include "tamis/filter.h"
#include "tamis/status.h"

namespace tamis {

/// Shared by all tables of a store. Outlives them.
struct TableContext {
  std::string directory;
  TableIdentity identity;  ///< The store's; tables of another store are refused.
  FileHandles* handles = nullptr;
  BlockCache* cache = nullptr;
  MetadataBudget* index_budget = nullptr;
  MetadataBudget* filter_budget = nullptr;
};

/// Counts of one table since it was opened. Positives are exact; probes are sampled (rule 15).
struct TableCounts {
  std::uint64_t probes = 0;           ///< Lookups that probed the table, estimated.
  std::uint64_t vain_probes = 0;      ///< Those that did not find their key there, estimated.
  std::uint64_t passed_over = 0;      ///< Lookups that the run index spared the table, estimated.
  std::uint64_t positives = 0;        ///< Lookups that passed its filter or had no filter to ask.
  std::uint64_t false_positives = 0;  ///< Positives that passed the filter and found nothing.
  std::uint64_t unfiltered = 0;       ///< Positives whose filter exists but was not in memory.
  std::uint64_t hits = 0;
  std::uint64_t blocks_read = 0;  ///< By lookups, from the file.
  std::uint64_t slot_hits = 0;    ///< Blocks that lookups found through slots, without calling the cache.
  std::uint64_t metadata_loads = 0;
  std::uint64_t filter_bytes_read = 0;  ///< To load columns of its filter.

  TableCounts& operator+=(const TableCounts& other) {
    probes += other.probes;
    vain_probes += other.vain_probes;
    passed_over += other.passed_over;
    positives += other.positives;
    false_positives += other.false_positives;
    unfiltered += other.unfiltered;
    hits += other.hits;
    blocks_read += other.blocks_read;
    slot_hits += other.slot_hits;
    metadata_loads += other.metadata_loads;
    filter_bytes_read += other.filter_bytes_read;
    return *this;
  }
};

struct ChargedIndex;  // table/table_inside.h.
template <typename AnyFilter>
class ScanFilterHolder;  // The same.

/// Metadata that a table kept in memory. The caller frees it after the epoch in which it was unloaded (rule 10):
/// filters are used only inside an EpochGuard, and so are indexes, except through a counted reference. It stays charged
/// to its budget until it is destroyed. The last search or iterator that uses an index destroys it.
struct UnloadedMetadata {
  std::shared_ptr<const TableFilter> filter;
  std::shared_ptr<const Filter> prefix_filter;
  std::shared_ptr<const RangeFilter> range_filter;
  std::shared_ptr<const ChargedIndex> index;
};

/// A table for lookups and iteration. The constructor touches no file. The first lookup that needs the index or the
/// filter loads it if its budget allows, and it stays until unload. Otherwise every lookup reads the part of the index
/// that it needs, through the block cache, and no lookup asks the filter.
///
/// Invariants:
///  1. All answers come from bytes with a verified checksum.
///  2. A filter that is missing, damaged, or of another key or hash answers maybe. A damaged index or block is
///     kCorruption with file and offset.
///  3. Filter and index are charged to their budgets while they are in memory.
///
/// Threads: any number may look up and iterate. One of them at a time loads; the others continue without. unload: one
/// at a time.
class Table {
 public:
  Table(std::shared_ptr<const TableFacts> facts, const TableContext& context);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  [[nodiscard]] const TableFacts& facts() const { return *facts_; }
  [[nodiscard]] std::string path() const;

  // Lookups: table_lookup.cc. In memory only, and only inside an EpochGuard.

  /// Prefetches the cache line of the filter that `peek` will test.
  void prefetch_filter(std::uint64_t hash) const {
    if (const TableFilter* filter = filter_.load()) filter->prefetch(hash);
  }
  /// The newest version of the key at or below the lookup's sequence; kUnknown if it depends on something that is not
  /// in memory. Counts nothing: the caller does (count_peeks, count_sampled_probe). If the key is `expected` here, the
  /// index and the slots are prefetched before the filter answers.
  LookupAnswer peek(const Lookup& lookup, bool expected, FoundEntry& found) const;
  /// The same for several lookups at once. Each probes the table it names and gets its answer. Counts all but probes.
  /// Empties the group.
  static void peek_many(LookupGroup& group);
  /// For lookups that passed the filter.
  void count_peeks(std::uint64_t found, std::uint64_t absent) const;
  /// Counts for all probes that ProbeSampling skipped. Not for a lookup that is kUnknown: begin_search counts it.
  void count_sampled_probe(bool found) const;
  /// The same for lookups that the run index spared this table.
  void count_sampled_passing() const;

  // Lookups that may read from disk. Neither these nor the functions below may be called inside an EpochGuard.

  /// Asks the filter and finds the first block. False: the filter rules the key out, and the search has ended.
  Result<bool> begin_search(const Lookup& lookup, bool fills_cache, TableSearch& search);
  /// Empty if the block is not in the cache.
  [[nodiscard]] PinnedBlock find_block(std::uint32_t block) const;
  /// Reads the search's current block from the file.
  Result<PinnedBlock> fetch_block(TableSearch& search) const;
  /// Searches the current block. True: the search continues in the next one. Otherwise it has ended and is counted. The
  /// value points into the block.
  Result<bool> search_block(TableSearch& search, const Lookup& lookup, Bytes frame, std::optional<FoundEntry>& found);

  /// Iterates over all entries. The iterator keeps its index alive; the table must outlive it. While it does not fill
  /// the cache, it reads uncached blocks into its own buffers, several at a time.
  [[nodiscard]] std::unique_ptr<EntryIterator> iterate(ScanCaching caching);
  /// False: no key in this table begins with `scan_prefix`. Loads the prefix filter if its budget allows.
  [[nodiscard]] bool may_contain_prefix(std::string_view scan_prefix);
  /// False: it has no entry with a key in from <= key < to; of its range deletes that says nothing. Loads the range
  /// filter if its budget allows.
  [[nodiscard]] bool may_contain_range(std::string_view from, std::string_view to);
  /// Bytes of data blocks between two keys, accurate to about a block.
  Result<std::uint64_t> approximate_bytes(std::string_view from, std::optional<std::string_view> to);

  /// Its range deletes; read from the file once.
  Result<std::shared_ptr<const std::vector<RangeTombstone>>> range_deletes();
  /// Null if they have not been read. Valid as long as the table.
  [[nodiscard]] const std::vector<RangeTombstone>* range_deletes_in_memory() const;

  /// Loads index and filters now, as far as their budgets allow.
  Status load();
  /// Takes filter or index out of memory; lookups that begin afterwards do not see it.
  [[nodiscard]] UnloadedMetadata unload_filter();
  [[nodiscard]] UnloadedMetadata unload_index();
  /// The columns of its filter to keep in memory from now on. Loads or drops them now if its filter is in memory, or if
  /// `loads`; otherwise the next lookup loads them. Does nothing while another thread loads.
  [[nodiscard]] UnloadedMetadata plan_filter(std::uint64_t columns, bool loads);
  /// The columns of its filter that can be loaded; 0 if there is none, or if it is damaged.
  [[nodiscard]] std::uint64_t usable_filter_columns() const;
  [[nodiscard]] std::uint64_t planned_filter_columns() const;
  /// The columns of its filter in memory. May be called inside an EpochGuard.
  [[nodiscard]] std::uint64_t filter_columns() const;
  [[nodiscard]] bool has_filter_in_memory() const { return filter_.load(std::memory_order_relaxed) != nullptr; }
  [[nodiscard]] bool has_index_in_memory() const { return index_.load(std::memory_order_relaxed) != nullptr; }
  /// What it takes from its budget when loaded; of a filter, as much as is planned.
  [[nodiscard]] std::uint64_t filter_memory_bytes() const;
  [[nodiscard]] std::uint64_t index_memory_bytes() const;
  /// Why the table's filter is not used: damaged, or of another hash. Nullopt if no problem is known.
  [[nodiscard]] std::optional<Status> filter_problem() const;

  [[nodiscard]] TableCounts counts() const;

  /// Reads the whole file, past the cache, and adds its problems. Returns the bytes read. Fails only for errors outside
  /// the file, and with kClosed if `progress`, which receives the bytes of each step, returns false.
  Result<std::uint64_t> verify(std::vector<TableProblem>& problems,
                               const std::function<bool(std::uint64_t bytes)>& progress) const;

  // For classes that read blocks themselves: TableIterator, BlockBatch.

  [[nodiscard]] FileHandles& handles() const { return *context_.handles; }
  [[nodiscard]] Result<std::shared_ptr<const ReadableFile>> open_file() const;
  /// Keeps the file open from now on, so that the table can be read after somebody else removed it (rule 43). To be
  /// called before others use the table.
  Status hold_file();
  /// The index in memory, loaded if the budget allows; otherwise its top if it has one, or a whole one that the caller
  /// owns.
  Result<IndexPart> open_index(bool fills_cache, std::uint32_t& metadata_reads);
  /// For an index that is not whole. If it fails, the index remains where it was.
  Status enter_part(IndexPart& part, std::uint32_t number, bool fills_cache, std::uint32_t& metadata_reads);
  /// Pins a block that was read, and caches it if `fills_cache`.
  [[nodiscard]] PinnedBlock keep_block(std::uint32_t block, BlockBuffer frame, bool fills_cache) const;
  /// Null if there are no slots.
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
  [[nodiscard]] std::shared_ptr<const TableFilter> read_columns(std::uint64_t columns, const TableFilter* before);
  [[nodiscard]] std::shared_ptr<const TableFilter> replace_filter(std::shared_ptr<const TableFilter> by);
  template <typename AnyFilter, typename Read>
  void load_scan_filter(ScanFilterHolder<AnyFilter>& holder, std::uint64_t bytes, Read read);
  void load_prefix_filter();
  void load_range_filter();
  void remember_filter_problem(const Status& problem);
  // The index: table_index.cc.
  Result<IndexPart> index_part(std::string_view key, bool fills_cache, std::uint32_t& metadata_reads);
  Result<std::shared_ptr<const Index>> load_index(const TableProperties& properties, std::optional<Charge> charge,
                                                  std::uint32_t& metadata_reads);
  void make_slots(std::uint32_t blocks);
  Result<std::shared_ptr<const Index>> cached_part(const TableProperties& properties, std::uint32_t number,
                                                   BlockPosition at, bool fills_cache,
                                                   std::uint32_t& metadata_reads) const;
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
  // The loader stores with release. Unloading stores, and lookups inside an EpochGuard load, with sequential
  // consistency (base/epoch.h).
  std::atomic<const TableFilter*> filter_ = nullptr;
  std::atomic<const Index*> index_ = nullptr;
  /// Whether the table has the store's hash, so that tags and filters are valid. Stored before index_ and filter_.
  std::atomic<bool> shares_hash_ = false;
  /// One per block. Made with the first index in memory, if the budget allows; kept as long as the table.
  std::atomic<BlockSlot*> slots_ = nullptr;
  std::unique_ptr<Inside> inside_;
};

}  // namespace tamis
