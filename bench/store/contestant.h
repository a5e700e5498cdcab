// The interface of all stores that tamis-bench compares.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "store/data_set.h"
#include "tamis/status.h"

namespace tamis::bench {

/// What a store is opened for.
struct StoreShape {
  std::uint64_t entries = 0;                            ///< Expected number.
  double bits_per_key = 10;                             ///< Of filters.
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  ///< For caches and memtables, if configurable.
  bool keeps_runs = false;                              ///< Nothing is merged: every flush leaves a sorted run.
  bool reads_directly = false;                          ///< Past the kernel's page cache.
  bool is_cold = false;                                 ///< No block is cached; storage reads are counted.
  bool is_ascending = false;                            ///< Keys come in order.
  bool syncs = false;                                   ///< Writes with `sync` will follow.
  bool has_large_values = false;                        ///< Of at least 4 KiB: a store that can keeps them apart.

  static constexpr std::size_t kMemtableBytes = std::size_t{64} << 20;
  /// At most a quarter of the memory.
  [[nodiscard]] std::size_t memtable_bytes() const { return std::min<std::size_t>(kMemtableBytes, memory_bytes / 4); }
  /// What two memtables leave to the block cache.
  [[nodiscard]] std::size_t cache_bytes() const {
    constexpr std::size_t kMemtables = 2 * kMemtableBytes;
    return memory_bytes > 2 * kMemtables ? memory_bytes - kMemtables : memory_bytes / 2;
  }
};

struct Entry {
  std::string_view key;
  std::string_view value;
};

/// One thread's operations on an open store.
///
/// Threads: one at a time. Must not outlive the open store.
class Session {
 public:
  virtual ~Session() = default;

  virtual void put(std::string_view key, std::string_view value, bool sync) = 0;
  virtual void put_batch(std::span<const Entry> entries, bool sync) = 0;
  /// True, with the value in the buffer, if the key is found.
  virtual bool get(std::string_view key, std::string& buffer) = 0;
  /// Adds the value to the tally, without copying it first, if the key is found. Only if it can.
  [[nodiscard]] virtual bool can_pin() const { return false; }
  virtual void get_pinned(std::string_view /*key*/, Tally& /*tally*/) {}
  /// Adds the values of the keys found to the tally.
  virtual void multi_get(std::span<const std::string_view> keys, Tally& tally) {
    std::string buffer;
    for (const std::string_view key : keys) {
      if (get(key, buffer)) tally.add(buffer);
    }
  }
  /// Seeks to the key and adds up to `count` entries to the tally.
  virtual void scan(std::string_view from, std::uint64_t count, Tally& tally) = 0;
  /// The first key at or after `from`; false if there is none.
  virtual bool seek(std::string_view from, std::string& key) = 0;
  virtual void remove(std::string_view key) = 0;
  /// In one call, if the store has one; otherwise false.
  virtual bool remove_range(std::string_view /*from*/, std::string_view /*to*/) { return false; }
};

/// Configured as its expert would: filters of 10 bits per key, 64 MB memtables, a cache that holds everything, indexes
/// and filters outside that cache, no compression, the journal on. A failure stops the program: benchmarking wrong
/// answers is pointless.
///
/// Threads: one at a time, but each thread may have a session.
class Contestant {
 public:
  virtual ~Contestant() = default;

  [[nodiscard]] virtual std::string id() const = 0;    ///< As --engine names it.
  [[nodiscard]] virtual std::string name() const = 0;  ///< With its version, and whether it was built with assertions.
  [[nodiscard]] virtual bool can_keep_runs() const { return false; }
  [[nodiscard]] virtual bool can_read_directly() const { return false; }
  /// The number of single puts if others make `entries`; fewer if each is its own commit.
  [[nodiscard]] virtual std::uint64_t single_puts(std::uint64_t entries) const { return entries; }

  /// Opens the store in this folder; creates it if the folder is empty.
  virtual void open(const std::string& directory, const StoreShape& shape) = 0;
  virtual std::unique_ptr<Session> session() = 0;
  /// Writes what is in memory to a sorted run on disk.
  virtual void flush() = 0;
  /// Waits until the store's background work is done.
  virtual void settle() = 0;
  /// Brings everything into the shape with the fastest lookups. No session may exist.
  virtual void compact() = 0;
  /// Storage reads by lookups since the store was opened cold, if countable.
  [[nodiscard]] virtual std::optional<std::uint64_t> storage_reads() const { return std::nullopt; }
  /// Bytes written per byte put since open, by its own counters.
  [[nodiscard]] virtual std::optional<double> own_write_amplification() const { return std::nullopt; }
  /// Bytes on disk that hold nothing and will be overwritten.
  [[nodiscard]] virtual std::uint64_t recycled_bytes() const { return 0; }
  /// No session may exist.
  virtual void close() = 0;
};

// Null if this build lacks it.
std::unique_ptr<Contestant> make_tamis();
/// With one option changed, NAME=VALUE, which check_setting must accept.
std::unique_ptr<Contestant> make_tamis_with(const std::string& setting);
Status check_setting(const std::string& setting);
std::unique_ptr<Contestant> make_rocksdb();
std::unique_ptr<Contestant> make_leveldb();
std::unique_ptr<Contestant> make_lmdb();
std::unique_ptr<Contestant> make_wiredtiger();

/// Prints the reason on standard error and ends the program.
[[noreturn]] void stop(const std::string& why);

}  // namespace tamis::bench
