// Who still holds a piece of an open store.
#pragma once

#include <cstdint>
#include <list>
#include <set>
#include <string>
#include <vector>

#include "base/sync.h"
#include "entry/entry.h"
#include "tamis/caller.h"

namespace tamis {

/// The live iterators and snapshots, by kind and place of creation, and the sequences that snapshots keep readable.
///
/// Threads: any. Its mutex is the innermost.
class LiveHandles {
 public:
  struct Handle {
    std::string_view kind;
    Caller caller;
    Sequence sequence = kMaxSequence;  // Of a snapshot.
  };
  using Id = std::list<Handle>::iterator;

  Id add_iterator(Caller caller) EXCLUDES(mutex_);
  Id add_snapshot(Caller caller, Sequence sequence) EXCLUDES(mutex_);
  void remove(Id id) EXCLUDES(mutex_);

  [[nodiscard]] bool empty() const EXCLUDES(mutex_);
  [[nodiscard]] std::size_t snapshots() const EXCLUDES(mutex_);
  /// Ascending, each once.
  [[nodiscard]] std::vector<Sequence> sequences() const EXCLUDES(mutex_);
  /// "iterator made at demo.cc:12, snapshot made at demo.cc:14".
  [[nodiscard]] std::string to_text() const EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::list<Handle> handles_ GUARDED_BY(mutex_);
  std::multiset<Sequence> sequences_ GUARDED_BY(mutex_);
};

}  // namespace tamis
