// What a scan that finds nothing reads.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "counted/counted_store.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kKeys = 30'000;  // 0, 10, 20, ...
constexpr std::uint64_t kStep = 10;

Options options_with(std::uint32_t range_filter_bits) {
  Options options{.memory_bytes = 64 << 20, .memtable_bytes = 1 << 20, .table_bytes = 256 << 10};
  options.range_filter_bits = range_filter_bits;
  return options;
}

std::string key(std::uint64_t number) { return CountedStore::present_key(number); }

/// Settled: all in tables of the last level, indexes and filters in memory, no block cached.
void fill(CountedStore& store) {
  store.put_numbers(0, kKeys * kStep, kStep);
  ASSERT_TRUE(store.db->compact().ok());
  store.reopen();
  ASSERT_GT(store.db->stats().levels.back().tables, 3U);
}

struct Scanned {
  std::uint64_t reads = 0;
  std::uint64_t keys = 0;
};
Scanned scan(CountedStore& store, ScanOptions options) {
  options.fills_cache = false;
  const std::uint64_t before = store.counting.reads();
  Scanned scanned;
  Iterator at = store.db->scan(options);
  for (; at.valid(); at.advance()) ++scanned.keys;
  EXPECT_TRUE(at.status().ok()) << at.status().to_text();
  scanned.reads = store.counting.reads() - before;
  return scanned;
}

/// The nine numbers beside a present key, in both directions; the first scan of each table has loaded its metadata.
struct Sums {
  double reads_per_scan = 0;
  std::uint64_t keys = 0;
};
Sums scan_beside_keys(CountedStore& store, bool reverse) {
  Sums sums;
  for (const bool counts : {false, true}) {
    std::uint64_t scans = 0;
    for (std::uint64_t number = 0; number < kKeys * kStep; number += 37 * kStep, ++scans) {
      const std::string from = key(number + 1);
      const std::string to = key(number + kStep);
      const Scanned scanned = scan(store, {.from = from, .to = to, .reverse = reverse});
      sums.keys += scanned.keys;
      if (counts) sums.reads_per_scan += static_cast<double>(scanned.reads);
    }
    if (counts) sums.reads_per_scan /= static_cast<double>(scans);
  }
  return sums;
}

TEST(RangeFilterScans, ThoseThatFindNothingReadNothingWithTheFilterAndABlockWithout) {
  CountedStore with(options_with(16));
  CountedStore without(options_with(0));
  fill(with);
  fill(without);
  for (const bool reverse : {false, true}) {
    const Sums filtered = scan_beside_keys(with, reverse);
    EXPECT_LT(filtered.reads_per_scan, 0.02);
    EXPECT_EQ(filtered.keys, 0U);
    EXPECT_GE(scan_beside_keys(without, reverse).reads_per_scan, 1);
  }
}

TEST(RangeFilterScans, ThoseThatFindSomethingReadWhatTheyDidWithout) {
  CountedStore with(options_with(16));
  CountedStore without(options_with(0));
  fill(with);
  fill(without);
  for (int pass = 0; pass < 2; ++pass) {  // The first loads indexes and filters.
    for (std::uint64_t number = 0; number < kKeys * kStep; number += 997 * kStep) {
      const std::string from = key(number);
      const std::string to = key(number + 1);
      const Scanned filtered = scan(with, {.from = from, .to = to});
      const Scanned plain = scan(without, {.from = from, .to = to});
      ASSERT_EQ(filtered.keys, 1U);
      if (pass > 0) {
        ASSERT_EQ(filtered.reads, plain.reads);
      }
    }
  }
}

TEST(RangeFilterScans, Rule18_AnIteratorOverAnEmptyRangeStaysInsideWhereverItSeeks) {
  CountedStore store(options_with(16));
  fill(store);
  const std::string from = key(15'001);
  const std::string to = key(15'009);
  (void)scan(store, {.from = from, .to = to});
  const std::uint64_t before = store.counting.reads();
  Iterator at = store.db->scan({.from = from, .to = to, .positioned = false});
  for (const std::string& target : {key(0), key(15'000), key(15'005), key(15'010), key(kKeys * kStep)}) {
    at.seek(target);
    EXPECT_FALSE(at.valid());
    at.seek_before(target);
    EXPECT_FALSE(at.valid());
  }
  at.seek_to_last();
  EXPECT_FALSE(at.valid());
  EXPECT_TRUE(at.status().ok());
  EXPECT_EQ(store.counting.reads(), before);
}

TEST(RangeFilterScans, Rule26_RangeDeletesOfATableThatIsLeftOutStillHideWhatIsBeneath) {
  Options options = options_with(16);
  options.compaction = "manual";
  CountedStore store(options);
  for (const std::uint64_t old : {5, 50, 95}) ASSERT_TRUE(store.db->put(key(old), "old").ok());
  ASSERT_TRUE(store.db->flush().ok());
  // The newer table has keys on both sides, none in the range, and a range delete over it.
  ASSERT_TRUE(store.db->put(key(10), "v").ok());
  ASSERT_TRUE(store.db->put(key(90), "v").ok());
  ASSERT_TRUE(store.db->remove_range(key(40), key(60)).ok());
  ASSERT_TRUE(store.db->flush().ok());
  ASSERT_EQ(store.runs(), 2U);
  const std::string from = key(49);
  const std::string to = key(52);
  for (const bool reverse : {false, true}) {
    EXPECT_EQ(scan(store, {.from = from, .to = to, .reverse = reverse}).keys, 0U);
  }
}

TEST(RangeFilterScans, ATombstoneCountsAsAKeyAndSnapshotsSeeWhatItHides) {
  Options options = options_with(16);
  options.compaction = "manual";
  CountedStore store(options);
  store.put_numbers(0, 1000, kStep);
  ASSERT_TRUE(store.db->flush().ok());
  const Snapshot snapshot = store.db->snapshot();
  ASSERT_TRUE(store.db->put(key(1), "v").ok());
  ASSERT_TRUE(store.db->remove(key(500)).ok());
  ASSERT_TRUE(store.db->put(key(999), "v").ok());
  ASSERT_TRUE(store.db->flush().ok());
  const std::string from = key(499);
  const std::string to = key(502);
  EXPECT_EQ(scan(store, {.from = from, .to = to}).keys, 0U);
  EXPECT_EQ(scan(store, {.from = from, .to = to, .snapshot = &snapshot}).keys, 1U);
}

TEST(RangeFilterScans, TheFilterIsPartOfTheFilterMemoryAndWithoutMemoryScansRead) {
  CountedStore with(options_with(16));
  CountedStore without(options_with(0));
  fill(with);
  fill(without);
  (void)scan_beside_keys(with, false);
  (void)scan_beside_keys(without, false);
  const double bits = 8.0 * static_cast<double>(with.db->stats().memory.filters - without.db->stats().memory.filters);
  EXPECT_NEAR(bits / static_cast<double>(kKeys), 16, 1.5);
  Options none = options_with(16);
  none.filter_memory = 0;
  with.reopen(none);
  EXPECT_GE(scan_beside_keys(with, false).reads_per_scan, 1);
  EXPECT_EQ(with.db->stats().memory.filters, 0U);
}

}  // namespace
}  // namespace tamis::test
