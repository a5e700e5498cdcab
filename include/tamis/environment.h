// What a program may pass to a store besides options: a listener and, in tests, files, clock and schedule.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "tamis/export.h"
#include "tamis/status.h"

namespace tamis {

class FileSystem;  // src/io/file_system.h; not yet a public interface.

/// A background event of the store.
struct StoreEvent {
  /// What happened.
  enum class Kind : std::uint8_t {
    kFlushed,          ///< A memtable was written to a table.
    kCompacted,        ///< A compaction merged tables.
    kMoved,            ///< Tables moved down a level without a rewrite.
    kStallBegan,       ///< Writes are being slowed; `what` says why.
    kStallEnded,       ///< Writes run at full speed again.
    kBackgroundError,  ///< Writes have stopped; `what` says why.
    kResumed,          ///< Writes continue after a background error.
    kRecovered,        ///< The store was opened after a crash.
  };
  Kind kind = Kind::kFlushed;  ///< What happened.
  std::uint64_t tables = 0;    ///< Tables written or moved.
  std::uint64_t entries = 0;   ///< Entries in those tables.
  std::uint64_t bytes = 0;     ///< Bytes of those tables.
  std::string_view what;       ///< A description, valid during the call.
};

/// Receives events from any thread, one at a time. Must not call the store.
class TAMIS_EXPORT EventListener {
 public:
  virtual ~EventListener() = default;  ///< The listener must outlive the store.
  /// Called once per event.
  virtual void on_event(const StoreEvent& event) = 0;
};

/// The surroundings of a store. Null and empty values select the machine's own. Pointees must outlive the store.
struct Environment {
  FileSystem* files = nullptr;        ///< The file system; for tests.
  EventListener* listener = nullptr;  ///< Receives background events.
  /// Seeds ids, salts and the store's key, for repeatable tests. None: the machine's randomness.
  std::optional<std::uint64_t> random_seed = {};
  /// False: the write that makes a flush or compaction due runs it, in a fixed order.
  bool runs_in_background = true;
  /// Requires runs_in_background = false. Decides at every write whether a due flush or compaction runs, and which runs
  /// first. Nothing waits for a running one: calls return kBusy. Threads must take turns.
  std::optional<std::uint64_t> schedule_seed = {};
  /// The time in milliseconds since 1970 (UTC); called from any thread. Empty: the machine's clock or, with a
  /// random_seed, a frozen one. It is recorded with commits, decides when old tombstones are compacted and when values
  /// expire. A clock that jumps ahead hides values before they are due, but does not destroy them.
  std::function<std::uint64_t()> unix_milliseconds = {};
  /// Milliseconds since a fixed moment, which no one sets; called from any thread. Empty: the time since the machine
  /// was started or, with a random_seed, a frozen one. Expired values are dropped no faster than this clock runs.
  std::function<std::uint64_t()> uptime_milliseconds = {};
};

}  // namespace tamis
