// A mutex and a condition with clang's thread-safety annotations.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define TAMIS_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define TAMIS_THREAD_ANNOTATION(x)
#endif

#define GUARDED_BY(mutex) TAMIS_THREAD_ANNOTATION(guarded_by(mutex))
#define REQUIRES(...) TAMIS_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) TAMIS_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace tamis {

/// For spinning on a value that another core is about to change.
inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// std::mutex with annotations.
class TAMIS_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() TAMIS_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() TAMIS_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

/// Holds a Mutex for a scope.
class TAMIS_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TAMIS_THREAD_ANNOTATION(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() TAMIS_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// std::condition_variable for a Mutex. Spurious wakeups happen: wait in a loop.
class Condition {
 public:
  void wait(Mutex& mutex) REQUIRES(mutex) { condition_.wait(mutex); }
  /// False on timeout.
  bool wait_for(Mutex& mutex, std::chrono::nanoseconds time) REQUIRES(mutex) {
    return condition_.wait_for(mutex, time) == std::cv_status::no_timeout;
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable_any condition_;
};

}  // namespace tamis
