// A store that answers the same calls as the others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/operation.h"

namespace tamis::test {

/// Is at an entry between its bounds, or at none. Must end before its store is reopened or destroyed.
///
/// Threads: one at a time.
class PeerWalk {
 public:
  using Place = std::optional<std::pair<std::string, std::string>>;

  virtual ~PeerWalk() = default;
  /// Precondition of next and previous: it is at an entry.
  virtual void move(const Move& move) = 0;
  [[nodiscard]] virtual Place place() const = 0;
};

/// The common interface of the ordered stores tamis, RocksDB and LevelDB. A slot names a snapshot; an empty slot reads
/// the current state. Errors end the program: none of these stores should report any.
///
/// Threads: one at a time.
class PeerStore {
 public:
  virtual ~PeerStore() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  virtual void write(const std::vector<Change>& changes, bool syncs) = 0;
  virtual std::optional<std::string> get(const std::string& key, std::optional<std::uint32_t> slot) = 0;
  virtual std::vector<std::optional<std::string>> multi_get(const std::vector<std::string>& keys,
                                                            std::optional<std::uint32_t> slot) = 0;
  virtual std::unique_ptr<PeerWalk> walk(const Bounds& bounds, std::optional<std::uint32_t> slot) = 0;
  virtual void take_snapshot(std::uint32_t slot) = 0;
  virtual void release(std::uint32_t slot) = 0;
  virtual void flush() = 0;
  virtual void compact() = 0;
  /// No iterator may be left; snapshots are released.
  virtual void reopen() = 0;
};

/// Each on its own in-memory disk.
std::unique_ptr<PeerStore> make_tamis_peer(std::uint64_t seed);
std::unique_ptr<PeerStore> make_rocksdb_peer();
std::unique_ptr<PeerStore> make_leveldb_peer();

}  // namespace tamis::test
