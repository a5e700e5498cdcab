// Counts acquired mutexes and read-write locks by interposing the system's functions. Costs other programs nothing.
#pragma once

#include <cstdint>
#include <vector>

namespace tamis::test {

/// By the calling thread, since it began.
std::uint64_t locks_taken();

/// Which locks the calling thread takes during its lifetime, in their order; a lock is its address.
///
/// Threads: one; one recording at a time per thread.
class RecordedLocks {
 public:
  RecordedLocks();
  RecordedLocks(const RecordedLocks&) = delete;
  RecordedLocks& operator=(const RecordedLocks&) = delete;
  ~RecordedLocks();

  [[nodiscard]] const std::vector<const void*>& taken() const { return taken_; }

 private:
  std::vector<const void*> taken_;
};

}  // namespace tamis::test
