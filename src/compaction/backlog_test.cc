// The bytes that a policy still has to move: more than none exactly while it has something to do because of sizes.
#include <gtest/gtest.h>

#include "base/random.h"
#include "compaction/policy.h"
#include "compaction/simulated_store.h"

namespace tamis {
namespace {

constexpr std::uint64_t kEntryBytes = 100;
constexpr PolicyOptions kOptions = {.fanout = 4, .memtable_bytes = 100 * kEntryBytes, .table_bytes = 50 * kEntryBytes};

void flush(SimulatedStore& store, SplitMix64& random) {
  std::vector<SimulatedWrite> writes;
  static std::uint64_t version = 0;
  for (int i = 0; i < 100; ++i) writes.push_back({.key = random.below(20'000), .version = ++version});
  ASSERT_TRUE(store.flush(std::move(writes), 0).ok());
}

std::uint64_t bytes_of(const Shape& shape, std::uint32_t level) {
  std::uint64_t bytes = 0;
  for (const Run& run : shape.levels[level]) bytes += run.bytes();
  return bytes;
}

TEST(CompactionBacklog, IsNothingInAStoreThatIsEmptyOrAtRest) {
  for (const CompactionPolicy& policy : compaction_policies()) {
    EXPECT_EQ(policy.backlog({}, kOptions), 0U) << policy.name;
    SplitMix64 random(3);
    SimulatedStore store(kEntryBytes, kOptions.table_bytes);
    std::uint64_t most = 0;
    for (int i = 0; i < 60; ++i) {
      flush(store, random);
      while (const auto plan = policy.pick(store.shape(), kOptions)) {
        most = std::max(most, policy.backlog(store.shape(), kOptions));
        ASSERT_TRUE(store.run(*plan).ok());
      }
      ASSERT_EQ(policy.backlog(store.shape(), kOptions), 0U) << policy.name << " after flush " << i;
    }
    EXPECT_EQ(most > 0, policy.is_automatic) << policy.name;
  }
}

TEST(CompactionBacklog, GrowsWithWhatIsNotCompacted) {
  for (const CompactionPolicy& policy : compaction_policies()) {
    if (!policy.is_automatic) continue;
    SplitMix64 random(4);
    SimulatedStore store(kEntryBytes, kOptions.table_bytes);
    std::uint64_t before = 0;
    for (int i = 0; i < 20; ++i) {
      flush(store, random);
      const std::uint64_t backlog = policy.backlog(store.shape(), kOptions);
      EXPECT_EQ(backlog > 0, policy.pick(store.shape(), kOptions).has_value()) << policy.name << ", " << i;
      EXPECT_GE(backlog, before) << policy.name << ", " << i;
      before = backlog;
    }
    EXPECT_EQ(before, bytes_of(store.shape(), 0)) << policy.name;
  }
}

/// Level 1 of a leveled store takes memtable_bytes * fanout.
TEST(CompactionBacklog, OfALevelIsWhatItHasTooMuch) {
  const CompactionPolicy& leveled = *find_compaction_policy("leveled");
  SplitMix64 random(5);
  SimulatedStore store(kEntryBytes, kOptions.table_bytes);
  for (int i = 0; i < 12; ++i) {
    flush(store, random);
    PolicyOptions roomy = kOptions;
    roomy.fanout = 1000;  // Nothing leaves level 1.
    while (const auto plan = leveled.pick(store.shape(), roomy)) ASSERT_TRUE(store.run(*plan).ok());
  }
  const std::uint64_t too_much = bytes_of(store.shape(), 1) - kOptions.fanout * kOptions.memtable_bytes;
  EXPECT_GT(too_much, 0U);
  EXPECT_EQ(leveled.backlog(store.shape(), kOptions), too_much);
}

}  // namespace
}  // namespace tamis
