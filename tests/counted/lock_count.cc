#include "counted/lock_count.h"

#include <dlfcn.h>
#include <pthread.h>

namespace tamis::test {
namespace {

thread_local std::uint64_t taken_by_this_thread = 0;
thread_local std::vector<const void*>* recording = nullptr;

void count_lock(const void* lock) {
  ++taken_by_this_thread;
  if (recording != nullptr) recording->push_back(lock);
}

/// The system's own function of that name.
template <typename Function>
Function* beneath(Function* /*ours*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

std::uint64_t locks_taken() { return taken_by_this_thread; }

RecordedLocks::RecordedLocks() {
  taken_.reserve(64);
  recording = &taken_;
}
RecordedLocks::~RecordedLocks() { recording = nullptr; }

}  // namespace tamis::test

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto lock = tamis::test::beneath(&pthread_mutex_lock, "pthread_mutex_lock");
  tamis::test::count_lock(mutex);
  return lock(mutex);
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static const auto lock = tamis::test::beneath(&pthread_mutex_trylock, "pthread_mutex_trylock");
  tamis::test::count_lock(mutex);
  return lock(mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* mutex) noexcept {
  static const auto lock = tamis::test::beneath(&pthread_rwlock_rdlock, "pthread_rwlock_rdlock");
  tamis::test::count_lock(mutex);
  return lock(mutex);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* mutex) noexcept {
  static const auto lock = tamis::test::beneath(&pthread_rwlock_wrlock, "pthread_rwlock_wrlock");
  tamis::test::count_lock(mutex);
  return lock(mutex);
}

}  // extern "C"
