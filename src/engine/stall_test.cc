// P8: memory holds two memtables, one being written and one being flushed, however slow the disk is.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "io/memory_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

/// Holds a finished flush until `lets_go`, as if the next one took for ever.
class SlowListener final : public EventListener {
 public:
  void on_event(const StoreEvent& event) override {
    while (event.kind == StoreEvent::Kind::kFlushed && !lets_go) std::this_thread::yield();
  }
  std::atomic<bool> lets_go = false;
};

TEST(Stall, P8_AFullMemtableWaitsForTheOneBeforeIt) {
  constexpr std::uint64_t kMemtableBytes = 128 << 10;
  MemoryFileSystem files;
  SlowListener listener;
  Result<DB> db = DB::open("/store", {.memory_bytes = 16 << 20, .memtable_bytes = kMemtableBytes},
                           {.files = &files, .listener = &listener, .random_seed = 1});
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  std::atomic<bool> is_done = false;
  std::jthread writer([&] {
    const std::string value(1000, 'v');
    for (int i = 0; i < 2000; ++i) EXPECT_TRUE(db->put("key" + std::to_string(i), value).ok());
    is_done = true;
  });
  while (!is_done && db->stats().stalls.reason.empty()) std::this_thread::yield();
  EXPECT_LE(db->stats().memory.memtables, 2 * kMemtableBytes);
  EXPECT_FALSE(is_done) << "nobody waited";
  listener.lets_go = true;
  writer.join();
  EXPECT_TRUE(db->close().ok());
}

}  // namespace
}  // namespace tamis
