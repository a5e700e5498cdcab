// A thread that is paused inside an allocation, with whatever mutexes it holds there.
#pragma once

#include <atomic>
#include <thread>

namespace tamis::test {

/// Called by this program's operator new (no_memory_test.cc).
struct HeldAllocation {
  static inline thread_local int countdown = 0;  ///< The thread pauses in its n-th allocation; 0: in none.
  static inline std::atomic<bool> stands = false;
  static inline std::atomic<bool> may_go_on = false;

  static void check() {
    if (countdown == 0 || --countdown > 0) return;
    stands = true;
    while (!may_go_on) std::this_thread::yield();
  }
};

}  // namespace tamis::test
