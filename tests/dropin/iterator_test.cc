// What leveldb::Iterator promises. Runs with our library and with LevelDB's.
#include <fmt/core.h>

#include <array>
#include <iterator>
#include <map>
#include <string>

#include "base/random.h"
#include "dropin/leveldb_store.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

using LevelDbIterator = LevelDbStore;

constexpr int kOne = 1;

TEST_F(LevelDbIterator, BeginsOnNoKey) {
  must_open();
  put("a", "1");
  const std::unique_ptr<leveldb::Iterator> at = iterator();
  EXPECT_FALSE(at->Valid());
  EXPECT_TRUE(at->status().ok());
}

TEST_F(LevelDbIterator, MovesInBothDirections) {
  must_open();
  for (const char* key : {"b", "d", "f"}) put(key, "1");
  const std::unique_ptr<leveldb::Iterator> at = iterator();
  at->SeekToFirst();
  EXPECT_EQ(shown(*at), "b=1");
  at->Next();
  EXPECT_EQ(shown(*at), "d=1");
  at->Prev();
  EXPECT_EQ(shown(*at), "b=1");
  at->Prev();
  EXPECT_EQ(shown(*at), "end");
  at->SeekToLast();
  EXPECT_EQ(shown(*at), "f=1");
  at->Prev();
  EXPECT_EQ(shown(*at), "d=1");
  at->Next();
  at->Next();
  EXPECT_EQ(shown(*at), "end");
  at->Seek("c");
  EXPECT_EQ(shown(*at), "d=1");
  at->Seek("d");
  EXPECT_EQ(shown(*at), "d=1");
  at->Seek("g");
  EXPECT_EQ(shown(*at), "end");
  at->Seek("");
  EXPECT_EQ(shown(*at), "b=1");
}

TEST_F(LevelDbIterator, ShowsTheMomentOfItsCreation) {
  must_open();
  put("a", "1");
  put("b", "2");
  const std::unique_ptr<leveldb::Iterator> at = iterator();
  put("a", "3");
  put("c", "4");
  ASSERT_TRUE(db_->Delete(leveldb::WriteOptions(), "b").ok());
  db_->CompactRange(nullptr, nullptr);
  at->SeekToFirst();
  EXPECT_EQ(shown(*at), "a=1");
  at->Next();
  EXPECT_EQ(shown(*at), "b=2");
  at->Next();
  EXPECT_EQ(shown(*at), "end");
}

TEST_F(LevelDbIterator, OfAnEmptyDatabaseFindsNothing) {
  must_open();
  const std::unique_ptr<leveldb::Iterator> at = iterator();
  at->SeekToFirst();
  EXPECT_FALSE(at->Valid());
  at->SeekToLast();
  EXPECT_FALSE(at->Valid());
  at->Seek("a");
  EXPECT_FALSE(at->Valid());
}

/// Random changes, and random moves of iterators at the present and at snapshots, beside maps.
class LevelDbRandomMoves : public LevelDbStore {
 protected:
  using Map = std::map<std::string, std::string>;

  std::string random_key() { return fmt::format("{:0{}}", random_.below(300), 1 + random_.below(4)); }

  void change() {
    leveldb::WriteBatch batch;
    for (std::uint64_t i = 0; i < 1 + random_.below(20); ++i) {
      const std::string key = random_key();
      if (random_.below(3) == 0) {
        batch.Delete(key);
        map_.erase(key);
      } else {
        map_[key] = std::string(random_.below(200), static_cast<char>('a' + random_.below(26)));
        batch.Put(key, map_[key]);
      }
    }
    ASSERT_TRUE(db_->Write(leveldb::WriteOptions(), &batch).ok());
  }

  void walk(const Map& map, const leveldb::Snapshot* snapshot) {
    const std::unique_ptr<leveldb::Iterator> at = iterator(snapshot);
    auto expected = map.end();
    for (int i = 0; i < 60; ++i) {
      const std::string key = random_key();
      const std::uint64_t move = random_.below(12);
      if (move == 0) {
        at->SeekToFirst();
        expected = map.begin();
      } else if (move == 1) {
        at->SeekToLast();
        expected = map.empty() ? map.end() : std::prev(map.end());
      } else if (move < 4) {
        at->Seek(key);
        expected = map.lower_bound(key);
      } else if (expected == map.end()) {
        continue;
      } else if (move < 8) {
        at->Next();
        ++expected;
      } else {
        at->Prev();
        expected = expected == map.begin() ? map.end() : std::prev(expected);
      }
      ASSERT_EQ(shown(*at), expected == map.end() ? "end" : expected->first + "=" + expected->second);
    }
  }

  SplitMix64 random_{base_seed(20)};
  Map map_;
};

TEST_F(LevelDbRandomMoves, MeanWhatTheyMeanInAMap) {
  options_.write_buffer_size = 64 << 10;
  must_open();
  for (int round = 0; round < 150; ++round) {
    for (int i = 0; i < 10; ++i) change();
    const leveldb::Snapshot* snapshot = db_->GetSnapshot();
    const Map then = map_;
    change();
    if (round % 10 == 0) db_->CompactRange(nullptr, nullptr);
    walk(map_, nullptr);
    walk(then, snapshot);
    db_->ReleaseSnapshot(snapshot);
    if (round % 50 == 49) must_open();
    if (HasFatalFailure()) FAIL() << "in round " << round;
  }
}

TEST(LevelDbIterators, OfNothing) {
  const std::unique_ptr<leveldb::Iterator> empty(leveldb::NewEmptyIterator());
  empty->SeekToFirst();
  EXPECT_FALSE(empty->Valid());
  EXPECT_TRUE(empty->status().ok());
  const std::unique_ptr<leveldb::Iterator> failed(
      leveldb::NewErrorIterator(leveldb::Status::Corruption("bad", "block")));
  failed->Seek("a");
  EXPECT_FALSE(failed->Valid());
  EXPECT_EQ(failed->status().ToString(), "Corruption: bad: block");
}

TEST(LevelDbIterators, RunTheirCleanupOnce) {
  std::array<int, 3> calls = {};
  {
    const std::unique_ptr<leveldb::Iterator> at(leveldb::NewEmptyIterator());
    for (int& call : calls) {
      at->RegisterCleanup([](void* count, void* by) { *static_cast<int*>(count) += *static_cast<int*>(by); }, &call,
                          const_cast<int*>(&kOne));
    }
    EXPECT_EQ(calls, (std::array<int, 3>{0, 0, 0}));
  }
  EXPECT_EQ(calls, (std::array<int, 3>{1, 1, 1}));
}

}  // namespace
}  // namespace tamis::test
