// P6 on a real file system that is full: a small private one, filled and freed again and again.
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <thread>

#include "base/random.h"
#include "crash/store_ledger.h"
#include "process/child_process.h"
#include "tamis/db.h"

namespace tamis::test {
namespace {

constexpr int kNotAllowed = 77;
constexpr std::uint64_t kKeys = 150;

bool write_text(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

/// A file system of 16 MiB that only this process and its threads see, gone with it.
bool mount_small_disk(const std::string& path) {
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  if (!write_text("/proc/self/setgroups", "deny")) return false;
  if (!write_text("/proc/self/uid_map", fmt::format("0 {} 1", user))) return false;
  if (!write_text("/proc/self/gid_map", fmt::format("0 {} 1", group))) return false;
  if (::mkdir(path.c_str(), 0700) != 0) return false;
  return ::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=16m") == 0;
}

/// A store on the small disk and its acknowledged writes; every failed check prints its line on stderr.
class FullDisk {
 public:
  FullDisk(std::string folder, DB db) : folder_(std::move(folder)), db_(std::move(db)) {}

  /// Fills the disk, sees writes refused and reads served, frees space, sees writes resume.
  bool fill_and_free(std::uint64_t round) {
    leave_free(random_.below(640 << 10));
    int refused = 0;
    for (int i = 0; i < 4000 && refused < 5; ++i) {
      if (i % 100 == 99) leave_free(0);  // Compaction had freed space.
      const Status written = write();
      if (written.ok()) continue;
      ++refused;
      if (written.code() != StatusCode::kOutOfSpace) return wrong(round, "refused with " + written.to_text());
      if (!reads_are_right()) return wrong(round, "reads on the full disk");
    }
    if (refused == 0) return wrong(round, "the disk was never full");
    const Status flushed = round % 2 == 0 ? db_.flush() : db_.compact();
    if (!flushed.ok() && flushed.code() != StatusCode::kOutOfSpace) return wrong(round, flushed.to_text());
    std::filesystem::remove(ballast());
    return goes_on(round);
  }

  /// After a close and an open everything is there, with no unneeded files.
  bool end() {
    for (std::uint64_t key = 0; key < kKeys; ++key) {  // A refused write may be there or not: none is left in doubt.
      if (!put(key).ok()) return wrong(0, "the last writes");
    }
    if (const Status done = db_.compact(); !done.ok()) return wrong(0, "compact: " + done.to_text());
    if (const Status done = db_.wait_idle(); !done.ok()) return wrong(0, "idle: " + done.to_text());
    if (!reads_are_right()) return wrong(0, "reads at the end");
    const Result<VerifyReport> verified = db_.verify();
    if (!verified.ok() || !verified->ok()) return wrong(0, "verify");
    if (const Status closed = db_.close(); !closed.ok()) return wrong(0, closed.to_text());
    Result<DB> again = DB::open(folder_ + "/store", options());
    if (!again.ok()) return wrong(0, again.status().to_text());
    db_ = *std::move(again);
    if (!reads_are_right()) return wrong(0, "reads after opening");
    std::uint64_t tables = 0;
    for (const Stats::Level& level : db_.stats().levels) tables += level.tables;
    for (const auto& file : std::filesystem::directory_iterator(folder_ + "/store")) {
      tables -= file.path().extension() == ".tms" ? 1 : 0;
    }
    return tables == 0 || wrong(0, "tables were left behind");
  }

  static Options options() {
    Options options;
    options.memory_bytes = 4 << 20;
    options.memtable_bytes = 256 << 10;
    options.table_bytes = 256 << 10;
    options.fanout = 4;
    return options;
  }

 private:
  static bool wrong(std::uint64_t round, const std::string& what) {
    std::cerr << "round " << round << ": " << what << std::endl;
    return false;
  }
  [[nodiscard]] std::string ballast() const { return folder_ + "/ballast"; }

  void leave_free(std::uint64_t bytes) {
    const std::uint64_t available = std::filesystem::space(folder_).available;
    if (available <= bytes) return;
    const int fd = ::open(ballast().c_str(), O_CREAT | O_RDWR, 0600);
    (void)::posix_fallocate(fd, ::lseek(fd, 0, SEEK_END), static_cast<off_t>(available - bytes));
    ::close(fd);
  }

  Status write() { return put(random_.below(kKeys)); }
  Status put(std::uint64_t number) {
    const std::string key = fmt::format("key{:03}", number);
    const std::string value = fmt::format("{}.", ++writes_) + std::string(random_.below(8000), 'v');
    Status written = db_.put(key, value, {.sync = random_.below(4) == 0});
    if (written.ok()) content_[key] = value;
    return written;
  }

  bool reads_are_right() {
    Content found;
    const std::string unread = read_all(db_, {"key000", "key077", "none"}, found);
    return unread.empty() ? found == content_ : wrong(0, unread);
  }

  /// By themselves: no resume(), no reopening. An earlier background failure may still be reported a moment later.
  bool goes_on(std::uint64_t round) {
    for (int i = 0; i < 20; ++i) {
      const Status written = until_accepted([&] { return write(); });
      if (!written.ok()) return wrong(round, "writes do not go on: " + written.to_text());
    }
    const Status flushed = until_accepted([&] { return db_.flush(); });
    if (!flushed.ok()) return wrong(round, "flush: " + flushed.to_text());
    return reads_are_right() || wrong(round, "reads after it");
  }

  static Status until_accepted(const std::function<Status()>& action) {
    Status done = action();
    for (int i = 0; i < 500 && done.code() == StatusCode::kOutOfSpace; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      done = action();
    }
    return done;
  }

  const std::string folder_;
  DB db_;
  SplitMix64 random_{11};
  Content content_;
  std::uint64_t writes_ = 0;
};

int fill_and_free_twenty_times(const std::string& folder) {
  if (!mount_small_disk(folder)) return kNotAllowed;
  Result<DB> db = DB::open(folder + "/store", FullDisk::options());
  if (!db.ok()) return 2;
  FullDisk disk(folder, *std::move(db));
  for (std::uint64_t round = 1; round <= 20; ++round) {
    if (!disk.fill_and_free(round)) return 3;
  }
  return disk.end() ? 0 : 4;
}

TEST(FullDisk, P6_FilledAndFreedTwentyTimesLosesNothingAndGoesOnByItself) {
  const ScratchFolder scratch;
  ChildProcess child([&](const auto&) { return fill_and_free_twenty_times(scratch.path("disk")); });
  const int ended = child.wait();
  if (ended == kNotAllowed) GTEST_SKIP() << "no private file system: unshare or mount is not allowed";
  EXPECT_EQ(ended, 0);
}

}  // namespace
}  // namespace tamis::test
