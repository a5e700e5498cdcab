// What a program may give a store besides options: a listener, and, in tests, files, clock and schedule.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "tamis/export.h"
#include "tamis/status.h"

namespace tamis {

class FileSystem;  // src/io/file_system.h; not yet for others to implement.

/// Something the store did in the background.
struct StoreEvent {
  /// What happened.
  enum class Kind : std::uint8_t {
    kFlushed,          ///< A memtable was written to a table.
    kCompacted,        ///< Tables were merged.
    kMoved,            ///< Tables moved down a level without being rewritten.
    kStallBegan,       ///< Writes are slowed down; `what` says why.
    kStallEnded,       ///< Writes run at full speed again.
    kBackgroundError,  ///< Writes have stopped; `what` says why.
    kResumed,          ///< Writes continue after a background error.
    kRecovered,        ///< The store was opened after a crash.
  };
  Kind kind = Kind::kFlushed;  ///< What happened.
  std::uint64_t tables = 0;    ///< Tables written or moved.
  std::uint64_t entries = 0;   ///< Entries in those tables.
  std::uint64_t bytes = 0;     ///< Bytes of those tables.
  std::string_view what;       ///< A description for people; lives for the call.
};

/// Receives events, from any thread, one at a time. Must not call the store.
class TAMIS_EXPORT EventListener {
 public:
  virtual ~EventListener() = default;  ///< The listener must outlive the store.
  /// Called once for each event.
  virtual void on_event(const StoreEvent& event) = 0;
};

/// What a store uses of its surroundings. Null and empty mean the machine's own. What is pointed to must outlive the
/// store.
struct Environment {
  FileSystem* files = nullptr;        ///< Where files live; for tests.
  EventListener* listener = nullptr;  ///< Is told what the store does in the background.
  /// The source of ids, salts and the store's key, for tests that must be repeatable. None: the machine's randomness.
  std::optional<std::uint64_t> random_seed = {};
  /// False: flushes and compactions run inside the write that made them due, in a fixed order.
  bool runs_in_background = true;
  /// Without a background only: draws when a due flush or compaction runs, and which one first, at every write. Nothing
  /// waits for one that is running: kBusy instead. Threads must take turns.
  std::optional<std::uint64_t> schedule_seed = {};
  /// The time in seconds, called from any thread. Empty: the machine's clock, or, with a random_seed, one that stands
  /// still. It is used only to decide when old deletes are compacted: a clock that jumps costs work, never an answer.
  std::function<std::uint64_t()> unix_seconds = {};
};

}  // namespace tamis
