// Random transactions of many threads in one store, and their history.
#pragma once

#include <tamis/tamis.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "entry/entry.h"
#include "io/memory_file_system.h"

namespace tamis::test {

/// Threads run transactions of gets, scans, puts, removes, range deletes, batches and savepoints over a few keys of
/// three keyspaces, beside plain writes. Every value is unique. The journal then tells the order of all versions, and
/// the sequence of a transaction which of them it must have read.
class RandomTransactions {
 public:
  using Key = std::pair<std::uint32_t, std::string>;  // With the number of the keyspace.
  using Value = std::optional<std::string>;

  RandomTransactions(Isolation isolation, std::uint64_t seed);

  void run(int threads, int transactions_per_thread);
  /// What is wrong with the history; empty if nothing is. Closes the store.
  std::string check();
  [[nodiscard]] std::uint64_t committed() const { return committed_; }
  [[nodiscard]] std::uint64_t conflicts() const { return conflicts_; }

 private:
  /// A committed transaction.
  struct Done {
    std::uint32_t id = 0;
    std::uint64_t snapshot = 0;
    std::map<Key, Value> reads;  // Of the store, beneath own writes.
    std::map<Key, Value> writes;
  };
  struct Version {
    std::uint64_t sequence = 0;
    std::uint32_t writer = 0;
    Value value;
  };
  class Running;

  void run_thread(int thread, int transactions);
  void write_outside(std::uint32_t id, SplitMix64& random);
  void fail(const std::string& what);
  bool load_versions();
  void add_versions(std::uint32_t keyspace, const Entry& entry, std::uint32_t marked);
  std::string check_reads(const Done& done) const;
  std::string check_writes(const Done& done) const;
  std::string find_cycle() const;
  [[nodiscard]] std::size_t versions_until(const Key& key, std::uint64_t sequence) const;

  const Isolation isolation_;
  const std::uint64_t seed_;
  MemoryFileSystem files_;
  DB db_;
  std::vector<Keyspace> keyspaces_;
  std::mutex mutex_;
  std::vector<Done> done_;
  std::string failure_;
  std::map<Key, std::vector<Version>> versions_;
  std::uint64_t committed_ = 0;
  std::uint64_t conflicts_ = 0;
  std::uint64_t removed_by_range_ = 0;  // Keys.
};

}  // namespace tamis::test
