// A readable past state of a store.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "tamis/export.h"

namespace tamis {

class SnapshotState;  // src/engine.

/// The state of the store when DB::snapshot was called, readable as long as this handle or a copy lives. It only keeps
/// old versions of entries from being compacted away.
///
/// A snapshot that was default-constructed or moved from belongs to no store: reading with it returns kInvalidArgument.
///
/// Threads: any number may read with it concurrently; one moves and destroys it. May outlive its DB, whose reads then
/// return kClosed.
class TAMIS_EXPORT Snapshot {
 public:
  /// Belongs to no store.
  Snapshot() = default;
  /// For DB::snapshot.
  explicit Snapshot(std::shared_ptr<const SnapshotState> state) : state_(std::move(state)) {}

  /// The number of writes it sees, counting each put and remove; 0 if it belongs to no store.
  [[nodiscard]] std::uint64_t sequence() const;
  /// For the library; null if it belongs to no store.
  [[nodiscard]] const SnapshotState* state() const { return state_.get(); }

 private:
  std::shared_ptr<const SnapshotState> state_;
};

}  // namespace tamis
