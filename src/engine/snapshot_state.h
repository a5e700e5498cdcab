// What stands behind a Snapshot.
#pragma once

#include <memory>
#include <utility>

#include "engine/engine.h"
#include "engine/live_handles.h"
#include "entry/entry.h"
#include "tamis/caller.h"

namespace tamis {

/// A sequence that compactions keep readable for as long as this lives. Pins no view (rule 9).
///
/// Threads: constant.
class SnapshotState {
 public:
  SnapshotState(std::shared_ptr<Engine> engine, Sequence sequence, Caller caller)
      : engine_(std::move(engine)), handle_({.kind = "snapshot", .caller = caller, .sequence = sequence}) {
    engine_->live_handles().add(handle_);
  }
  ~SnapshotState() {
    if (engine_->is_of_another_process()) {
      leave_to_parent(engine_);
    } else {
      engine_->live_handles().remove(handle_);
    }
  }
  SnapshotState(const SnapshotState&) = delete;
  SnapshotState& operator=(const SnapshotState&) = delete;

  [[nodiscard]] Sequence sequence() const { return handle_.sequence; }
  [[nodiscard]] bool belongs_to(const Engine& engine) const { return engine_.get() == &engine; }

 private:
  const std::shared_ptr<Engine> engine_;
  LiveHandle handle_;
};

}  // namespace tamis
