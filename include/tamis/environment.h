// What a program may bring to a store besides options: its own ears, and, in tests, its own world.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "tamis/export.h"
#include "tamis/status.h"

namespace tamis {

class FileSystem;  // src/io/file_system.h; not yet for others to implement.

/// Something the store did by itself.
struct StoreEvent {
  enum class Kind : std::uint8_t {
    kFlushed,
    kCompacted,
    kMoved,       ///< Tables went down a level without being rewritten.
    kStallBegan,  ///< Writes are slowed down; `what` says why.
    kStallEnded,
    kBackgroundError,  ///< Writes have stopped; `what` says why.
    kResumed,
    kRecovered,
  };
  Kind kind = Kind::kFlushed;
  std::uint64_t tables = 0;  ///< Written or moved.
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::string_view what;  ///< For people; lives for the call.
};

/// Is told of events, from any thread, one at a time; must not call the store.
class TAMIS_EXPORT EventListener {
 public:
  virtual ~EventListener() = default;
  virtual void on_event(const StoreEvent& event) = 0;
};

/// Null and empty mean the machine's own. What is pointed to must outlive the store.
struct Environment {
  FileSystem* files = nullptr;
  EventListener* listener = nullptr;
  /// Ids, salts and the store's key are drawn from this instead of from the machine, so that a run can be had again.
  std::optional<std::uint64_t> random_seed = {};
  /// False: flushes and compactions run inside the write that made them due, in a fixed order.
  bool runs_in_background = true;
  /// Only without a background: when a flush or compaction that is due runs, and which first, is drawn from this at
  /// every write. Nothing waits for one that runs already: kBusy instead. Threads must take turns.
  std::optional<std::uint64_t> schedule_seed = {};
  /// The time, from any thread. Empty: the machine's; but with a random_seed it stands still. Only deletes that wait
  /// for a compaction are counted by it, so that a clock that jumps costs work and no answer.
  std::function<std::uint64_t()> unix_seconds = {};
};

}  // namespace tamis
