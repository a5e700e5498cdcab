// Named trees of one store.
//
//     auto users = db.keyspace("users", {.codec_last = "zstd"});
//     if (!users.ok()) return fail(users.status());
//     tamis::Status s = users->put("ada", "1815");
//
//     tamis::Batch batch;                       // One commit over both keyspaces.
//     batch.put(*users, "grace", "1906");
//     batch.put("count", "2");
//     s = db.write(batch);
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/call_options.h"
#include "tamis/caller.h"
#include "tamis/export.h"
#include "tamis/iterator.h"
#include "tamis/pinned_value.h"
#include "tamis/prefix_rule.h"
#include "tamis/stats.h"
#include "tamis/status.h"

namespace tamis {

class Store;
struct OpenKeyspace;

/// What a keyspace sets for itself; for the rest the store's Options apply. These settings are stored: the next opening
/// uses them without being told.
struct KeyspaceOptions {
  std::optional<std::uint32_t> block_bytes = {};                 ///< As Options::block_bytes.
  std::optional<std::uint64_t> table_bytes = {};                 ///< As Options::table_bytes.
  std::optional<std::string> codec = {};                         ///< As Options::codec.
  std::optional<std::string> codec_last = {};                    ///< As Options::codec_last.
  std::optional<std::string> filter = {};                        ///< As Options::filter.
  std::optional<PrefixRule> prefix_rule = {};                    ///< As Options::prefix_rule.
  std::optional<std::uint32_t> range_filter_bits = {};           ///< As Options::range_filter_bits.
  std::optional<std::string> compaction = {};                    ///< As Options::compaction.
  std::optional<std::uint64_t> value_bytes_apart = {};           ///< As Options::value_bytes_apart.
  std::optional<std::uint32_t> fanout = {};                      ///< As Options::fanout.
  std::optional<std::chrono::milliseconds> default_expiry = {};  ///< As Options::default_expiry.
  /// As Options::merge_operator. Once it is set, another one is kInvalidArgument.
  std::optional<std::string> merge_operator = {};
};

/// Sets an option of a keyspace by name, as set_option does for a store. kInvalidArgument also for an option that
/// applies to the whole store only.
TAMIS_EXPORT Status set_keyspace_option(KeyspaceOptions& options, std::string_view name, std::string_view value);

/// What DB::keyspaces lists.
struct TAMIS_EXPORT KeyspaceInfo {
  std::string name;                  ///< "default" for the one that DB::put and DB::get use.
  std::uint32_t id = 0;              ///< 0 for the default; never reused.
  std::string options;               ///< What it sets for itself, one "name=value" per line.
  std::uint64_t tables = 0;          ///< Number of its tables.
  std::uint64_t entries = 0;         ///< Entries in its tables and memtables, all versions and tombstones included.
  std::uint64_t bytes_on_disk = 0;   ///< Size of its tables and value files.
  std::uint64_t memtable_bytes = 0;  ///< Memory of its memtables.

  /// A JSON object; a name that is not UTF-8 is hexadecimal, as name_hex.
  [[nodiscard]] std::string to_json() const;
};

/// A handle of one keyspace: a tree of its own in a store, with the store's journal, sequence, snapshots and memory.
/// Copies refer to the same keyspace. Writing to several keyspaces at once: Batch. What DB says about each call holds
/// here too.
///
/// A handle that was default-constructed or moved from belongs to no keyspace: every call returns kClosed. Once the
/// keyspace is dropped, every call returns kInvalidArgument, except reads as of an older snapshot.
///
/// Threads: any number, except for assignment and the destructor. It may outlive its DB and then answers kClosed.
class TAMIS_EXPORT Keyspace {
 public:
  /// Belongs to no keyspace.
  Keyspace() noexcept = default;

  /// The name it was opened with; empty if it belongs to no keyspace.
  [[nodiscard]] std::string_view name() const;
  /// Its number in the store, never reused; 0 is the default keyspace.
  [[nodiscard]] std::uint32_t id() const;

  /// As DB::put.
  Status put(std::string_view key, std::string_view value, const WriteOptions& options = {});
  /// As DB::remove.
  Status remove(std::string_view key, const WriteOptions& options = {});
  /// As DB::remove_range.
  Status remove_range(std::string_view from, std::optional<std::string_view> to, const WriteOptions& options = {});
  /// As DB::merge.
  Status merge(std::string_view key, std::string_view operand, const WriteOptions& options = {});
  /// As DB::put_if.
  [[nodiscard]] Result<bool> put_if(std::string_view key, std::optional<std::string_view> expected,
                                    std::string_view value, const WriteOptions& options = {});
  /// As DB::remove_if.
  [[nodiscard]] Result<bool> remove_if(std::string_view key, std::string_view expected,
                                       const WriteOptions& options = {});

  /// As DB::get.
  [[nodiscard]] Result<std::optional<std::string>> get(std::string_view key, const ReadOptions& options = {}) const;
  /// As DB::get.
  [[nodiscard]] Result<bool> get(std::string_view key, std::string* value, const ReadOptions& options = {}) const;
  /// As DB::exists.
  [[nodiscard]] Result<bool> exists(std::string_view key, const ReadOptions& options = {}) const;
  /// As DB::get_pinned.
  [[nodiscard]] Result<std::optional<PinnedValue>> get_pinned(std::string_view key,
                                                              const ReadOptions& options = {}) const;
  /// As DB::multi_get.
  [[nodiscard]] std::vector<Result<std::optional<std::string>>> multi_get(std::span<const std::string_view> keys,
                                                                          const ReadOptions& options = {}) const;
  /// As DB::multi_get.
  [[nodiscard]] Status multi_get(std::span<const std::string_view> keys,
                                 std::vector<std::optional<std::string>>* values,
                                 const ReadOptions& options = {}) const;
  /// As DB::scan.
  [[nodiscard]] Iterator scan(const ScanOptions& options = {}, Caller caller = Caller::here()) const;
  /// As DB::explain.
  [[nodiscard]] Result<Explanation> explain(std::string_view key, const ReadOptions& options = {}) const;

  /// As DB::compact.
  Status compact(const Range& range = {}, const Progress& progress = {});
  /// As DB::approximate_size.
  [[nodiscard]] Result<std::uint64_t> approximate_size(const Range& range) const;

  /// For the library; null if it belongs to no keyspace.
  [[nodiscard]] OpenKeyspace* state() const { return keyspace_.get(); }
  /// For the library; null if it belongs to no keyspace.
  [[nodiscard]] Store* store() const { return store_.get(); }

 private:
  friend class DB;
  friend class Batch;
  Keyspace(std::shared_ptr<Store> store, std::shared_ptr<OpenKeyspace> keyspace);

  std::shared_ptr<Store> store_;
  std::shared_ptr<OpenKeyspace> keyspace_;
};

}  // namespace tamis
