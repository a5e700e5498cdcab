// Commits that are too large for memtables and the journal.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "io/memory_file_system.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"
#include "support/open_db.h"
#include "tamis/db.h"

namespace tamis {
namespace {

const Options kSmallMemory{.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10};
using Model = std::map<std::string, std::string>;

std::string numbered(int number) { return "key" + std::to_string(100'000 + number); }

/// 800 KB, more than three times a quarter of the memory: every key is put twice, every tenth is removed again.
Batch large_batch(Model& model) {
  Batch batch;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2'000; ++i) {
      const std::string value = std::to_string(round) + std::string(190, static_cast<char>('a' + i % 26));
      batch.put(numbered(i * 7919 % 2'000), value);
      model[numbered(i * 7919 % 2'000)] = value;
    }
  }
  for (int i = 0; i < 2'000; i += 10) {
    batch.remove(numbered(i));
    model.erase(numbered(i));
  }
  EXPECT_GT(batch.byte_size(), kSmallMemory.memory_bytes / 4);
  return batch;
}

Model contents(const DB& db, const Snapshot* snapshot = nullptr) {
  Model found;
  Iterator entries = db.scan({.snapshot = snapshot});
  for (const auto& [key, value] : entries) found.emplace(key, value);
  EXPECT_TRUE(entries.status().ok()) << entries.status().to_text();
  return found;
}

TEST(LargeCommit, Rule37_IsWrittenWholeBetweenSmallOnes) {
  MemoryFileSystem files;
  Model model;
  {
    DB db = test::open_db(files, kSmallMemory);
    ASSERT_TRUE(db.put(numbered(0), "before").ok());
    ASSERT_TRUE(db.put("kept", "before").ok());
    model["kept"] = "before";
    const Model before = contents(db);
    const Snapshot snapshot = db.snapshot();
    ASSERT_TRUE(db.write(large_batch(model)).ok());
    EXPECT_EQ(contents(db, &snapshot), before);
    ASSERT_TRUE(db.put(numbered(5), "after").ok());
    model[numbered(5)] = "after";
    EXPECT_EQ(contents(db), model);
    EXPECT_EQ(db.stats().sequence, 2U + 4'200 + 1);
  }
  DB again = test::open_db(files, kSmallMemory);
  EXPECT_EQ(contents(again), model);
  ASSERT_TRUE(again.compact().ok());
  EXPECT_EQ(contents(again), model);
}

TEST(LargeCommit, Rule37_TakesAValueThatIsLargerThanTheMemory) {
  MemoryFileSystem files;
  const std::string value(3 << 20, 'v');
  {
    DB db = test::open_db(files, kSmallMemory);
    ASSERT_TRUE(db.put("large", value).ok());
    EXPECT_EQ(db.get("large")->value_or(""), value);
    ASSERT_TRUE(db.remove("large").ok());
    EXPECT_FALSE(db.get("large")->has_value());
    ASSERT_TRUE(db.put("large", value).ok());
  }
  EXPECT_EQ(test::open_db(files, kSmallMemory).get("large")->value_or(""), value);
}

TEST(LargeCommit, Rule37_SpansKeyspaces) {
  MemoryFileSystem files;
  {
    DB db = test::open_db(files, kSmallMemory);
    const Keyspace users = *db.keyspace("users");
    ASSERT_TRUE(db.put("a", "old").ok());
    Batch batch;
    for (int i = 0; i < 1'000; ++i) {
      batch.put(users, numbered(i), std::string(300, 'u'));
      batch.put(numbered(i), std::string(300, 'd'));
    }
    batch.remove("a");
    ASSERT_TRUE(db.write(batch).ok());
  }
  DB db = test::open_db(files, kSmallMemory);
  const Keyspace users = *db.keyspace("users");
  EXPECT_EQ(contents(db).size(), 1'000U);
  EXPECT_EQ(users.get(numbered(999))->value_or(""), std::string(300, 'u'));
  EXPECT_FALSE(db.get("a")->has_value());
}

/// After a crash anywhere, all of it is there or nothing, and what was written before and after is.
TEST(LargeCommit, Rule37_IsAllOrNothingAfterACrash) {
  Model small{{"first", "1"}};
  Model all = small;
  std::uint64_t images = 0;
  bool was_there = false;
  std::uint64_t calls_before = 0;
  for (std::uint64_t stop = 0; !was_there; ++stop) {  // First without a fault, to count.
    CrashFileSystem files;
    ASSERT_TRUE(files.make_directory("/store").ok());
    ASSERT_TRUE(files.sync_directory("/").ok());
    FaultyFileSystem faulty(files, {.at_call = stop == 0 ? ~std::uint64_t{0} : calls_before + stop, .sticky = true});
    all = small;
    bool is_written = false;
    {
      DB db = test::open_db(faulty, kSmallMemory);
      ASSERT_TRUE(db.put("first", "1", {.sync = true}).ok());
      const Batch batch = large_batch(all);
      if (stop == 0) {
        calls_before = faulty.calls();
        continue;
      }
      is_written = db.write(batch).ok();
    }
    for (const Loss loss : {Loss::kNothing, Loss::kEverything}) {
      CrashFileSystem rebooted(files.disk().after_crash(loss, 1));
      const DB after = test::open_db(rebooted, kSmallMemory);
      const Model found = contents(after);
      ++images;
      if (is_written) {
        EXPECT_EQ(found, all) << "stopped at call " << stop;
      } else {
        EXPECT_TRUE(found == all || found == small) << "stopped at call " << stop << ": " << found.size() << " keys";
      }
    }
    was_there = is_written;
  }
  EXPECT_GT(images, 40U);
}

/// Any call may fail once: then all of it is there or nothing, and writes go on.
TEST(LargeCommit, Rule37_WritesGoOnAfterAFailedOne) {
  const Model small{{"first", "1"}};
  std::uint64_t calls_before = 0;
  bool was_reached = true;
  for (std::uint64_t call = 0; was_reached; ++call) {  // First without a fault, to count.
    MemoryFileSystem files;
    FaultyFileSystem faulty(files, {.at_call = call == 0 ? ~std::uint64_t{0} : calls_before + call});
    Model all = small;
    Model expected;
    {
      DB db = test::open_db(faulty, kSmallMemory);
      ASSERT_TRUE(db.put("first", "1").ok());
      if (call == 0) {
        calls_before = faulty.calls();
        continue;
      }
      const bool is_written = db.write(large_batch(all)).ok();
      was_reached = faulty.fired() > 0;
      expected = is_written ? all : small;
      if (!db.put("after", "2").ok()) {
        ASSERT_TRUE(db.resume().ok()) << "call " << call;
        ASSERT_TRUE(db.put("after", "2").ok()) << "call " << call;
      }
      expected["after"] = "2";
      EXPECT_EQ(contents(db), expected) << "call " << call;
    }
    EXPECT_EQ(contents(test::open_db(files, kSmallMemory)), expected) << "call " << call;
  }
}

}  // namespace
}  // namespace tamis
