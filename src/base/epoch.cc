#include "base/epoch.h"

#include <pthread.h>

#include <thread>

namespace tamis::epoch {

std::atomic<std::uint64_t> now = 1;
constinit thread_local Record* my_record = nullptr;

namespace {

std::atomic<Record*> first = nullptr;

/// Returns the record when its thread ends.
struct RecordOwner {
  RecordOwner() = default;
  RecordOwner(const RecordOwner&) = delete;
  RecordOwner& operator=(const RecordOwner&) = delete;
  ~RecordOwner() {
    if (my_record == nullptr) return;
    my_record->is_taken.store(false, std::memory_order_release);
    my_record = nullptr;
  }
};

/// A forked child has one thread; the parent's other readers do not exist in it.
void forget_other_threads() {
  for (Record* record = first.load(); record != nullptr; record = record->next) {
    if (record == my_record) continue;
    record->since.store(0);
    record->is_taken.store(false);
  }
}

Record* free_record() {
  for (Record* record = first.load(std::memory_order_acquire); record != nullptr; record = record->next) {
    bool is_taken = false;
    if (record->is_taken.compare_exchange_strong(is_taken, true, std::memory_order_acquire)) return record;
  }
  return nullptr;
}

}  // namespace

Record* take_record() {
  static const int registered = pthread_atfork(nullptr, nullptr, forget_other_threads);
  (void)registered;
  thread_local RecordOwner owner;
  (void)owner;
  my_record = free_record();
  if (my_record != nullptr) return my_record;
  my_record = new Record;
  my_record->next = first.load(std::memory_order_relaxed);
  while (!first.compare_exchange_weak(my_record->next, my_record)) {
  }
  return my_record;
}

std::uint64_t retire() { return now.fetch_add(1) + 1; }

bool has_passed(std::uint64_t retired) {
  for (const Record* record = first.load(); record != nullptr; record = record->next) {
    const std::uint64_t since = record->since.load();
    if (since != 0 && since < retired) return false;
  }
  return true;
}

void wait(std::uint64_t retired) {
  while (!has_passed(retired)) std::this_thread::yield();
}

}  // namespace tamis::epoch
