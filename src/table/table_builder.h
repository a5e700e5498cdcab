// Writes a table.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "entry/entry.h"
#include "entry/range_tombstones.h"
#include "io/file_system.h"
#include "table/block_trailer_format.h"
#include "table/codec.h"
#include "table/table_facts.h"
#include "table/table_format.h"
#include "tamis/filter.h"
#include "tamis/status.h"

namespace tamis {

/// Told of each data block of a new table, uncompressed and without its trailer.
using BlockListener = std::function<void(std::uint64_t table, std::uint32_t block, std::string_view bytes)>;

/// The properties of a table to be built, besides its entries.
struct TableSpec {
  std::string path = {};
  std::uint64_t number = 0;
  TableIdentity identity = {};  ///< The store's id and hash key.
  KeyspaceId keyspace = kDefaultKeyspace;
  std::string keyspace_name = {};
  Features features = {};  ///< What its entries need; in the header, which is written before them.
  std::uint32_t block_bytes = 4096;
  const Codec* codec = nullptr;         ///< Null: none.
  PrefixRule prefix_rule = {};          ///< kNone: no prefix filter.
  std::uint32_t range_filter_bits = 0;  ///< Per key; 0: no range filter.
  std::uint32_t level = 0;              ///< Where it is first installed; for repair.
  std::uint64_t run = 0;
  std::vector<std::uint64_t> replaces = {};  ///< Tables whose entries it takes over; for repair.
  std::uint64_t rewrite = 0;                 ///< The first table of the same rewrite; for repair.
  std::uint64_t flushed_sequence = 0;        ///< All writes up to here are already in tables; for repair.
  std::uint64_t created_unix_seconds = 0;
  std::uint64_t oldest_delete_unix_seconds = 0;  ///< Of the inputs; 0: deletes in it are as old as the table.
  BlockListener wrote_block = {};
};

/// For a key and its value together. A block holds at least one entry, with an overhead of at most 64 bytes.
inline constexpr std::uint64_t kMaxEntryBytes = kMaxBlockBytes - 64;
static_assert(kMaxKeyBytes + kMaxValueBytes + 16 <= kMaxEntryBytes);

/// Which filter a table gets, decided once its keys are counted.
struct FilterChoice {
  std::string kind;  ///< Empty: none.
  double bits_per_key = 0;
  double rate = 0;  ///< If not 0, the filter is built for it, and bits_per_key is about what that takes.
};

/// Builds the file from entries in order: blocks as they fill, then filters, index, properties, footer. Key hashes are
/// kept (8 bytes each) until finish, which sizes the filter by their number.
///
/// Invariants:
///  1. Entries come in strictly ascending EntryPosition order.
///  2. The file has its final name from the start; a table in no manifest is ignored.
///
/// Threads: one at a time.
class TableBuilder {
 public:
  static Result<std::unique_ptr<TableBuilder>> create(FileSystem& files, TableSpec spec);
  ~TableBuilder();

  /// `hash` is the store's hash of the whole key.
  Status add(const Entry& entry, std::uint64_t hash);

  [[nodiscard]] std::uint64_t entries() const;
  [[nodiscard]] std::uint64_t keys() const;
  /// The size of the file if it ended now, without filters.
  [[nodiscard]] std::uint64_t estimated_bytes() const;
  /// The memory of the hashes kept.
  [[nodiscard]] std::uint64_t memory_bytes() const;

  /// The key of the last entry; valid until the next one.
  [[nodiscard]] std::string_view last_key() const;
  /// If it is known only now which tables it replaces.
  void set_replaces(std::vector<std::uint64_t> replaces);

  /// As fragments_of makes them; the spec's features name them.
  void set_range_deletes(std::vector<RangeTombstone> fragments);

  /// Writes the rest, syncs and closes the file; the caller syncs the folder. Requires an entry or a range delete. If
  /// the filter cannot be built (kNotSupported, no memory), it is omitted: a table without one is only slower.
  Result<TableFacts> finish(const FilterChoice& filter);

 private:
  class State;
  explicit TableBuilder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tamis
