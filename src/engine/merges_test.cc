// Merges: what readers see, whatever flushes and compactions have folded.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "support/crash_file_system.h"
#include "support/merging_store.h"
#include "tamis/db.h"

namespace tamis {
namespace {

using namespace std::chrono_literals;

using test::MergingStore;
using test::with_operator;

TEST(Merges, Rule31_AreFoldedInOrderWhereverTheyAre) {
  for (int depth = 0; depth < 27; ++depth) {
    SCOPED_TRACE(depth);
    MergingStore store;
    store.put("a", "1");
    store.settle(depth % 3);
    store.merge("a", "2");
    store.merge("b", "u");
    store.settle(depth / 3 % 3);
    store.merge("a", "3");
    store.merge("a", "4");
    store.merge("b", "v");
    store.settle(depth / 9);
    EXPECT_EQ(store.get("a"), "1234");
    EXPECT_EQ(store.get("b"), "uv");
    EXPECT_EQ(store.all(), "a=1234 b=uv ");
    store.open();
    EXPECT_EQ(store.all(), "a=1234 b=uv ");
    store.settle(2);
    EXPECT_EQ(store.all(), "a=1234 b=uv ");
    EXPECT_EQ(store.entries(), 2U);
  }
}

TEST(Merges, Rule31_EndAtADeleteARangeDeleteOrAnExpiredValue) {
  for (int depth = 0; depth < 9; ++depth) {
    SCOPED_TRACE(depth);
    MergingStore store;
    for (const char* key : {"a", "b", "c"}) store.merge(key, "old");
    store.settle(depth % 3);
    ASSERT_TRUE(store.db->remove("a").ok());
    ASSERT_TRUE(store.db->remove_range("b", "c").ok());
    store.put("c", "value", 10ms);
    store.settle(depth / 3);
    for (const char* key : {"a", "b", "c"}) store.merge(key, "+");
    EXPECT_EQ(store.all(), "a=+ b=+ c=value+ ");
    store.settle(depth / 3);
    EXPECT_EQ(store.all(), "a=+ b=+ c=value+ ") << "an operand does not fold onto what will expire";
    store.clock += 10;
    EXPECT_EQ(store.all(), "a=+ b=+ c=+ ");
    for (const char* key : {"a", "b", "c"}) EXPECT_EQ(store.get(key), "+");
    store.settle(2);
    EXPECT_EQ(store.all(), "a=+ b=+ c=+ ");
    EXPECT_EQ(store.entries(), 3U);
  }
}

TEST(Merges, Rule31_AreNotFoldedAcrossASnapshot) {
  for (int depth = 0; depth < 3; ++depth) {
    MergingStore store;
    store.put("k", "0");
    const Snapshot first = store.db->snapshot();
    store.merge("k", "1");
    store.merge("k", "2");
    const Snapshot second = store.db->snapshot();
    store.merge("k", "3");
    store.merge("k", "4");
    store.settle(depth);
    EXPECT_EQ(store.get("k", &first), "0");
    EXPECT_EQ(store.get("k", &second), "012");
    EXPECT_EQ(store.all(&second), "k=012 ");
    EXPECT_EQ(store.get("k"), "01234");
    if (depth > 0) {
      EXPECT_EQ(store.entries(), 3U) << "one per snapshot";
    }
  }
}

TEST(Merges, AFoldDoesNotExpire) {
  MergingStore store;
  store.put("k", "v", 10ms);
  EXPECT_TRUE(store.db->scan().expires_at());
  store.merge("k", "+");
  EXPECT_FALSE(store.db->scan().expires_at());
  EXPECT_FALSE(store.db->scan({.reverse = true}).expires_at());
}

/// What a reader must see, by the definition: the operands since the last value, delete or range delete.
class Expected {
 public:
  struct Value {
    std::optional<std::string> base;
    std::uint64_t due = 0;
    std::string operands;
  };
  void put(const std::string& key, std::string value, std::uint64_t due) { values_[key] = {std::move(value), due, ""}; }
  void merge(const std::string& key, const std::string& operand) { values_[key].operands += operand; }
  void remove(const std::string& key) { values_.erase(key); }
  void remove_range(const std::string& from, const std::string& to) {
    if (from < to) values_.erase(values_.lower_bound(from), values_.lower_bound(to));
  }
  [[nodiscard]] std::string get(const std::string& key, std::uint64_t now) const {
    const auto found = values_.find(key);
    if (found == values_.end()) return "-";
    const Value& value = found->second;
    const bool is_due = value.due != 0 && value.due <= now;
    if (value.operands.empty()) return is_due || !value.base ? "-" : *value.base;
    return (is_due ? "" : value.base.value_or("")) + value.operands;
  }
  [[nodiscard]] std::string all(std::uint64_t now) const {
    std::string text;
    for (const auto& [key, value] : values_) {
      if (get(key, now) != "-") text += fmt::format("{}={} ", key, get(key, now));
    }
    return text;
  }

 private:
  std::map<std::string, Value> values_;
};

TEST(Merges, Rule31_RandomWritesReadTheSameWhateverIsFolded) {
  struct Kept {
    Snapshot snapshot;
    Expected expected;
    std::uint64_t time;
  };
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    SplitMix64 random(seed);
    Options options = with_operator("append");
    options.compaction = seed % 3 == 0 ? "tiered" : seed % 3 == 1 ? "leveled" : "manual";
    MergingStore store(options);
    Expected expected;
    std::deque<Kept> kept;
    const auto key_of = [&] { return std::string(1, static_cast<char>('a' + random.below(5))); };
    for (int step = 0; step < 120; ++step) {
      const std::string key = key_of();
      const std::string bytes = fmt::format("{}", step % 10);
      const std::uint64_t choice = random.below(20);
      if (choice < 9) {
        store.merge(key, bytes);
        expected.merge(key, bytes);
      } else if (choice < 11) {
        const std::uint64_t lifetime = random.below(2) * (1 + random.below(40));
        store.put(key, bytes, std::chrono::milliseconds(lifetime));
        expected.put(key, bytes, lifetime == 0 ? 0 : store.clock + lifetime);
      } else if (choice == 11) {
        ASSERT_TRUE(store.db->remove(key).ok());
        expected.remove(key);
      } else if (choice == 12) {
        const std::string to = key_of();
        ASSERT_TRUE(store.db->remove_range(key, to).ok());
        expected.remove_range(key, to);
      } else if (choice == 13) {
        kept.push_back({store.db->snapshot(), expected, store.clock});
        if (kept.size() > 3) kept.pop_front();
      } else if (choice == 14) {
        store.clock += random.below(20);
      } else if (choice == 15 && random.below(3) == 0) {
        kept.clear();
        store.open();
      } else {
        store.settle(1 + static_cast<int>(random.below(2)));
      }
      ASSERT_EQ(store.all(), expected.all(store.clock)) << "step " << step;
      ASSERT_EQ(store.get(key), expected.get(key, store.clock));
      for (const Kept& old : kept) {
        ASSERT_EQ(store.all(&old.snapshot), old.expected.all(old.time)) << "step " << step;
        ASSERT_EQ(store.get(key, &old.snapshot), old.expected.get(key, old.time));
      }
    }
  }
}

TEST(Merges, InABatchAreFoldedInItsOrderAcrossKeyspaces) {
  MergingStore store;
  Keyspace users = *store.db->keyspace("users", {.merge_operator = "append"});
  Batch batch;
  batch.merge("k", "1");
  batch.put("k", "a");
  batch.merge("k", "2");
  batch.merge(users, "k", "u");
  batch.merge("k", "3");
  ASSERT_TRUE(store.db->write(batch).ok());
  EXPECT_EQ(store.get("k"), "a23");
  ASSERT_TRUE(users.merge("k", "v").ok());
  EXPECT_EQ(users.get("k")->value(), "uv");
}

TEST(Merges, Rule37_LargeCommitsMergeToo) {
  MergingStore store(Options{.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10, .merge_operator = "append"});
  store.put("k", "0");
  Batch batch;
  const std::string large(400'000, 'v');
  batch.merge("k", "1");
  batch.put("large", large);
  batch.merge("k", "2");
  batch.merge("n", "3");
  ASSERT_TRUE(store.db->write(batch).ok());
  EXPECT_EQ(store.get("k"), "012");
  EXPECT_EQ(store.get("n"), "3");
  store.merge("k", "4");
  store.open();
  EXPECT_EQ(store.get("k"), "0124");
}

TEST(Merges, AFollowerFoldsThem) {
  MergingStore store;
  Result<DB> before = DB::open("/store", {.read_only = true, .follows = true}, {.files = &store.files});
  ASSERT_TRUE(before.ok()) << before.status().to_text();
  store.merge("k", "1");
  store.merge("k", "2");
  for (int depth = 0; depth < 3; ++depth) {
    store.settle(depth);
    ASSERT_TRUE(before->catch_up().ok());
    EXPECT_EQ(before->get("k")->value_or("-"), "12") << "it was opened before there was an operator";
    EXPECT_EQ(before->scan().value(), "12");
  }
}

TEST(Merges, ExplainShowsTheOperands) {
  MergingStore store;
  store.put("k", "0");
  store.settle(1);
  store.merge("k", "1");
  store.merge("k", "2");
  const Explanation explained = *store.db->explain("k");
  EXPECT_EQ(explained.value, "012");
  EXPECT_EQ(explained.operands, (std::vector<std::string>{"2", "1"}));
  ASSERT_EQ(explained.steps.size(), 4U);
  EXPECT_EQ(explained.steps[0].outcome, "merge operand");
  EXPECT_EQ(explained.steps[1].outcome, "merge operand");
  EXPECT_EQ(explained.steps[2].outcome, "absent");
  EXPECT_EQ(explained.steps[3].outcome, "found");
}

/// A crash after every call: what was acknowledged is counted, and nothing is counted twice.
TEST(Merges, Rule34_NothingIsCountedTwiceAfterACrash) {
  const Options options{.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10, .merge_operator = "add_i64"};
  const auto environment = [](FileSystem& files) {
    return Environment{.files = &files, .random_seed = 1, .runs_in_background = false};
  };
  CrashFileSystem files;
  std::int64_t begun = 0;
  std::int64_t acknowledged = 0;
  std::uint64_t crashes = 0;
  files.after_each_call([&](const MemoryDisk& disk, std::string_view call) {
    for (const Loss loss : {Loss::kNothing, Loss::kEverything}) {
      CrashFileSystem rebooted(disk.after_crash(loss, ++crashes));
      Result<DB> db = DB::open("/store", options, environment(rebooted));
      if (!db.ok() && begun == 0) continue;
      ASSERT_TRUE(db.ok()) << call << ": " << db.status().to_text();
      for (int opened = 0; opened < 2; ++opened) {
        const Result<std::optional<std::string>> value = db->get("n");
        ASSERT_TRUE(value.ok()) << value.status().to_text();
        const std::int64_t counted = value->has_value() ? *unpack_i64(**value) : 0;
        ASSERT_GE(counted, acknowledged) << call;
        ASSERT_LE(counted, begun) << call;
        ASSERT_TRUE(opened == 0 ? db->flush().ok() : db->compact().ok());
        ASSERT_EQ(unpack_i64(db->get("n")->value_or(pack_i64(0))), counted) << call;
      }
    }
  });
  {
    DB db = *DB::open("/store", options, environment(files));
    for (int i = 0; i < 8; ++i) {
      ++begun;
      ASSERT_TRUE(db.merge("n", pack_i64(1), {.sync = true}).ok());
      ++acknowledged;
      if (i % 3 == 1) {
        ASSERT_TRUE(db.flush().ok());
      }
      if (i == 5) {
        ASSERT_TRUE(db.compact().ok());
      }
    }
  }
  EXPECT_GT(crashes, 100U);
}

}  // namespace
}  // namespace tamis
