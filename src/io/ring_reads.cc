#include "io/ring_reads.h"

#ifdef TAMIS_HAS_IO_URING

#include <liburing.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/check.h"

namespace tamis {
namespace {

constexpr unsigned kReadsAtOnce = 64;

/// Threads: one.
class Ring {
 public:
  Ring() : process_(::getpid()), is_open_(::io_uring_queue_init(kReadsAtOnce, &ring_, 0) == 0) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  /// In a forked child, the parent still uses the memory shared with the kernel; only our descriptor is closed.
  ~Ring() {
    if (!is_open_) return;
    if (belongs_to_this_process()) {
      ::io_uring_queue_exit(&ring_);
    } else {
      ::close(ring_.ring_fd);
    }
  }

  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] bool belongs_to_this_process() const { return process_ == ::getpid(); }

  /// At most kReadsAtOnce. Returns when none is in flight: until then the kernel owns their memory. False: the kernel
  /// did not take all, and the ring is unusable.
  bool read(std::span<RingRead> reads) {
    for (RingRead& read : reads) {
      io_uring_sqe* const entry = ::io_uring_get_sqe(&ring_);
      ::io_uring_prep_read(entry, read.descriptor, read.to.data(), static_cast<unsigned>(read.to.size()), read.offset);
      ::io_uring_sqe_set_data(entry, &read);
    }
    std::size_t handed_down = 0;
    for (int count = 0; handed_down < reads.size(); handed_down += static_cast<std::size_t>(count)) {
      count = retry([&] { return ::io_uring_submit(&ring_); });
      if (count <= 0) break;
    }
    for (std::size_t i = 0; i < handed_down; ++i) take_answer();
    return handed_down == reads.size();
  }

 private:
  template <typename Call>
  static int retry(Call call) {
    int result = call();
    while (result == -EINTR) result = call();
    return result;
  }
  void take_answer() {
    io_uring_cqe* answer = nullptr;
    TAMIS_CHECK(retry([&] { return ::io_uring_wait_cqe(&ring_, &answer); }) == 0);
    auto* const read = static_cast<RingRead*>(::io_uring_cqe_get_data(answer));
    read->done = answer->res > 0 ? static_cast<std::size_t>(answer->res) : 0;
    ::io_uring_cqe_seen(&ring_, answer);
  }

  const ::pid_t process_;
  ::io_uring ring_ = {};
  const bool is_open_;
};

/// This thread's ring; null if unavailable. A ring inherited through fork is replaced.
Ring* own_ring(std::optional<Ring>& ring) {
  if (!ring || (ring->is_open() && !ring->belongs_to_this_process())) ring.emplace();
  return ring->is_open() ? &*ring : nullptr;
}

}  // namespace

void read_by_ring(std::span<RingRead> reads) {
  thread_local std::optional<Ring> kept;
  for (Ring* ring = own_ring(kept); ring != nullptr && !reads.empty();) {
    const std::span<RingRead> part = reads.first(std::min<std::size_t>(kReadsAtOnce, reads.size()));
    if (!ring->read(part)) return kept.reset();
    reads = reads.subspan(part.size());
  }
}

}  // namespace tamis

#else

namespace tamis {

void read_by_ring(std::span<RingRead> /*reads*/) {}

}  // namespace tamis

#endif
