// What all parts of an open store share: its folder, its options and its surroundings.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/sync.h"
#include "compaction/rewriter.h"
#include "engine/expiry_clock.h"
#include "engine/timed_calls.h"
#include "entry/merge_operators.h"
#include "io/file_system.h"
#include "tamis/environment.h"
#include "tamis/options.h"
#include "tree/manifest.h"

namespace tamis {

/// Constant once the store is open, but for the expiry clock and the timed calls; `identity` and `hasher` are set when
/// the manifest has been read.
///
/// Threads: any. The listener is called by one thread at a time.
struct StoreContext {
  StoreContext(std::string path, const Options& given_options, const Environment& given_environment);

  /// With a random_seed and no clock of the caller's, time stands still, so that a run can be repeated.
  [[nodiscard]] std::uint64_t now_unix_seconds() const { return precise_unix_milliseconds() / 1000; }
  /// The same clock, as coarse as the machine's cheapest one: a few milliseconds.
  [[nodiscard]] std::uint64_t now_unix_milliseconds() const {
    if (has_own_clock) [[unlikely]]
      return precise_unix_milliseconds();
    return coarse_unix_milliseconds();
  }
  /// The same clock, to the millisecond: for values that expire.
  [[nodiscard]] std::uint64_t precise_unix_milliseconds() const;
  [[nodiscard]] Uptime uptime() const;

  /// Tells the listener, if there is one.
  void tell(StoreEvent::Kind kind, std::string_view what, const RewriteResult* result = nullptr) const
      EXCLUDES(listener_mutex);

  /// kNotSupported where the store was opened read-only.
  [[nodiscard]] Status check_writable() const;

  const std::string directory;
  const Options options;
  const Environment environment;
  const bool has_own_clock;  ///< Time is not the machine's.
  FileSystem& files;
  const std::unique_ptr<RandomSource> random;
  const std::uint64_t memtable_bytes;  ///< A memtable is sealed at this size: 7/8 of its share of memory.
  TableIdentity identity = {};
  KeyHasher hasher;
  mutable ExpiryClock expiry{*this};  ///< Synchronised in itself.
  mutable TimedCalls timed;           ///< The same.
  const MergeOperators operators{options.merge_operators};
  mutable Mutex listener_mutex;

 private:
  static std::uint64_t coarse_unix_milliseconds();
};

}  // namespace tamis
