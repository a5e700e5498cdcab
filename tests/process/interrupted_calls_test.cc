// System calls that are interrupted by signals and do less than asked: a store does not notice.
//
// The calls of this program go through the functions here, which have the names of libc's. They forward everything
// unless a test is running.
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>

#include "crash/store_ledger.h"
#include "process/child_process.h"
#include "tamis/db.h"

namespace {

/// The faults injected into all calls of the program.
struct Trouble {
  std::atomic<std::uint32_t> interrupted_every = 0;  // One call in this many is interrupted; 0: none.
  std::atomic<std::uint64_t> most_bytes = 0;         // A read or write does at most this many; 0: all.
  std::atomic<std::uint64_t> calls = 0;
  std::atomic<std::uint64_t> interrupted = 0;
  std::atomic<std::uint64_t> shortened = 0;
};
Trouble trouble;

bool is_interrupted() {
  const std::uint32_t every = trouble.interrupted_every;
  if (every == 0 || ++trouble.calls % every != 0) return false;
  ++trouble.interrupted;
  errno = EINTR;
  return true;
}

std::size_t shortened(std::size_t bytes) {
  const std::uint64_t most = trouble.most_bytes;
  if (most == 0 || bytes <= most) return bytes;
  ++trouble.shortened;
  return most;
}

}  // namespace

extern "C" {

ssize_t pread(int fd, void* to, std::size_t bytes, off_t offset) {
  if (is_interrupted()) return -1;
  return ::syscall(SYS_pread64, fd, to, shortened(bytes), offset);
}

ssize_t pwritev(int fd, const iovec* pieces, int count, off_t offset) {
  if (is_interrupted()) return -1;
  if (trouble.most_bytes == 0) return ::syscall(SYS_pwritev, fd, pieces, count, offset, 0);
  return ::syscall(SYS_pwrite64, fd, pieces[0].iov_base, shortened(pieces[0].iov_len), offset);
}

int fdatasync(int fd) { return is_interrupted() ? -1 : static_cast<int>(::syscall(SYS_fdatasync, fd)); }
int fsync(int fd) { return is_interrupted() ? -1 : static_cast<int>(::syscall(SYS_fsync, fd)); }
int ftruncate(int fd, off_t size) noexcept {
  return is_interrupted() ? -1 : static_cast<int>(::syscall(SYS_ftruncate, fd, size));
}
int fallocate(int fd, int mode, off_t from, off_t bytes) {
  return is_interrupted() ? -1 : static_cast<int>(::syscall(SYS_fallocate, fd, mode, from, bytes));
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return is_interrupted() ? -1 : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

}  // extern "C"

namespace tamis::test {
namespace {

/// Ends the faults even when a test fails.
struct Troubled {
  Troubled(std::uint32_t interrupted_every, std::uint64_t most_bytes) {
    trouble.interrupted_every = interrupted_every;
    trouble.most_bytes = most_bytes;
  }
  ~Troubled() {
    trouble.interrupted_every = 0;
    trouble.most_bytes = 0;
  }
};

Options small_options() {
  Options options;
  options.memory_bytes = 4 << 20;
  options.memtable_bytes = 64 << 10;
  options.table_bytes = 64 << 10;
  return options;
}

/// A store's whole life: written, flushed, compacted, copied, closed.
void write_store(const std::string& path, const std::string& copy, Content& content) {
  Result<DB> db = DB::open(path, small_options());
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  for (int i = 0; i < 400; ++i) {
    const std::string key = fmt::format("key{:03}", i * 7 % 150);
    content[key] = fmt::format("value {}", i) + std::string(static_cast<std::size_t>(i) * 3, 'v');
    ASSERT_TRUE(db->put(key, content[key], {.sync = i % 50 == 0}).ok());
    if (i % 100 == 50) {
      ASSERT_TRUE(db->flush().ok());
    }
  }
  ASSERT_TRUE(db->compact().ok());
  ASSERT_TRUE(db->checkpoint(copy).ok());
  ASSERT_TRUE(db->put("key000", content["key000"] = "last").ok());
  ASSERT_TRUE(db->verify()->ok());
  ASSERT_TRUE(db->close().ok());
}

void expect_store(const std::string& path, const Content& content) {
  Result<DB> db = DB::open(path, small_options());
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  Content found;
  EXPECT_EQ(read_all(*db, {"key000", "key149", "none"}, found), "");
  EXPECT_EQ(found, content);
}

TEST(InterruptedCalls, AreRepeatedAndShortOnesGoneOnWith) {
  for (const auto& [every, most] : {std::pair{2U, 0U}, {0U, 1000U}, {3U, 77U}}) {
    SCOPED_TRACE(fmt::format("one of {} interrupted, at most {} bytes", every, most));
    const ScratchFolder scratch;
    const std::uint64_t interrupted = trouble.interrupted;
    const std::uint64_t shortened = trouble.shortened;
    Content content;
    {
      const Troubled troubled(every, most);
      write_store(scratch.path(), scratch.path("copy"), content);
      expect_store(scratch.path(), content);
    }
    EXPECT_EQ(trouble.interrupted > interrupted + 100, every != 0);
    EXPECT_EQ(trouble.shortened > shortened + 100, most != 0);
    expect_store(scratch.path(), content);
  }
}

}  // namespace
}  // namespace tamis::test
