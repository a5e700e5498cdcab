// A store that another process writes at full rate, and that is followed, verified and copied meanwhile. Its writer is
// killed and replaced. TAMIS_LIVE_SECONDS sets how long.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "process/child_process.h"
#include "support/scratch_folder.h"
#include "tamis/db.h"

namespace tamis {
namespace {

using test::ChildProcess;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kKeys = 500;
constexpr std::uint64_t kEntriesPerCommit = 4;
constexpr const char* kSpaces[] = {"default", "other"};
const Options kSmall{.memory_bytes = 8 << 20, .memtable_bytes = 128 << 10, .table_bytes = 128 << 10, .fanout = 3};

std::string key_of(std::uint64_t commit) { return fmt::format("k{:03}", commit % kKeys); }
/// With a length that varies, so that records have many sizes.
std::string value_of(std::uint64_t commit) {
  return fmt::format("{:012}{}", commit, std::string(commit * 37 % 400, 'v'));
}

/// Commits until it is killed. Commit n puts n under two keys of both keyspaces, so after it the sequence is 4 n.
int write_forever(const std::string& path, const ChildProcess::Teller& teller) {
  Result<DB> db = DB::open(path, kSmall);
  if (!db.ok()) return 1;
  const Result<Keyspace> other = db->keyspace("other");
  if (!other.ok()) return 2;
  teller.tell(0);
  for (std::uint64_t commit = db->stats().sequence / kEntriesPerCommit + 1;; ++commit) {
    Batch batch;
    for (const std::string& key : {std::string("a"), key_of(commit)}) {
      batch.put(key, value_of(commit));
      batch.put(*other, key, value_of(commit));
    }
    if (!db->write(batch, {.sync = commit % 1000 == 0}).ok()) return 3;
  }
}

/// Whether all keyspaces hold exactly the commits up to that of the snapshot.
void expect_prefix(DB& db, const std::string& where) {
  const Snapshot snapshot = db.snapshot();
  const std::uint64_t sequence = snapshot.sequence();
  ASSERT_EQ(sequence % kEntriesPerCommit, 0U) << where << ": half of a batch";
  const std::uint64_t last = sequence / kEntriesPerCommit;
  for (const char* const name : kSpaces) {
    const Result<Keyspace> keyspace = db.keyspace(name);
    ASSERT_TRUE(keyspace.ok()) << where;
    std::uint64_t keys = 0;
    Iterator entries = keyspace->scan({.snapshot = &snapshot});
    for (const auto& [key, value] : entries) {
      const std::uint64_t commit = std::stoull(std::string(value.substr(0, 12)));
      ASSERT_EQ(value, value_of(commit)) << where;
      ASSERT_LE(commit, last) << where << ": " << key << " is of a commit that is not there yet";
      if (key == "a") {
        ASSERT_EQ(commit, last) << where << ", " << name;
      } else {
        ASSERT_EQ(key, key_of(commit)) << where;
        ASSERT_GT(commit + kKeys, last) << where << ": " << key << " of " << name << " is too old at " << last;
      }
      ++keys;
    }
    ASSERT_TRUE(entries.status().ok()) << where << ": " << entries.status().to_text();
    ASSERT_EQ(keys, std::min(last, kKeys) + (last > 0 ? 1 : 0)) << where << ", " << name << " at " << last;
  }
}

Options follower_options() {
  Options options = kSmall;
  options.read_only = options.follows = true;
  return options;
}

/// Now and then: another follower, a verification, a copy. Returns the number of copies.
int look_otherwise(DB& follower, const test::ScratchFolder& folder, int round, const std::string& where) {
  const auto is_stale = [](const Status& status) { return status.code() == StatusCode::kStale; };
  if (round % 4 == 1) {
    Result<DB> another = DB::open(folder.path(), follower_options());
    EXPECT_TRUE(another.ok() || is_stale(another.status())) << another.status().to_text();
    if (another.ok()) expect_prefix(*another, where + ", opened anew");
  }
  if (round % 8 == 3) {
    const Result<VerifyReport> report = follower.verify();
    EXPECT_TRUE(report.ok() && report->problems.empty()) << where << ": " << report.status().to_text();
  }
  if (round % 16 != 5) return 0;
  const std::string copy = folder.path(fmt::format("copy{}", round));
  const Status copied = follower.checkpoint(copy);
  EXPECT_TRUE(copied.ok() || is_stale(copied)) << copied.to_text();
  if (copied.ok()) {
    Result<DB> opened = DB::open(copy, kSmall);
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    if (opened.ok()) expect_prefix(*opened, where + ", a copy");
  }
  std::filesystem::remove_all(copy);
  return copied.ok() ? 1 : 0;
}

double seconds_to_run() {
  const char* const wanted = std::getenv("TAMIS_LIVE_SECONDS");
  return wanted == nullptr ? 4 : std::atof(wanted);
}

TEST(LiveStore, Rule42_FollowersOfAnotherProcessSeePrefixesThroughKillsOfIt) {
  const test::ScratchFolder folder;
  const std::string path = folder.path();
  const auto begin_writer = [&] {
    auto writer = std::make_unique<ChildProcess>([&](const auto& teller) { return write_forever(path, teller); });
    EXPECT_EQ(writer->next(), 0U) << "the writer did not begin";
    return writer;
  };
  std::unique_ptr<ChildProcess> writer = begin_writer();
  Result<DB> follower = DB::open(path, follower_options());
  ASSERT_TRUE(follower.ok()) << follower.status().to_text();
  const auto begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const double seconds = seconds_to_run();
  double next_kill = std::min(seconds / 3, 20.0);
  std::uint64_t shown = 0;
  int stale = 0;
  int kills = 0;
  int copies = 0;
  int rounds = 0;
  for (; elapsed() < seconds && !HasFailure(); ++rounds) {
    const std::string where = fmt::format("round {}", rounds);
    const Result<std::uint64_t> sequence = follower->catch_up();
    stale += sequence.status().code() == StatusCode::kStale ? 1 : 0;
    ASSERT_TRUE(sequence.ok() || sequence.status().code() == StatusCode::kStale) << sequence.status().to_text();
    if (sequence.ok()) {
      EXPECT_GE(*sequence, shown) << where << ": backwards; a killed process loses nothing";
      shown = *sequence;
    }
    expect_prefix(*follower, where);
    copies += look_otherwise(*follower, folder, rounds, where);
    if (elapsed() > next_kill) {
      writer->kill();
      writer->wait();
      expect_prefix(*follower, where + ", the writer is dead");
      writer = begin_writer();
      next_kill += std::min(seconds / 3, 20.0);
      ++kills;
    }
  }
  writer->kill();
  writer->wait();
  ASSERT_TRUE(follower->catch_up().ok());
  expect_prefix(*follower, "at the end");
  fmt::print("{} rounds, {} commits, {} kills, {} copies, {} times stale\n", rounds, shown / kEntriesPerCommit, kills,
             copies, stale);
  EXPECT_GT(kills, 0);
  EXPECT_GT(copies, 0);
}

/// A killed writer leaves its counters, and the next one removes them.
TEST(LiveStore, TheCountersThatAreShownAreOfTheLivingWriter) {
  const test::ScratchFolder folder;
  const std::string path = folder.path();
  std::optional<DB> follower;
  for (int round = 0; round < 2; ++round) {
    ChildProcess writer([&](const auto& teller) { return write_forever(path, teller); });
    ASSERT_EQ(writer.next(), 0U);
    if (!follower) follower.emplace(*DB::open(path, follower_options()));
    std::optional<WriterStats> told = follower->writer_stats();
    for (int i = 0; !told && i < 500; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      told = follower->writer_stats();
    }
    ASSERT_TRUE(told) << "none were published";
    EXPECT_EQ(told->process_id, static_cast<std::uint64_t>(writer.pid()));
    EXPECT_GT(told->stats.writes, 0U);
    writer.kill();
    writer.wait();
    EXPECT_TRUE(std::filesystem::exists(path + "/COUNTERS"));
  }
}

}  // namespace
}  // namespace tamis
