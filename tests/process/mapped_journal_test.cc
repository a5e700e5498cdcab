// Rule 7 on the machine's own file system: how many system calls puts really make, and what a child sees.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "base/random.h"
#include "process/child_process.h"
#include "process/mapped_journal.h"
#include "tamis/db.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kPuts = 10'000;

bool put_many(DB& db) {
  const std::string value(100, 'v');
  for (std::uint64_t i = 0; i < kPuts; ++i) {
    if (!db.put(fmt::format("{:016x}", remix(i)), value).ok()) return false;
  }
  return true;
}

/// Stops before and after the puts, so that a tracer can count between the two.
[[noreturn]] void put_while_traced(const std::string& path) {
  ::alarm(60);
  Result<DB> db = DB::open(path);
  if (!db.ok() || ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(2);
  (void)::raise(SIGSTOP);
  const bool all = put_many(*db);
  (void)::raise(SIGSTOP);
  ::_exit(all ? 0 : 3);
}

/// The system calls of a thread from one SIGSTOP to the next; none if it cannot be traced.
std::optional<std::uint64_t> count_calls(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP) return std::nullopt;
  if (::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD) != 0) return std::nullopt;
  std::uint64_t stops = 0;
  for (int signal = 0;;) {
    if (::ptrace(PTRACE_SYSCALL, child, nullptr, signal) != 0) return std::nullopt;
    if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return std::nullopt;
    if (WSTOPSIG(status) == SIGSTOP) return stops / 2;  // Entry and exit.
    signal = 0;
    if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
      ++stops;
    } else {
      signal = WSTOPSIG(status);
    }
  }
}

TEST(MappedJournal, Rule7_TenThousandUnsyncedPutsMakeFewerThanAHundredSystemCalls) {
  const ScratchFolder scratch;
  if (!has_windows(scratch)) GTEST_SKIP() << "files in " << scratch.path() << " are not mapped";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) put_while_traced(scratch.path());
  const std::optional<std::uint64_t> calls = count_calls(child);
  int status = 0;
  EXPECT_TRUE(!calls || ::ptrace(PTRACE_CONT, child, nullptr, nullptr) == 0);
  (void)::waitpid(child, &status, 0);
  if (!calls) GTEST_SKIP() << "the child cannot be traced";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  fmt::print("{} system calls\n", *calls);
  EXPECT_LT(*calls, 100U);
  const Result<DB> db = DB::open(scratch.path());
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  EXPECT_EQ(db->stats().sequence, kPuts) << "the child ended without closing, and lost nothing";
}

TEST(MappedJournal, Rule7_AChildHasNoPartInTheWindow) {
  const ScratchFolder scratch;
  if (!has_windows(scratch)) GTEST_SKIP() << "files in " << scratch.path() << " are not mapped";
  Result<DB> db = DB::open(scratch.path());
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  ASSERT_TRUE(put_many(*db));
  ASSERT_TRUE(maps_a_journal());
  ChildProcess child([&](const auto&) {
    const bool is_refused = db->put("child", "1").code() == StatusCode::kClosed;
    return (maps_a_journal() ? 1 : 0) + (is_refused ? 0 : 2);
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_TRUE(db->put("parent", "1").ok());
  EXPECT_TRUE(db->close().ok());
  EXPECT_FALSE(maps_a_journal());
}

}  // namespace
}  // namespace tamis::test
