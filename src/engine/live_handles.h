// The live iterators and snapshots of an open store.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/sync.h"
#include "engine/expiry_clock.h"
#include "engine/published_sequence.h"
#include "entry/entry.h"
#include "tamis/caller.h"

namespace tamis {

/// A member of an iterator or a snapshot. It must not move while it is in the list.
struct LiveHandle {
  std::string_view kind;
  Caller caller;
  // Of a snapshot only:
  Sequence sequence = kMaxSequence;
  std::uint64_t time = 0;   // When it was taken, if anything could expire then.
  std::uint64_t drops = 0;  // How many keyspaces had been dropped before it.
  // Links of the list.
  LiveHandle* before = nullptr;
  LiveHandle* after = nullptr;
};

/// Lists handles by kind and place of creation, and the sequences that snapshots keep readable.
///
/// Threads: any. Its mutex is the innermost.
class LiveHandles {
 public:
  void add(LiveHandle& handle) EXCLUDES(mutex_);
  /// A snapshot of this moment. Its sequence and time are read and registered in one step, so that `readable` never
  /// misses a snapshot that it does not cover (rules 9 and 30).
  void add_snapshot(LiveHandle& handle, const PublishedSequence& published, const ExpiryClock& expiry) EXCLUDES(mutex_);
  /// A snapshot of a follower, whose sequence and drops are set already.
  void add_followed(LiveHandle& handle, const ExpiryClock& expiry) EXCLUDES(mutex_);
  void remove(LiveHandle& handle) EXCLUDES(mutex_);

  [[nodiscard]] bool empty() const EXCLUDES(mutex_);
  [[nodiscard]] std::size_t snapshots() const EXCLUDES(mutex_);
  /// The sequence of the oldest snapshot; none if there is no snapshot.
  [[nodiscard]] std::optional<Sequence> oldest_snapshot() const EXCLUDES(mutex_);
  /// What a rewrite that begins now must keep readable: the sequences of the snapshots and the newest one, ascending,
  /// each once; and by when an entry must be due to be expired, for each (rule 30): the horizon and the times of all
  /// snapshots that can see it, the earliest of these.
  struct Readable {
    std::vector<Sequence> sequences;
    std::vector<std::uint64_t> expired_by;
  };
  [[nodiscard]] Readable readable(const PublishedSequence& published, std::uint64_t horizon) const EXCLUDES(mutex_);
  /// A keyspace is dropped: the number of drops with this one. Later snapshots have at least this many before them.
  std::uint64_t count_drop() EXCLUDES(mutex_);
  [[nodiscard]] std::uint64_t drops() const EXCLUDES(mutex_);
  /// How many keyspaces had been dropped before the oldest snapshot; none if there is no snapshot.
  [[nodiscard]] std::optional<std::uint64_t> drops_before_snapshots() const EXCLUDES(mutex_);
  /// "iterator made at demo.cc:12, snapshot made at demo.cc:14".
  [[nodiscard]] std::string to_text() const EXCLUDES(mutex_);

 private:
  void link(LiveHandle& handle) REQUIRES(mutex_);

  mutable Mutex mutex_;
  LiveHandle* oldest_ GUARDED_BY(mutex_) = nullptr;
  LiveHandle* newest_ GUARDED_BY(mutex_) = nullptr;
  std::size_t count_ GUARDED_BY(mutex_) = 0;
  std::multiset<Sequence> sequences_ GUARDED_BY(mutex_);
  std::uint64_t drops_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tamis
