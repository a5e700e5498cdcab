// Range-for over scans, and reverse scans.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <tamis/db.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <string>
#include <vector>

#include "base/random.h"
#include "io/memory_file_system.h"
#include "support/counting_file_system.h"

namespace tamis::test {
namespace {

static_assert(std::ranges::input_range<Iterator>);

using Entries = std::vector<std::pair<std::string, std::string>>;

/// Keys "000" to "199" with gaps, in tables and in the memtable, some overwritten or removed.
class Scans : public ::testing::Test {
 protected:
  Scans() {
    const Options options{.filter = "none", .compaction = "manual"};
    Result<DB> opened = DB::open("/store", options, {.files = &files_, .random_seed = 1, .runs_in_background = false});
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    db_ = *std::move(opened);
    SplitMix64 random(1);
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 60; ++i) change(fmt::format("{:03}", random.below(200)), round, random.below(4) == 0);
      if (round == 2) {
        then_ = db_.snapshot();
        map_then_ = map_;
      }
      if (round == 3) break;  // The last changes stay in the memtable.
      EXPECT_TRUE(db_.flush().ok());
    }
  }
  void change(const std::string& key, int round, bool is_removed) {
    if (is_removed) {
      map_.erase(key);
      EXPECT_TRUE(db_.remove(key).ok());
    } else {
      map_[key] = fmt::format("{} in round {}", key, round);
      EXPECT_TRUE(db_.put(key, map_[key]).ok());
    }
  }
  static Entries entries(Iterator& it) {
    Entries seen;
    for (const auto& [key, value] : it) seen.emplace_back(key, value);
    EXPECT_TRUE(it.status().ok()) << it.status().to_text();
    return seen;
  }
  Entries scan(const ScanOptions& options) const {
    Iterator it = db_.scan(options);
    return entries(it);
  }
  static Entries part(const std::map<std::string, std::string>& map, const std::string& from, const std::string& to) {
    return {map.lower_bound(from), map.lower_bound(to)};
  }
  static Entries reversed(Entries entries) {
    std::ranges::reverse(entries);
    return entries;
  }

  MemoryFileSystem files_;
  DB db_;
  Snapshot then_;
  std::map<std::string, std::string> map_;
  std::map<std::string, std::string> map_then_;
};

TEST_F(Scans, ARangeForVisitsTheRangeInOrder) {
  EXPECT_EQ(scan({}), Entries(map_.begin(), map_.end()));
  EXPECT_EQ(scan({.from = "050", .to = "120"}), part(map_, "050", "120"));
  EXPECT_EQ(scan({.prefix = "1"}), part(map_, "1", "2"));
  EXPECT_EQ(scan({.prefix = "1", .snapshot = &then_}), part(map_then_, "1", "2"));
  EXPECT_EQ(scan({.prefix = "x"}), Entries());
  std::uint64_t count = 0;
  for (const auto& [key, value] : db_.scan()) count += value.starts_with(key) ? 1 : 0;
  EXPECT_EQ(count, map_.size());
}

TEST_F(Scans, AReverseRangeForVisitsTheRangeFromItsLastKeyToItsFirst) {
  EXPECT_EQ(scan({.reverse = true}), reversed({map_.begin(), map_.end()}));
  EXPECT_EQ(scan({.from = "050", .to = "120", .reverse = true}), reversed(part(map_, "050", "120")));
  EXPECT_EQ(scan({.prefix = "1", .reverse = true}), reversed(part(map_, "1", "2")));
  EXPECT_EQ(scan({.prefix = "1", .reverse = true, .snapshot = &then_}), reversed(part(map_then_, "1", "2")));
  EXPECT_EQ(scan({.prefix = "x", .reverse = true}), Entries());
}

/// Every present key, every gap, and positions outside the range.
TEST_F(Scans, ASeekOfAReverseScanGoesToTheLastKeyAtOrBefore) {
  Iterator all = db_.scan({.reverse = true});
  Iterator some = db_.scan({.from = "050", .to = "120", .reverse = true, .snapshot = &then_});
  for (int i = 0; i < 201; ++i) {
    for (const std::string& target : {fmt::format("{:03}", i), fmt::format("{:03}x", i)}) {
      SCOPED_TRACE(target);
      all.seek(target);
      some.seek(target);
      Entries rest = reversed({map_.begin(), map_.upper_bound(target)});
      EXPECT_EQ(all.key(), rest.empty() ? "" : rest.front().first);
      EXPECT_EQ(all.value(), rest.empty() ? "" : rest.front().second);
      if (i % 16 == 0) {
        EXPECT_EQ(entries(all), rest);
      }
      const std::string end = std::min<std::string>(target + '\0', "120");
      rest = target < "050" ? Entries() : reversed(part(map_then_, "050", end));
      EXPECT_EQ(some.key(), rest.empty() ? "" : rest.front().first);
      EXPECT_EQ(entries(some), rest);
    }
  }
}

TEST_F(Scans, ASeekMovesARangeForOn) {
  Iterator it = db_.scan({.to = "150"});
  it.seek("100");
  EXPECT_EQ(entries(it), part(map_, "100", "150"));
  it.seek_to_first();
  EXPECT_EQ(entries(it), part(map_, "", "150"));
}

TEST_F(Scans, NextAndPreviousMeanTheSameInEveryScan) {
  const std::string last = map_.rbegin()->first;
  const std::string before_last = std::next(map_.rbegin())->first;
  Iterator it = db_.scan({.reverse = true});
  EXPECT_EQ(it.key(), last);
  it.previous();
  EXPECT_EQ(it.key(), before_last);
  it.next();
  EXPECT_EQ(it.key(), last);
  it.advance();
  EXPECT_EQ(it.key(), before_last);
  it.seek_to_first();
  EXPECT_EQ(it.key(), map_.begin()->first);
  it.seek_before("100");
  EXPECT_EQ(it.key(), std::prev(map_.lower_bound("100"))->first);
}

TEST_F(Scans, AScanThatIsNotPositionedIsOnNoKeyUntilASeek) {
  for (const bool reverse : {false, true}) {
    Iterator it = db_.scan({.from = "050", .reverse = reverse, .positioned = false});
    const std::string later = "051 " + std::to_string(static_cast<int>(reverse));
    change(later, 9, false);
    EXPECT_FALSE(it.valid());
    EXPECT_TRUE(it.status().ok());
    it.next();
    it.previous();
    it.advance();
    EXPECT_FALSE(it.valid()) << it.key();
    it.seek(later);
    ASSERT_TRUE(it.valid());
    EXPECT_NE(it.key(), later) << "written after the scan began";
    it = db_.scan({.from = "050", .reverse = reverse, .positioned = false});
    it.seek_to_last();
    EXPECT_EQ(it.key(), map_.rbegin()->first);
    it = db_.scan({.from = "050", .reverse = reverse, .positioned = false});
    it.seek_to_first();
    EXPECT_EQ(it.key(), map_.lower_bound("050")->first);
    it = db_.scan({.from = "050", .reverse = reverse, .positioned = false});
    it.seek_before("100");
    EXPECT_EQ(it.key(), std::prev(map_.lower_bound("100"))->first);
  }
}

TEST_F(Scans, ALoopThatWasLeftIsResumedByAnother) {
  Iterator it = db_.scan();
  Entries seen;
  for (const auto& [key, value] : it) {
    if (seen.size() == 10) break;
    seen.emplace_back(key, value);
  }
  const Entries rest = entries(it);
  seen.insert(seen.end(), rest.begin(), rest.end());
  EXPECT_EQ(seen, Entries(map_.begin(), map_.end()));
}

TEST_F(Scans, TheStatusTellsThatALoopEndedTooEarly) {
  Iterator it = db_.scan();
  std::uint64_t seen = 0;
  for ([[maybe_unused]] const auto& entry : it) {
    if (++seen == 5) db_ = DB();  // Closes.
  }
  EXPECT_EQ(seen, 5U);
  EXPECT_EQ(it.status().code(), StatusCode::kClosed) << it.status().to_text();
}

TEST_F(Scans, ExistsSaysWhatGetFinds) {
  for (int i = 0; i < 200; ++i) {
    const std::string key = fmt::format("{:03}", i);
    EXPECT_EQ(*db_.exists(key), map_.contains(key)) << key;
    EXPECT_EQ(*db_.exists(key, {.snapshot = &then_}), map_then_.contains(key)) << key;
  }
  EXPECT_EQ(db_.stats().gets, 400U);
  const Snapshot none;
  EXPECT_EQ(db_.exists("000", {.snapshot = &none}).status().code(), StatusCode::kInvalidArgument);
}

TEST(CountedScans, AScanThatIsNotPositionedReadsNothing) {
  MemoryFileSystem memory;
  CountingFileSystem files(memory);
  const Environment environment{.files = &files, .random_seed = 1, .runs_in_background = false};
  {
    Result<DB> db = DB::open("/store", {.compaction = "manual"}, environment);
    ASSERT_TRUE(db.ok() && db->put("a", "1").ok() && db->flush().ok() && db->close().ok());
  }
  const Result<DB> db = DB::open("/store", {.compaction = "manual"}, environment);
  ASSERT_TRUE(db.ok());
  const std::uint64_t before = files.reads();
  Iterator it = db->scan({.positioned = false, .fills_cache = false});
  EXPECT_EQ(files.reads(), before);
  it.seek_to_first();
  EXPECT_EQ(it.key(), "a");
  EXPECT_GT(files.reads(), before);
}

}  // namespace
}  // namespace tamis::test
