// Work that several threads share.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <vector>

#include "base/change_signal.h"
#include "base/sync.h"

namespace tamis {

/// Lets idle threads help with the pieces of a large job.
///
/// Threads: any. Pieces run without the mutex.
class SharedWork {
 public:
  using Piece = std::function<void()>;

  explicit SharedWork(ChangeSignal& changes) : changes_(changes) {}

  /// Returns when all pieces are done: by this thread, and by those that help meanwhile. Pieces do not wait for each
  /// other.
  void run(const std::vector<Piece>& pieces) EXCLUDES(mutex_);
  /// Does one piece of another thread's job. False if there is none.
  bool help() EXCLUDES(mutex_);

 private:
  struct Offer {
    const std::vector<Piece>* pieces = nullptr;
    std::size_t begun = 0;
    std::size_t done = 0;
  };

  /// Runs the next piece of the offer, which has one.
  void run_next(Offer& offer) REQUIRES(mutex_);

  ChangeSignal& changes_;
  Mutex mutex_;
  Condition is_done_;
  std::list<Offer> offers_ GUARDED_BY(mutex_);
};

}  // namespace tamis
