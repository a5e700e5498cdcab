#include "engine/read_set.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

namespace tamis {
namespace {

/// "a [b,c) 1:[d,) …": the points, then the intervals, with the keyspace unless it is the default one.
std::string text(const ReadSet& reads) {
  std::string all;
  const auto keyspace = [](KeyspaceId id) {
    return id == kDefaultKeyspace ? std::string() : fmt::format("{}:", number_of(id));
  };
  reads.visit_points(
      [&](const ReadSet::Point& point) { all += keyspace(point.keyspace) + std::string(point.key) + " "; });
  for (const ReadSet::Interval& interval : reads.intervals()) {
    all += fmt::format("{}[{},{}) ", keyspace(interval.keyspace), interval.range.from, interval.range.to.value_or(""));
  }
  return all.empty() ? all : all.substr(0, all.size() - 1);
}

TEST(ReadSet, ACursorsIntervalGrowsInBothDirections) {
  ReadSet reads(1 << 20);
  ReadSet::Slot slot;
  reads.add_range(slot, kDefaultKeyspace, "d", "e");
  reads.add_range(slot, kDefaultKeyspace, "e", "f");
  EXPECT_EQ(text(reads), "[d,f)");
  reads.add_range(slot, kDefaultKeyspace, "b", "d");
  EXPECT_EQ(text(reads), "[b,f)");
  reads.add_range(slot, kDefaultKeyspace, "c", "d");
  EXPECT_EQ(text(reads), "[b,f)");
  reads.add_range(slot, kDefaultKeyspace, "x", "y");
  EXPECT_EQ(text(reads), "[b,f) [x,y)") << "a seek elsewhere begins anew";
  reads.add_range(slot, kDefaultKeyspace, "w", std::nullopt);
  EXPECT_EQ(text(reads), "[b,f) [w,)");
  reads.add_range(slot, kDefaultKeyspace, "m", "m");
  EXPECT_EQ(text(reads), "[b,f) [w,)") << "nothing is nothing";
}

TEST(ReadSet, IntervalsAreSortedAndJoinedBeforeTheCheck) {
  ReadSet reads(1 << 20);
  for (const auto& [from, to] : {std::pair("m", "p"), std::pair("a", "c"), std::pair("b", "d"), std::pair("d", "e")}) {
    ReadSet::Slot slot;
    reads.add_range(slot, kDefaultKeyspace, from, to);
  }
  ReadSet::Slot other;
  reads.add_range(other, KeyspaceId{1}, "a", "z");
  reads.add_key(KeyspaceId{1}, "k");
  reads.prepare();
  EXPECT_EQ(text(reads), "1:k [a,e) [m,p) 1:[a,z)");
  EXPECT_EQ(reads.keyspaces(), std::vector<KeyspaceId>{KeyspaceId{1}});
}

TEST(ReadSet, Rule40_CoarsensToLargerIntervalsThatHoldEverything) {
  ReadSet reads(4000);
  ReadSet::Slot slot;
  std::uint64_t most = 0;
  for (int i = 0; i < 5000; ++i) {
    reads.add_key(KeyspaceId{static_cast<std::uint32_t>(i % 3)}, fmt::format("key {:04}", i));
    reads.add_range(slot, kDefaultKeyspace, fmt::format("range {:04}", 2 * i), fmt::format("range {:04}", 2 * i + 1));
    most = std::max(most, reads.memory_bytes());
  }
  EXPECT_LE(most, 4000U);
  reads.prepare();
  const auto has = [&](KeyspaceId keyspace, std::string_view key) {
    bool found = false;
    reads.visit_points([&](const ReadSet::Point& point) { found |= point.keyspace == keyspace && point.key == key; });
    for (const ReadSet::Interval& interval : reads.intervals()) {
      found |= interval.keyspace == keyspace && interval.range.contains(key);
    }
    return found;
  };
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(has(KeyspaceId{static_cast<std::uint32_t>(i % 3)}, fmt::format("key {:04}", i))) << i;
    ASSERT_TRUE(has(kDefaultKeyspace, fmt::format("range {:04}", 2 * i))) << i;
  }
  EXPECT_FALSE(has(KeyspaceId{1}, "key"));
  EXPECT_FALSE(has(KeyspaceId{1}, "key 5000"));
  EXPECT_FALSE(has(KeyspaceId{3}, "key 0000"));
}

TEST(ReadSet, ACursorGoesOnAfterACoarsening) {
  ReadSet reads(300);
  ReadSet::Slot slot;
  reads.add_range(slot, kDefaultKeyspace, "a", "b");
  for (int i = 0; i < 100; ++i) reads.add_key(KeyspaceId{1}, fmt::format("{:03}", i));
  reads.add_range(slot, kDefaultKeyspace, "b", "c");
  reads.prepare();
  bool found = false;
  for (const ReadSet::Interval& interval : reads.intervals()) {
    found |= interval.keyspace == kDefaultKeyspace && interval.range.contains("b1");
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace tamis
