// No thread waits while runs are read into the run index.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "io/memory_file_system.h"
#include "support/open_db.h"
#include "support/passing_file_system.h"

namespace tamis {
namespace {

/// Counts the bytes that one thread reads from tables, until it creates a table.
class WatchedFileSystem final : public test::PassingFileSystem {
 public:
  using PassingFileSystem::PassingFileSystem;

  /// Calls `action` once, in the next read of a table by another thread, and watches that thread from then on.
  void at_next_read(std::function<void()> action) {
    caller_ = std::this_thread::get_id();
    action_ = std::move(action);
    is_armed_ = true;
  }
  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override {
    Result<std::unique_ptr<ReadableFile>> file = PassingFileSystem::open_readable(path);
    if (!file.ok() || !path.ends_with(".tms")) return file;
    return std::unique_ptr<ReadableFile>(std::make_unique<WatchedFile>(*this, *std::move(file)));
  }
  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override {
    if (path.ends_with(".tms") && is_watched()) watched_ = std::thread::id();
    return PassingFileSystem::open_writable(path, mode);
  }
  [[nodiscard]] bool is_over() const { return !is_armed_ && watched_.load() == std::thread::id(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  class WatchedFile final : public ReadableFile {
   public:
    WatchedFile(WatchedFileSystem& files, std::unique_ptr<ReadableFile> file) : files_(files), file_(std::move(file)) {}
    Result<std::size_t> read_at(std::uint64_t offset, MutableBytes to) const override {
      files_.see_read(to.size());
      return file_->read_at(offset, to);
    }
    [[nodiscard]] Result<std::uint64_t> size() const override { return file_->size(); }

   private:
    WatchedFileSystem& files_;
    std::unique_ptr<ReadableFile> file_;
  };

  [[nodiscard]] bool is_watched() const { return watched_.load() == std::this_thread::get_id(); }
  void see_read(std::uint64_t bytes) {
    if (is_watched()) bytes_ += bytes;
    if (!is_armed_ || std::this_thread::get_id() == caller_) return;
    std::thread::id nobody;
    if (!watched_.compare_exchange_strong(nobody, std::this_thread::get_id())) return;
    action_();
    is_armed_ = false;
  }

  std::function<void()> action_;
  std::thread::id caller_;
  std::atomic<bool> is_armed_ = false;
  std::atomic<std::thread::id> watched_ = {};
  std::atomic<std::uint64_t> bytes_ = 0;
};

TEST(RunIndexing, Rule14_ACompactionThatBecomesDueDoesNotWaitUntilARunIsRead) {
  constexpr int kKeys = 10'000;  // Per run.
  constexpr int kTier = 8;
  MemoryFileSystem memory;
  WatchedFileSystem files(memory);
  DB db = test::open_db({.files = &files}, {.memory_bytes = 64 << 20,
                                            .memtable_bytes = 16 << 20,
                                            .filter_memory = 4 << 20,
                                            .compaction = "tiered",
                                            .fanout = kTier});
  const auto add_run = [&](int number, int keys) {
    for (int i = 0; i < keys; ++i) {
      ASSERT_TRUE(db.put(fmt::format("{:06} {}", i * (kKeys / keys), number), std::string(100, 'v')).ok());
    }
    ASSERT_TRUE(db.flush().ok());
  };
  for (int i = 0; i < 4; ++i) add_run(i, kKeys);
  ASSERT_TRUE(db.wait_idle().ok());
  files.at_next_read([&] {
    for (int i = 4; i < kTier; ++i) add_run(i, 10);
  });
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(db.get(fmt::format("{:06} absent", i)).ok());  // Pays for the index.
  add_run(kTier, 10);  // Wakes the compaction thread.
  while (!files.is_over()) std::this_thread::yield();
  EXPECT_LT(files.bytes(), 600'000U) << "a run has 1.2 MB";
  ASSERT_TRUE(db.wait_idle().ok());
  EXPECT_GT(db.stats().compactions, 0U);
}

}  // namespace
}  // namespace tamis
