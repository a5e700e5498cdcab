// What values apart cost: reads, bytes written, space (docs/decisions/0043-values-apart.md).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "io/memory_file_system.h"
#include "support/counting_file_system.h"
#include "support/crash_file_system.h"
#include "tamis/db.h"

namespace tamis::test {
namespace {

constexpr std::size_t kValueBytes = 4096;

Options options() {
  Options options;
  options.memory_bytes = 16 << 20;
  options.memtable_bytes = 1 << 20;
  options.journal = "write";  // So that its bytes are counted.
  options.value_bytes_apart = 1024;
  return options;
}

Environment on(FileSystem& files) { return {.files = &files, .random_seed = 3, .runs_in_background = false}; }

std::string key_of(std::uint64_t i) { return fmt::format("user:{:011}", i); }

std::string random_value(std::mt19937_64& random) {
  std::string value(kValueBytes, '\0');
  for (std::size_t i = 0; i < value.size(); i += 8) {
    const std::uint64_t word = random();
    value.replace(i, 8, reinterpret_cast<const char*>(&word), 8);
  }
  return value;
}

/// "write /store/7.journal 4096+132", as CrashFileSystem logs it.
std::uint64_t bytes_written(const CrashFileSystem& files) {
  std::uint64_t bytes = 0;
  for (const std::string& line : files.call_log()) {
    const std::size_t plus = line.rfind('+');
    if (line.starts_with("write") && plus != std::string::npos) bytes += std::stoull(line.substr(plus + 1));
  }
  return bytes;
}

TEST(ValuesApartCosts, AColdGetTakesTwoReads) {
  MemoryFileSystem memory;
  CountingFileSystem files(memory);
  std::mt19937_64 random(1);
  {
    DB db = *DB::open("/store", options(), on(files));
    for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(db.put(key_of(i), random_value(random)).ok());
    ASSERT_TRUE(db.compact().ok() && db.close().ok());
  }
  DB db = *DB::open("/store", options(), on(files));
  ASSERT_TRUE(db.get(key_of(0))->has_value());  // Loads index and filter.
  for (std::uint64_t i = 100; i < 1000; i += 300) {
    const std::uint64_t before = files.reads();
    EXPECT_TRUE(db.get(key_of(i))->has_value());
    EXPECT_LE(files.reads() - before, 2U);
    EXPECT_TRUE(*db.exists(key_of(i)));
    EXPECT_LE(files.reads() - before, 2U) << "exists reads no value";
  }
}

TEST(ValuesApartCosts, Of4KiBAreWrittenTwice) {
  CrashFileSystem files;
  std::mt19937_64 random(2);
  DB db = *DB::open("/store", options(), on(files));
  std::uint64_t users = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string key = key_of(random());
    ASSERT_TRUE(db.put(key, random_value(random)).ok());
    users += key.size() + kValueBytes;
  }
  ASSERT_TRUE(db.flush().ok() && db.wait_idle().ok());
  const double amplification = static_cast<double>(bytes_written(files)) / static_cast<double>(users);
  EXPECT_LE(amplification, 2.2) << db.stats().to_text();
  EXPECT_GT(amplification, 2.0) << "the count misses something";
}

TEST(ValuesApartCosts, UniformOverwritingTakesAQuarterMoreSpaceAtMost) {
  CrashFileSystem files;
  std::mt19937_64 random(3);
  DB db = *DB::open("/store", options(), on(files));
  constexpr std::uint64_t kKeys = 2000;
  for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(db.put(key_of(i), random_value(random)).ok());
  for (int round = 0; round < 6; ++round) {
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(db.put(key_of(random() % kKeys), random_value(random)).ok());
    }
    ASSERT_TRUE(db.flush().ok() && db.wait_idle().ok());
    const double live = static_cast<double>(kKeys * (kValueBytes + key_of(0).size()));
    EXPECT_LE(static_cast<double>(db.stats().bytes_on_disk) / live, 1.25) << "round " << round;
  }
}

}  // namespace
}  // namespace tamis::test
