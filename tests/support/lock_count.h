// Counts acquired mutexes and read-write locks by interposing the system's functions. Include it in exactly one file of
// a test program.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#include <cstdint>

namespace tamis::test {

inline thread_local std::uint64_t locks_taken = 0;  // By this thread.

/// The system's own function of that name.
template <typename Function>
Function* beneath(Function* /*ours*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace tamis::test

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto lock = tamis::test::beneath(&pthread_mutex_lock, "pthread_mutex_lock");
  ++tamis::test::locks_taken;
  return lock(mutex);
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static const auto lock = tamis::test::beneath(&pthread_mutex_trylock, "pthread_mutex_trylock");
  ++tamis::test::locks_taken;
  return lock(mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* mutex) noexcept {
  static const auto lock = tamis::test::beneath(&pthread_rwlock_rdlock, "pthread_rwlock_rdlock");
  ++tamis::test::locks_taken;
  return lock(mutex);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* mutex) noexcept {
  static const auto lock = tamis::test::beneath(&pthread_rwlock_wrlock, "pthread_rwlock_wrlock");
  ++tamis::test::locks_taken;
  return lock(mutex);
}

}  // extern "C"
