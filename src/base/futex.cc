#include "base/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace tamis::futex {

void wait(const void* word, std::uint32_t value, const std::chrono::nanoseconds* at_most) {
  constexpr std::chrono::nanoseconds::rep kSecond = 1'000'000'000;
  timespec time{};
  if (at_most != nullptr) time = {.tv_sec = at_most->count() / kSecond, .tv_nsec = at_most->count() % kSecond};
  (void)::syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, at_most == nullptr ? nullptr : &time, nullptr, 0);
}

void wake(const void* word) { (void)::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

}  // namespace tamis::futex
