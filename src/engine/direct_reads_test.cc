// Tables and value files that are read past the kernel's page cache.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/direct_file.h"
#include "io/file_system.h"
#include "io/memory_file_system.h"
#include "support/open_db.h"
#include "support/passing_file_system.h"
#include "support/scratch_folder.h"
#include "tamis/db.h"

namespace tamis {
namespace {

/// Files are read in any way, or directly as a device would let them be: aligned in the file and in memory.
class Device final : public test::PassingFileSystem {
 public:
  using PassingFileSystem::PassingFileSystem;

  Result<std::unique_ptr<ReadableFile>> open_direct(const std::string& path) override {
    Result<std::unique_ptr<ReadableFile>> file = open_readable(path);
    if (!file.ok()) return file;
    auto strict = std::make_unique<StrictFile>(*this, *std::move(file));
    return std::unique_ptr<ReadableFile>(std::make_unique<DirectFile>(std::move(strict)));
  }

  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;

 private:
  class StrictFile final : public ReadableFile {
   public:
    StrictFile(Device& device, std::unique_ptr<ReadableFile> file) : device_(device), file_(std::move(file)) {}
    Result<std::size_t> read_at(std::uint64_t offset, MutableBytes to) const override {
      EXPECT_EQ(offset % kDirectAlignment, 0U);
      EXPECT_EQ(to.size() % kDirectAlignment, 0U);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(to.data()) % kDirectAlignment, 0U);
      ++device_.reads;
      device_.bytes += to.size();
      return file_->read_at(offset, to);
    }
    [[nodiscard]] Result<std::uint64_t> size() const override { return file_->size(); }

   private:
    Device& device_;
    const std::unique_ptr<ReadableFile> file_;
  };
};

constexpr int kKeys = 20'000;

std::string key(int i) { return fmt::format("{:016}", i * 7919 % kKeys); }
std::string value(int i) { return key(i) + std::string(84, 'v'); }

TEST(DirectReads, AColdHitReadsOneAlignedPage) {
  MemoryFileSystem memory;
  Device device(memory);
  const Options options = {.memory_bytes = 2 << 20, .memtable_bytes = 256 << 10, .direct_reads = true};
  DB db = test::open_db(device, options);
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(db.put(key(i), value(i)).ok());
  ASSERT_TRUE(db.compact().ok());
  const ReadOptions cold = {.fills_cache = false};
  ASSERT_TRUE(db.get(key(0), cold).ok());  // Filters and indexes are in memory from now on.
  for (int i = 0; i < kKeys; i += 97) (void)*db.get(key(i), cold);
  const std::uint64_t reads = device.reads;
  const std::uint64_t bytes = device.bytes;
  const std::uint64_t cached = db.stats().memory.blocks;
  std::uint64_t hits = 0;
  for (int i = 0; i < kKeys; i += 31, ++hits) ASSERT_EQ((*db.get(key(i), cold)).value_or(""), value(i));
  EXPECT_EQ(cached, db.stats().memory.blocks);
  EXPECT_LE(device.reads - reads, hits);
  EXPECT_GE(device.reads - reads, hits * 9 / 10) << "nothing has cached them";
  EXPECT_LE(device.bytes - bytes, hits * kDirectAlignment * 101 / 100) << "a block lies on one page";
}

/// A real folder, with reads in flight; the kernel refuses what is not aligned.
TEST(DirectReads, GetsScansAndManyGetsFindWhatWasWritten) {
  const test::ScratchFolder scratch;
  for (const bool is_direct : {true, false}) {
    const Options options = {.memory_bytes = 2 << 20,
                             .memtable_bytes = 256 << 10,
                             .codec_last = "lz4",
                             .value_bytes_apart = 2000,
                             .direct_reads = is_direct};
    Result<DB> db = DB::open(scratch.path("store"), options, {.random_seed = 1});
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    const auto stored = [](int i) { return i % 50 == 0 ? value(i) + std::string(50'000, 'a') : value(i); };
    constexpr int kFew = 3000;
    if (is_direct) {
      for (int i = 0; i < kFew; ++i) ASSERT_TRUE(db->put(key(i), stored(i)).ok());
      ASSERT_TRUE(db->compact().ok());
    }
    for (int i = 0; i < kFew; ++i) ASSERT_EQ((*db->get(key(i))).value_or(""), stored(i));
    for (int i = 0; i < kFew; i += 30) {
      std::vector<std::string> keys;
      for (int j = i; j < i + 30; ++j) keys.push_back(key(j));
      const std::vector<std::string_view> views(keys.begin(), keys.end());
      const auto found = db->multi_get(views, {.fills_cache = false});
      for (int j = 0; j < 30; ++j) ASSERT_EQ((*found[static_cast<std::size_t>(j)]).value_or(""), stored(i + j));
    }
    std::uint64_t shown = 0;
    for (Iterator at = db->scan({.fills_cache = false}); at.valid(); at.next()) ++shown;
    EXPECT_EQ(shown, static_cast<std::uint64_t>(kFew));
    EXPECT_TRUE(db->verify().ok());
    ASSERT_TRUE(db->close().ok());
  }
}

TEST(DirectReads, AStoreWhereTheyAreImpossibleIsNotOpened) {
  class Refusing final : public test::PassingFileSystem {
   public:
    using PassingFileSystem::PassingFileSystem;
    Result<std::unique_ptr<ReadableFile>> open_direct(const std::string& path) override {
      return Status::not_supported(path + ": no direct reads");
    }
  };
  MemoryFileSystem memory;
  Refusing files(memory);
  const Environment environment = {.files = &files, .runs_in_background = false};
  EXPECT_EQ(DB::open("/store", {.direct_reads = true}, environment).status().code(), StatusCode::kNotSupported);
  EXPECT_TRUE(DB::open("/store", {}, environment).ok());
}

}  // namespace
}  // namespace tamis
