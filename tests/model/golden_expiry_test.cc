// A store with values that expire, frozen: every later build must open tests/golden/store-2-expiry.
//
//     TAMIS_WRITE_GOLDEN=1 model_test --gtest_filter='GoldenExpiry.*'    # Writes the store if it is missing.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <tamis/tamis.hpp>

#include <filesystem>
#include <string>

#include "support/golden.h"
#include "support/scratch_folder.h"

namespace tamis::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kWritten = 1'700'000'000'000;
constexpr std::uint64_t kMinute = 60'000;

Environment at_time(std::uint64_t time) {
  return {.random_seed = 1, .unix_milliseconds = [time] { return time; }};
}

/// Values with and without a due time, in an older and a newer table, in the journal, and in a keyspace with a default.
void write_store(const std::string& path) {
  const Options options{.compaction = "manual", .journal = "write"};
  Result<DB> db = DB::open(path, options, at_time(kWritten));
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  ASSERT_TRUE(db->put("hidden later", "beneath").ok());
  ASSERT_TRUE(db->put("stays", "for ever").ok());
  ASSERT_TRUE(db->flush().ok());
  ASSERT_TRUE(db->put("hidden later", "minute", {.expires_in = 1min}).ok());
  ASSERT_TRUE(db->put("table", "hour", {.expires_in = 1h}).ok());
  ASSERT_TRUE(db->flush().ok());
  const Keyspace sessions = *db->keyspace("sessions", {.default_expiry = 30min});
  Batch batch;
  batch.put("journal", "ten minutes", 10min);
  batch.put("time", "given", std::chrono::system_clock::time_point(std::chrono::milliseconds(kWritten + 5)));
  batch.put(sessions, "ada", "by default");
  batch.put(sessions, "grace", "never", kNeverExpires);
  ASSERT_TRUE(db->write(batch, {.sync = true}).ok());
  ASSERT_TRUE(db->close().ok());
  std::filesystem::resize_file(path + "/LOCK", 0);
}

/// "key=value" of each entry, with "@" and the due time after kWritten, if it has one.
template <typename Source>
std::string dump(const Source& source) {
  std::string text;
  Iterator all = source.scan();
  for (; all.valid(); all.next()) {
    text += fmt::format("{}={}", all.key(), all.value());
    if (all.expires_at()) {
      text += fmt::format("@{}", static_cast<std::uint64_t>(all.expires_at()->time_since_epoch().count()) - kWritten);
    }
    text += '\n';
  }
  EXPECT_TRUE(all.status().ok()) << all.status().to_text();
  return text;
}

struct Moment {
  std::uint64_t after;  ///< Milliseconds after the store was written.
  std::string entries;
  std::string sessions;
};

TEST(GoldenExpiry, IsOpenedVerifiedReadAndCompactedBeforeAndAfterTheDueTimes) {
  const std::string golden = source_file("tests/golden/store-2-expiry");
  if (makes_golden(golden)) write_store(golden);
  const Moment moments[] = {
      {0, "hidden later=minute@60000\njournal=ten minutes@600000\nstays=for ever\ntable=hour@3600000\ntime=given@5\n",
       "ada=by default@1800000\ngrace=never\n"},
      {kMinute - 1, "hidden later=minute@60000\njournal=ten minutes@600000\nstays=for ever\ntable=hour@3600000\n",
       "ada=by default@1800000\ngrace=never\n"},
      {kMinute, "journal=ten minutes@600000\nstays=for ever\ntable=hour@3600000\n",
       "ada=by default@1800000\ngrace=never\n"},
      {30 * kMinute, "stays=for ever\ntable=hour@3600000\n", "grace=never\n"},
      {60 * kMinute, "stays=for ever\n", "grace=never\n"},
  };
  for (const Moment& moment : moments) {
    SCOPED_TRACE(moment.after);
    const ScratchFolder folder;
    std::filesystem::copy(golden, folder.path());
    for (const bool read_only : {true, false}) {
      Result<DB> db = DB::open(folder.path(), {.read_only = read_only}, at_time(kWritten + moment.after));
      ASSERT_TRUE(db.ok()) << db.status().to_text();
      EXPECT_TRUE(db->verify()->problems.empty());
      EXPECT_EQ(dump(*db), moment.entries);
      EXPECT_EQ(dump(*db->keyspace("sessions")), moment.sessions);
      EXPECT_EQ(db->keyspaces()[1].options, "default_expiry=30min\n");
      if (read_only) {
        EXPECT_EQ(db->stats().expiry.entries, 2U) << "of the tables, as their facts say";
        continue;
      }
      ASSERT_TRUE(db->compact().ok());
      EXPECT_EQ(dump(*db), moment.entries);
    }
  }
}

}  // namespace
}  // namespace tamis::test
