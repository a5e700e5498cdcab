// Rule 38: keys of any length up to 16 MiB, through the whole store.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>

#include "entry/entry.h"
#include "io/memory_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

using Model = std::map<std::string, std::string>;

/// Few keys, which share prefixes of about as many bytes as 16 bits count, and of more.
std::string some_key(std::mt19937_64& random) {
  const std::size_t lengths[] = {0, 5, 65'534, 65'535, 65'536, 65'540, 200'000};
  std::string key(lengths[random() % std::size(lengths)], 'k');
  for (std::uint64_t left = random() % 3; left > 0; --left) key.push_back("\x00k\xff"[random() % 3]);
  return key;
}

void expect_equal(Iterator at, const Model& model, bool forwards) {
  const auto is_shown = [&](const auto& entry) {
    ASSERT_TRUE(at.valid());
    ASSERT_TRUE(at.key() == entry.first) << at.key().size() << " and " << entry.first.size() << " bytes";
    ASSERT_EQ(at.value(), entry.second);
  };
  if (forwards) {
    for (auto it = model.begin(); it != model.end(); ++it, at.next()) ASSERT_NO_FATAL_FAILURE(is_shown(*it));
  } else {
    at.seek_to_last();
    for (auto it = model.rbegin(); it != model.rend(); ++it, at.previous()) ASSERT_NO_FATAL_FAILURE(is_shown(*it));
  }
  EXPECT_FALSE(at.valid());
  EXPECT_TRUE(at.status().ok());
}

/// A store of small tables and blocks, and what it must answer.
class LongKeys : public testing::TestWithParam<const char*> {
 protected:
  void open() {
    Options options{.memory_bytes = 64 << 20, .memtable_bytes = 1 << 20, .table_bytes = 1 << 20, .fanout = 2};
    options.compaction = GetParam();
    Result<DB> opened = DB::open("/store", options, {.files = &files, .random_seed = 1, .runs_in_background = false});
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    db = *std::move(opened);
  }
  void write_some(int writes) {
    for (int i = 0; i < writes; ++i) {
      const std::string key = some_key(random);
      if (random() % 5 == 0) {
        ASSERT_TRUE(db.remove(key).ok());
        model.erase(key);
      } else {
        model[key] = std::to_string(random());
        ASSERT_TRUE(db.put(key, model[key]).ok());
      }
    }
  }
  void expect_right() {
    ASSERT_NO_FATAL_FAILURE(expect_equal(db.scan(), model, true));
    ASSERT_NO_FATAL_FAILURE(expect_equal(db.scan(), model, false));
    Iterator at = db.scan();
    for (int i = 0; i < 30; ++i) {
      const std::string key = some_key(random);
      const auto found = db.get(key);
      ASSERT_TRUE(found.ok());
      const auto expected = model.find(key);
      ASSERT_EQ(*found, expected == model.end() ? std::nullopt : std::optional(expected->second));
      at.seek(key);
      const auto after = model.lower_bound(key);
      ASSERT_EQ(at.valid(), after != model.end());
      ASSERT_TRUE(!at.valid() || at.key() == after->first);
    }
  }

  MemoryFileSystem files;
  DB db;
  Model model;
  std::mt19937_64 random{38};
};

TEST_P(LongKeys, Rule38_AnswerAsShortOnesDo) {
  ASSERT_NO_FATAL_FAILURE(open());
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    ASSERT_NO_FATAL_FAILURE(write_some(60));
    {
      const Snapshot snapshot = db.snapshot();
      const Model then = model;
      ASSERT_NO_FATAL_FAILURE(write_some(60));
      ASSERT_NO_FATAL_FAILURE(expect_right());
      if (round % 2 == 1) {
        ASSERT_TRUE(db.compact().ok());
        ASSERT_NO_FATAL_FAILURE(expect_right());
      }
      ASSERT_NO_FATAL_FAILURE(expect_equal(db.scan({.snapshot = &snapshot}), then, true));
      ASSERT_NO_FATAL_FAILURE(expect_equal(db.scan({.snapshot = &snapshot}), then, false));
    }
    if (round == 2) {
      ASSERT_TRUE(db.close().ok());
      ASSERT_NO_FATAL_FAILURE(open());
      ASSERT_NO_FATAL_FAILURE(expect_right());
    }
  }
  const Result<VerifyReport> report = db.verify();
  ASSERT_TRUE(report.ok()) << report.status().to_text();
  EXPECT_TRUE(report->ok());
  ASSERT_TRUE(db.close().ok());
  ASSERT_TRUE(files.remove("/store/CURRENT").ok());
  const Result<RepairReport> repaired = DB::repair("/store", false, {.files = &files, .random_seed = 2});
  ASSERT_TRUE(repaired.ok()) << repaired.status().to_text();
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(expect_right());
}

INSTANTIATE_TEST_SUITE_P(Policies, LongKeys, testing::Values("leveled", "tiered"),
                         [](const auto& policy) { return std::string(policy.param); });

TEST(LongestKey, Rule38_IsPutFoundScannedAndRemovedAndOneByteMoreIsRefused) {
  MemoryFileSystem files;
  Result<DB> db = DB::open("/store", {}, {.files = &files, .random_seed = 1, .runs_in_background = false});
  ASSERT_TRUE(db.ok());
  const std::string longest(Batch::kMaxKeyBytes, 'k');
  ASSERT_TRUE(db->put(longest, "first").ok());
  const Snapshot before = db->snapshot();
  ASSERT_TRUE(db->put(longest, "second").ok());
  for (const bool flushed : {false, true}) {
    if (flushed) {
      ASSERT_TRUE(db->flush().ok());
    }
    EXPECT_EQ(*db->get(longest), "second");
    EXPECT_EQ(*db->get(longest, {.snapshot = &before}), "first");
    Iterator at = db->scan();
    ASSERT_TRUE(at.valid());
    EXPECT_TRUE(at.key() == longest);
    at.seek(std::string_view(longest).substr(1));
    EXPECT_TRUE(at.valid());
    at.seek(longest + "l");
    EXPECT_FALSE(at.valid());
  }
  ASSERT_TRUE(db->remove(longest).ok());
  EXPECT_EQ(*db->get(longest), std::nullopt);
  EXPECT_EQ(db->put(longest + "k", "").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(*db->get(longest + "k"), std::nullopt);
}

}  // namespace
}  // namespace tamis
