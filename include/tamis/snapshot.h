// A moment of a store that stays readable.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "tamis/export.h"

namespace tamis {

class SnapshotState;  // src/engine.

/// What the store held when DB::snapshot was called, for as long as this handle or a copy of it lives. It keeps old
/// versions of entries from being compacted away, and nothing else.
///
/// A snapshot that was default-constructed or moved from belongs to no store: reading with it is kInvalidArgument.
///
/// Threads: any number may read with it at once; it is moved and destroyed by one. May outlive its DB, whose reads then
/// answer kClosed.
class TAMIS_EXPORT Snapshot {
 public:
  /// Belongs to no store.
  Snapshot() = default;
  /// For DB::snapshot.
  explicit Snapshot(std::shared_ptr<const SnapshotState> state) : state_(std::move(state)) {}

  /// How many writes it sees, each put and remove counting one; 0 when it belongs to no store.
  [[nodiscard]] std::uint64_t sequence() const;
  /// For the library; null when it belongs to no store.
  [[nodiscard]] const SnapshotState* state() const { return state_.get(); }

 private:
  std::shared_ptr<const SnapshotState> state_;
};

}  // namespace tamis
