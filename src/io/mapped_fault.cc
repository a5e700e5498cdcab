#include "io/mapped_fault.h"

#include <pthread.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/check.h"
#include "base/sync.h"

namespace tamis {
namespace {

constexpr std::uintptr_t kPageBytes = 4096;  // Real pages may be larger; their addresses are multiples of it as well.
/// Each open store has at most one window; stores beyond this limit write their journals.
constexpr std::size_t kMaxStretches = 256;

std::array<FaultWatch::Slot, kMaxStretches> slots;

std::uintptr_t begin_of(std::uintptr_t stretch) { return stretch / kPageBytes * kPageBytes; }
std::uintptr_t bytes_of(std::uintptr_t stretch) { return stretch % kPageBytes * kPageBytes; }

/// Async-signal-safe, like everything the handler calls. Replaces the whole range, not one page: no mapping is split,
/// so the limit on mappings does not matter, and the rest of the store cannot fault.
bool give_way(std::uintptr_t address) {
  for (FaultWatch::Slot& slot : slots) {
    const std::uintptr_t stretch = slot.stretch.load(std::memory_order_relaxed);
    if (address - begin_of(stretch) >= bytes_of(stretch)) continue;
    slot.has_failed.store(true, std::memory_order_relaxed);
    void* const begin = reinterpret_cast<void*>(begin_of(stretch));  // NOLINT(performance-no-int-to-ptr)
    return ::mmap(begin, bytes_of(stretch), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
  }
  return false;
}

/// Not ours: restores the default disposition and raises the signal again. A fault recurs by itself, so a core file
/// shows where; a signal that was sent is sent again and arrives when this returns.
void end_as_without_us(int code) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  (void)::sigaction(SIGBUS, &standard, nullptr);
  const bool recurs = code == BUS_ADRERR || code == BUS_ADRALN || code == BUS_OBJERR || code == BUS_MCEERR_AR;
  if (!recurs) (void)::raise(SIGBUS);
}

void handle_bus_error(int /*signal*/, siginfo_t* info, void* /*context*/) {
  const int error = errno;
  const bool is_ours = info->si_code == BUS_ADRERR && give_way(reinterpret_cast<std::uintptr_t>(info->si_addr));
  if (!is_ours) end_as_without_us(info->si_code);
  errno = error;
}

bool is_our_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == handle_bus_error;
}

bool is_default(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

/// File mappings are not inherited by a child: the memory at their addresses is not ours.
void forget_all() {
  for (FaultWatch::Slot& slot : slots) slot.stretch.store(0, std::memory_order_relaxed);
}

bool install_handler() {
  static Mutex mutex;
  MutexLock lock(mutex);
  struct sigaction before {};
  if (::sigaction(SIGBUS, nullptr, &before) != 0) return false;
  if (is_our_handler(before)) return true;
  if (!is_default(before)) return false;
  static const int registered = pthread_atfork(nullptr, nullptr, forget_all);
  if (registered != 0) return false;
  struct sigaction ours {};
  ours.sa_sigaction = handle_bus_error;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  if (::sigaction(SIGBUS, &ours, &before) != 0) return false;
  if (is_default(before)) return true;
  (void)::sigaction(SIGBUS, &before, nullptr);  // The program installed its handler between the two calls.
  return false;
}

}  // namespace

bool FaultWatch::begin(void* memory, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  TAMIS_CHECK(slot_ == nullptr && address % kPageBytes == 0 && bytes % kPageBytes == 0);
  TAMIS_CHECK(bytes > 0 && bytes / kPageBytes < kPageBytes);
  if (!install_handler()) return false;
  stretch_ = address + bytes / kPageBytes;
  for (Slot& slot : slots) {
    std::uintptr_t free = 0;
    if (!slot.stretch.compare_exchange_strong(free, stretch_, std::memory_order_relaxed)) continue;
    slot.has_failed.store(false, std::memory_order_relaxed);
    slot_ = &slot;
    return true;
  }
  return false;
}

void FaultWatch::end() {
  if (slot_ == nullptr) return;
  std::uintptr_t ours = stretch_;  // In a child another range may own the slot.
  slot_->stretch.compare_exchange_strong(ours, 0, std::memory_order_relaxed);
  slot_ = nullptr;
}

bool thread_survives_fault() {
  struct sigaction now {};
  sigset_t blocked;
  return ::sigaction(SIGBUS, nullptr, &now) == 0 && is_our_handler(now) &&
         ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked) == 0 && ::sigismember(&blocked, SIGBUS) == 0;
}

}  // namespace tamis
