// Compactions that run at once, beside writers, readers and compact().
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "io/memory_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

constexpr std::uint64_t kKeys = 2000;

std::string key_of(std::uint64_t i) { return fmt::format("key{:05}", i); }

/// Each writer has every third key, so it knows what they hold.
class OwnKeys {
 public:
  OwnKeys(DB& db, std::uint64_t first) : db_(db), first_(first), random_(first + 1) {}

  void write(int count) {
    for (int i = 0; i < count; ++i) {
      const std::uint64_t key = first_ + 3 * random_.below(kKeys / 3);
      switch (random_.below(8)) {
        case 0:
          ASSERT_TRUE(db_.remove(key_of(key)).ok());
          held_.erase(key);
          break;
        case 1:
          ASSERT_TRUE(db_.remove_range(key_of(key), key_of(key + 1)).ok());
          held_.erase(key);
          break;
        default:
          held_[key] = fmt::format("{} {}", i, std::string(random_.below(300), 'v'));
          ASSERT_TRUE(db_.put(key_of(key), held_[key]).ok());
      }
      const std::uint64_t other = first_ + 3 * random_.below(kKeys / 3);
      const Result<std::optional<std::string>> got = db_.get(key_of(other));
      ASSERT_TRUE(got.ok()) << got.status().to_text();
      const auto expected = held_.find(other);
      ASSERT_EQ(got->has_value(), expected != held_.end()) << key_of(other);
      if (got->has_value()) {
        ASSERT_EQ(**got, expected->second);
      }
    }
  }
  [[nodiscard]] const std::map<std::uint64_t, std::string>& held() const { return held_; }

 private:
  DB& db_;
  const std::uint64_t first_;
  SplitMix64 random_;
  std::map<std::uint64_t, std::string> held_;
};

class CompactionThreads : public testing::TestWithParam<const char*> {};

TEST_P(CompactionThreads, Rule47_EveryWriterFindsWhatItWrote) {
  MemoryFileSystem files;
  Options options{.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10, .table_bytes = 8 << 10};
  options.compaction = GetParam();
  options.value_bytes_apart = 200;
  options.fanout = 2;
  options.background_threads = 5;
  DB db = *DB::open("/store", options, {.files = &files, .random_seed = 1});
  std::vector<OwnKeys> writers;
  for (std::uint64_t i = 0; i < 3; ++i) writers.emplace_back(db, i);
  {
    std::atomic<int> writing = 3;
    std::vector<std::jthread> threads;
    for (OwnKeys& writer : writers) {
      threads.emplace_back([&] {
        writer.write(4000);
        --writing;
      });
    }
    threads.emplace_back([&] {
      SplitMix64 random(9);
      while (writing > 0) {
        const std::string from = key_of(random.below(kKeys));
        ASSERT_TRUE(db.compact({.from = from}).ok());
      }
    });
  }
  ASSERT_TRUE(db.wait_idle().ok());
  ASSERT_TRUE(db.verify().ok());
  std::map<std::string, std::string> expected;
  for (const OwnKeys& writer : writers) {
    for (const auto& [key, value] : writer.held()) expected[key_of(key)] = value;
  }
  std::map<std::string, std::string> found;
  Iterator at = db.scan();
  for (; at.valid(); at.advance()) found.emplace(at.key(), at.value());
  ASSERT_TRUE(at.status().ok()) << at.status().to_text();
  EXPECT_EQ(found, expected);
}

INSTANTIATE_TEST_SUITE_P(Policies, CompactionThreads, testing::Values("leveled", "tiered", "lazy"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace tamis
