// Looking at shared memory without counting references, and freeing it when nobody can be looking any more.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/aligned_bytes.h"
#include "base/check.h"

namespace tamis {
namespace epoch {

/// Where a thread says since when it has been looking. Records are reused when threads end, and never freed.
struct alignas(kCacheLineBytes) Record {
  std::atomic<std::uint64_t> since = 0;  // 0: it is not looking.
  std::atomic<bool> is_taken = true;
  Record* next = nullptr;  // Constant once published.
};

extern std::atomic<std::uint64_t> now;  // Begins at 1.
extern constinit thread_local Record* my_record;
Record* take_record();

/// To be called after something was unlinked, so that who begins to look now cannot reach it. It may be freed once
/// has_passed(the number returned).
std::uint64_t retire();
/// Whether everybody who was looking at that time has stopped.
bool has_passed(std::uint64_t retired);
/// Returns once it has passed. Not inside a guard of the same thread.
void wait(std::uint64_t retired);

}  // namespace epoch

/// While one lives, what its thread reaches through shared pointers stays, even if it is unlinked meanwhile. Only work
/// in memory may go on inside, no disk and no waiting: others wait for the end of it before they free (rule 10).
///
/// The shared pointers must be loaded, and cleared, with sequential consistency: then either the one who clears sees
/// this guard, or the guard's thread sees the cleared pointer.
///
/// Threads: belongs to the one that made it. One at a time per thread.
class EpochGuard {
 public:
  EpochGuard() : record_(epoch::my_record != nullptr ? epoch::my_record : epoch::take_record()) {
    TAMIS_INVARIANT(record_->since.load(std::memory_order_relaxed) == 0);
    record_->since.exchange(epoch::now.load());
  }
  ~EpochGuard() { record_->since.store(0, std::memory_order_release); }
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;

 private:
  epoch::Record* const record_;
};

}  // namespace tamis
