// Options of single calls.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "tamis/expiry.h"
#include "tamis/snapshot.h"

namespace tamis {

/// Options for one write.
struct WriteOptions {
  bool sync = false;  ///< Return only once the write would survive a machine crash.
  /// How long after the write its values expire: readers then find none, and compaction drops them. 0: the default of
  /// the keyspace. kNeverExpires: never. Puts of a batch that have a time of their own keep it.
  std::chrono::milliseconds expires_in = {};
};

/// Options for one read.
struct ReadOptions {
  const Snapshot* snapshot = nullptr;  ///< Read the store as of this snapshot; null: now.
  bool fills_cache = true;             ///< Whether to cache blocks read from disk.
};

/// The keys in [from, to).
struct Range {
  std::string_view from = {};               ///< The first key; empty: the beginning.
  std::optional<std::string_view> to = {};  ///< The first key after the range; none: the end.
};

/// Reports the progress of a long task; `total` may grow. Return false to stop the task.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

}  // namespace tamis
