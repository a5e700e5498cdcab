// The implementation of Snapshot.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "engine/live_handles.h"
#include "engine/store.h"
#include "entry/entry.h"
#include "tamis/caller.h"

namespace tamis {

/// A sequence that compactions keep readable while this lives. Keeps no view (rule 9), except in a follower: the
/// writer's compactions do not know of it.
///
/// Threads: constant.
class SnapshotState {
 public:
  /// Of this moment.
  SnapshotState(std::shared_ptr<Store> store, Caller caller, std::string_view kind = "snapshot")
      : store_(std::move(store)), handle_({.kind = kind, .caller = caller}) {
    handle_.drops =
        store_->live_handles().drops();  // Before the views, which then may lack a keyspace, not vice versa.
    followed_ = store_->followed_now();
    handle_.sequence = followed_.sequence;
    if (followed_.views != nullptr) {
      store_->live_handles().add_followed(handle_, store_->expiry());
    } else {
      store_->live_handles().add_snapshot(handle_, store_->published(), store_->expiry());
    }
  }
  ~SnapshotState() {
    if (store_->is_of_another_process()) {
      leave_to_parent(store_);
    } else {
      store_->live_handles().remove(handle_);
    }
  }
  SnapshotState(const SnapshotState&) = delete;
  SnapshotState& operator=(const SnapshotState&) = delete;

  [[nodiscard]] Sequence sequence() const { return handle_.sequence; }
  /// When it was taken, if anything in the store could expire then.
  [[nodiscard]] std::uint64_t time() const { return handle_.time; }
  /// How many keyspaces had been dropped before.
  [[nodiscard]] std::uint64_t drops() const { return handle_.drops; }
  /// What it sees, in a follower.
  [[nodiscard]] const FollowedMoment& followed() const { return followed_; }
  [[nodiscard]] bool belongs_to(const Store& store) const { return store_.get() == &store; }

 private:
  const std::shared_ptr<Store> store_;
  LiveHandle handle_;
  FollowedMoment followed_;
};

/// A snapshot from before the drop still sees the keyspace.
inline Status check_visible(const OpenKeyspace& keyspace, const Snapshot* snapshot) {
  if (!keyspace.is_dropped()) return {};
  const bool has_state = snapshot != nullptr && snapshot->state() != nullptr;
  if (has_state && keyspace.is_visible_after(snapshot->state()->drops())) return {};
  return Status::invalid_argument("the keyspace '" + keyspace.name + "' was dropped");
}

}  // namespace tamis
