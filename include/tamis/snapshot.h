// A moment of a store that stays readable.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "tamis/export.h"

namespace tamis {

class SnapshotState;  // src/engine.

/// What the store held when DB::snapshot was called, for as long as this handle lives. It keeps old versions from
/// being compacted away and nothing else.
///
/// Threads: may be read from by any number; moved and destroyed by one. May outlive its DB, whose reads then answer
/// kClosed.
class TAMIS_EXPORT Snapshot {
 public:
  Snapshot() = default;
  explicit Snapshot(std::shared_ptr<const SnapshotState> state) : state_(std::move(state)) {}

  /// How many writes it sees: each put and remove counts one.
  [[nodiscard]] std::uint64_t sequence() const;
  [[nodiscard]] const SnapshotState* state() const { return state_.get(); }

 private:
  std::shared_ptr<const SnapshotState> state_;
};

}  // namespace tamis
