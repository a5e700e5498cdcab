// Rule 41 with readers of many threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "io/memory_file_system.h"
#include "support/repair_world.h"

namespace tamis {
namespace {

std::string key_of(int i) { return fmt::format("key{:04}", i); }

std::string large(int i, std::size_t bytes) {
  std::string value = fmt::format("value {} ", i);
  SplitMix64 random(static_cast<std::uint64_t>(i));
  while (value.size() < bytes) value += static_cast<char>('a' + random.below(26));
  return value;
}

/// Readers meet flushes, rewrites and removals of value files at any moment. Each key has one number in each round.
TEST(ValuesApartThreads, Rule41_ReadersSeeWholeValuesWhileFilesComeAndGo) {
  MemoryFileSystem files;
  Options options = test::small_options();
  options.value_bytes_apart = 100;
  options.memtable_bytes = 64 << 10;
  DB db = *DB::open("/store", options, {.files = &files, .random_seed = 1});
  constexpr int kKeys = 60;
  constexpr int kRounds = 80;
  const auto value_of = [](int round, int i) { return fmt::format("{:04} {}", round, large(i, 300 + 10 * i)); };
  const auto write = [&](int round) {
    Batch batch;
    for (int i = 0; i < kKeys; ++i) batch.put(key_of(i), value_of(round, i));
    EXPECT_TRUE(db.write(batch).ok());
  };
  write(0);
  std::atomic<bool> ends = false;
  {
    std::vector<std::jthread> readers;
    readers.emplace_back([&] {
      SplitMix64 random(1);
      while (!ends) {
        const int i = static_cast<int>(random.below(kKeys));
        const Result<std::optional<std::string>> value = db.get(key_of(i));
        ASSERT_TRUE(value.ok()) << value.status().to_text();
        EXPECT_EQ(value->value().substr(5), large(i, 300 + 10 * static_cast<std::size_t>(i)));
      }
    });
    readers.emplace_back([&] {
      while (!ends) {
        Iterator at = db.scan();
        const std::string round(at.value().substr(0, 4));
        int seen = 0;
        for (; at.valid(); at.next(), ++seen) EXPECT_EQ(at.value(), value_of(std::stoi(round), seen));
        EXPECT_TRUE(at.status().ok()) << at.status().to_text();
        EXPECT_EQ(seen, kKeys);
      }
    });
    readers.emplace_back([&] {
      const std::vector<std::string> names = {key_of(3), key_of(20), key_of(59)};
      const std::vector<std::string_view> keys(names.begin(), names.end());
      while (!ends) {
        const auto values = db.multi_get(keys);
        for (const auto& value : values) {
          ASSERT_TRUE(value.ok()) << value.status().to_text();
          EXPECT_EQ((*value)->substr(0, 4), (*values[0])->substr(0, 4));
        }
        EXPECT_TRUE(db.verify()->ok());
      }
    });
    for (int round = 1; round <= kRounds; ++round) write(round);
    EXPECT_TRUE(db.compact().ok());
    ends = true;
  }
  EXPECT_TRUE(db.wait_idle().ok());
  EXPECT_EQ(db.stats().values.values, static_cast<std::uint64_t>(kKeys));
}

}  // namespace
}  // namespace tamis
