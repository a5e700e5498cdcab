// A cleanly closed store whose files are changed from outside.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "crash/store_ledger.h"
#include "support/crash_file_system.h"
#include "tamis/options.h"

namespace tamis::test {

/// A store on a disk, and what it holds.
struct ClosedStore {
  MemoryDisk disk;
  Options options;
  Content content;
  std::vector<std::string> probed;  ///< Its keys, removed keys, and keys that never existed.

  /// Its files except LOCK, which nobody reads.
  [[nodiscard]] std::vector<std::string> files() const;
  [[nodiscard]] const std::string& bytes_of(const std::string& path) const;
};

/// With tables in two levels, tombstones, and entries that are only in the journal.
ClosedStore make_closed_store(const Options& options, std::uint64_t seed);

/// The suffix of a store file's name, or its prefix where that says more: ".tms", "MANIFEST".
std::string kind_of(const std::string& path);

struct DamageCounts {
  std::uint64_t tried = 0;
  std::uint64_t refused = 0;                           ///< The store did not open.
  std::uint64_t told = 0;                              ///< It opened; some reads reported the damage.
  std::uint64_t unnoticed = 0;                         ///< Every answer was right.
  std::map<std::string, std::uint64_t> tried_by_kind;  ///< See kind_of.
  std::map<std::string, std::uint64_t> unnoticed_by_kind;
  std::vector<std::string> violations;
};

/// Opens the store with this file changed and reads everything. Every answer must be right, or kCorruption or
/// kNotSupported with the file's name; if it does not open, nothing on disk has changed (P3, P4, P7).
void read_damaged(const ClosedStore& store, const std::string& path, const std::string& what,
                  const std::function<void(CachedFile& file)>& damage, DamageCounts& counts);

/// Every `stride`-th byte of every file, starting at `first`, alternately by one bit and by all.
void flip_bytes(const ClosedStore& store, std::uint64_t first, std::uint64_t stride, DamageCounts& counts);
/// Every file truncated to each `stride`-th length.
void cut_files(const ClosedStore& store, std::uint64_t stride, DamageCounts& counts);

}  // namespace tamis::test
