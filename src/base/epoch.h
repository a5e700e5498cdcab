// Epoch-based reclamation: reads shared memory without reference counts, and frees it once no reader can hold it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/aligned_bytes.h"
#include "base/check.h"

namespace tamis {
namespace epoch {

/// Announces since when a thread has been reading. Records are reused when threads end, and never freed.
struct alignas(kCacheLineBytes) Record {
  std::atomic<std::uint64_t> since = 0;  // 0: it is not reading.
  std::atomic<bool> is_taken = true;
  Record* next = nullptr;  // Constant once published.
};

extern std::atomic<std::uint64_t> now;  // Starts at 1.
extern constinit thread_local Record* my_record;
Record* take_record();

/// Call after unlinking something, so that new readers cannot reach it. It may be freed once has_passed(the number
/// returned).
std::uint64_t retire();
/// Whether all readers of that time have finished.
bool has_passed(std::uint64_t retired);
/// Returns once it has passed. Must not be called inside a guard of the same thread.
void wait(std::uint64_t retired);

}  // namespace epoch

/// While a guard exists, everything its thread reaches through shared pointers stays valid, even if unlinked meanwhile.
/// Do only in-memory work inside it, no disk access and no waiting: others wait for its end before they free (rule 10).
///
/// The shared pointers must be loaded, and cleared, with sequential consistency: then either the thread that clears
/// sees this guard, or the guard's thread sees the cleared pointer.
///
/// Threads: belongs to the thread that created it. One at a time per thread.
class EpochGuard {
 public:
  EpochGuard() : record_(epoch::my_record != nullptr ? epoch::my_record : epoch::take_record()) {
    TAMIS_INVARIANT(record_->since.load(std::memory_order_relaxed) == 0);
    record_->since.exchange(epoch::now.load());
  }
  ~EpochGuard() { leave(); }
  /// Ends it early.
  void leave() const { record_->since.store(0, std::memory_order_release); }
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;

 private:
  epoch::Record* const record_;
};

}  // namespace tamis
