#include "engine/counters_format.h"

#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"
#include "support/golden.h"
#include "table/tagged_field_format.h"

namespace tamis {
namespace {

PublishedCounters example() {
  PublishedCounters counters{.process_id = 4711, .unix_milliseconds = 1'700'000'000'123};
  counters.store_id.fill(std::byte{0x5a});
  Stats& stats = counters.stats;
  stats.cache = {
      .policy = "s3fifo", .hits = 11, .misses = 12, .evictions = 13, .blocks = 14, .bytes = 15, .capacity_bytes = 16};
  stats.journal = {.files = 21, .bytes = 22, .recycled_files = 23, .records = 24, .syncs = 25};
  stats.memory.budget = 1 << 26;
  stats.memory.lookups_without_filter = 33;
  stats.stalls = {.delayed_writes = 41, .delay_us = 42, .reason = "level 0 has 12 runs"};
  stats.transactions = {.live = 51, .committed = 52, .conflicts = 53, .window_bytes = 54};
  stats.gets = 61;
  stats.writes = 62;
  stats.bytes_written_by_users = 100;
  stats.bytes_written = 350;
  stats.background_error = "disk on fire";
  stats.compaction_backlog = 64;
  stats.stalls.longest_us = 43;
  stats.cache.index_hits = 17;
  stats.cache.index_misses = 18;
  stats.memory.filter_plans = 34;
  stats.memory.filter_bytes_loaded = 35;
  std::uint64_t next = 81;
  for (Stats::Latency* latency : {&stats.latencies.get, &stats.latencies.put, &stats.latencies.scan,
                                  &stats.latencies.sync, &stats.latencies.flush, &stats.latencies.compaction}) {
    *latency = {.sum_ns = next, .p50_ns = next + 1, .p90_ns = next + 2, .p99_ns = next + 3, .p999_ns = next + 4};
    latency->max_ns = next + 5;
    latency->buckets[0] = next;
    latency->buckets[9] = 3;
    latency->count = next + 3;
    next += 10;
  }
  for (std::uint32_t level = 0; level < 3; ++level) {
    stats.levels.push_back(
        {.level = level, .probes = 70 + level, .negatives = 7, .false_positives = 1, .hits = 5, .blocks_read = 6});
  }
  return counters;
}

CountersBytes sealed(CountersBytes bytes) {
  store_le(bytes.data() + kCountersBytes - 8, checksum64(Bytes(bytes).first(kCountersBytes - 8)));
  return bytes;
}

TEST(CountersFormat, ComesBackAsItWas) {
  const CountersBytes bytes = encode_counters(example());
  const Result<PublishedCounters> back = decode_counters(bytes, "COUNTERS");
  ASSERT_TRUE(back.ok()) << back.status().to_text();
  EXPECT_EQ(encode_counters(*back), bytes);
  EXPECT_EQ(back->store_id, example().store_id);
  EXPECT_EQ(back->process_id, 4711U);
  EXPECT_EQ(back->unix_milliseconds, 1'700'000'000'123U);
  EXPECT_EQ(back->stats.cache.policy, "s3fifo");
  EXPECT_EQ(back->stats.cache.capacity_bytes, 16U);
  EXPECT_EQ(back->stats.memory.lookups_without_filter, 33U);
  EXPECT_EQ(back->stats.stalls.reason, "level 0 has 12 runs");
  EXPECT_EQ(back->stats.transactions.conflicts, 53U);
  EXPECT_EQ(back->stats.writes, 62U);
  EXPECT_EQ(back->stats.write_amplification, 3.5);
  EXPECT_EQ(back->stats.background_error, "disk on fire");
  EXPECT_EQ(back->stats.compaction_backlog, 64U);
  EXPECT_EQ(back->stats.stalls.longest_us, 43U);
  EXPECT_EQ(back->stats.cache.index_hits, 17U);
  EXPECT_EQ(back->stats.cache.index_misses, 18U);
  EXPECT_EQ(back->stats.memory.filter_plans, 34U);
  EXPECT_EQ(back->stats.memory.filter_bytes_loaded, 35U);
  EXPECT_EQ(back->stats.latencies.put.p50_ns, 92U);
  EXPECT_EQ(back->stats.latencies.compaction.sum_ns, 131U);
  EXPECT_EQ(back->stats.latencies.compaction.max_ns, 136U);
  EXPECT_EQ(back->stats.latencies.compaction.buckets[9], 3U);
  EXPECT_EQ(back->stats.latencies.compaction.count, 134U);
  ASSERT_EQ(back->stats.levels.size(), 3U);
  EXPECT_EQ(back->stats.levels[2].level, 2U);
  EXPECT_EQ(back->stats.levels[2].probes, 72U);
}

TEST(CountersFormat, FitsItsPageWithTheLargestValues) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  PublishedCounters counters = example();
  counters.stats.background_error.assign(5000, 'e');
  counters.stats.stalls.reason.assign(5000, 'r');
  counters.stats.cache.policy.assign(5000, 'p');
  for (Stats::Latency* latency : {&counters.stats.latencies.get, &counters.stats.latencies.sync}) {
    *latency = {.sum_ns = kMost, .p50_ns = kMost, .p90_ns = kMost, .p99_ns = kMost, .p999_ns = kMost, .max_ns = kMost};
    latency->buckets.fill(kMost);
  }
  counters.stats.levels.assign(
      100, {.probes = kMost, .negatives = kMost, .false_positives = kMost, .hits = kMost, .blocks_read = kMost});
  const Result<PublishedCounters> back = decode_counters(encode_counters(counters), "COUNTERS");
  ASSERT_TRUE(back.ok()) << back.status().to_text();
  EXPECT_EQ(back->stats.background_error, std::string(256, 'e'));
  ASSERT_EQ(back->stats.levels.size(), 32U);
  EXPECT_EQ(back->stats.levels.back().blocks_read, kMost);
}

/// Six of a billion calls each, spread over 20 buckets.
TEST(CountersFormat, HasRoomForTheLatenciesOfALongRun) {
  PublishedCounters counters = example();
  counters.stats.background_error.assign(256, 'e');
  counters.stats.stalls.reason.assign(256, 'r');
  counters.stats.levels.assign(7, {.probes = 1ULL << 40, .negatives = 1ULL << 40, .hits = 1ULL << 40});
  for (Stats::Latency* latency : {&counters.stats.latencies.get, &counters.stats.latencies.compaction}) {
    *latency = {.sum_ns = 1ULL << 50, .p50_ns = 1000, .p90_ns = 10'000, .p99_ns = 1'000'000, .max_ns = 1ULL << 36};
    for (std::size_t bucket = 3; bucket < 23; ++bucket) latency->buckets[bucket] = 50'000'000;
    latency->count = 1'000'000'000;
  }
  const Stats::Latency most = counters.stats.latencies.get;
  counters.stats.latencies = {.get = most, .put = most, .scan = most, .sync = most, .flush = most, .compaction = most};
  const Result<PublishedCounters> back = decode_counters(encode_counters(counters), "COUNTERS");
  ASSERT_TRUE(back.ok()) << back.status().to_text();
  EXPECT_EQ(back->stats.latencies.get.count, most.count);
  EXPECT_EQ(back->stats.latencies.compaction.buckets, most.buckets);
}

TEST(CountersFormat, WhatALaterBuildAddsToALatencyIsSkipped) {
  CountersBytes bytes = {};
  const CountersBytes full = encode_counters(example());
  std::copy_n(full.begin(), 64, bytes.begin());
  std::string latency(6 + Stats::Latency::kBuckets + 5, '\1');
  std::string fields;
  append_field(fields, 50, FieldNeed::kOptional, latency);
  append_field(fields, 51, FieldNeed::kOptional, "");
  append_fields_end(fields);
  std::ranges::copy(as_bytes(fields), bytes.begin() + 64);
  const Result<PublishedCounters> back = decode_counters(sealed(bytes), "COUNTERS");
  ASSERT_TRUE(back.ok()) << back.status().to_text();
  EXPECT_EQ(back->stats.latencies.get.count, Stats::Latency::kBuckets);
  EXPECT_EQ(back->stats.latencies.put.count, 0U);
}

TEST(CountersFormat, EveryFlippedBitIsCorruption) {
  CountersBytes bytes = encode_counters(example());
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_EQ(decode_counters(bytes, "COUNTERS").status().code(), StatusCode::kCorruption) << "bit " << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST(CountersFormat, EveryShorterLengthIsCorruption) {
  const CountersBytes bytes = encode_counters(example());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_EQ(decode_counters(Bytes(bytes).first(length), "c").status().code(), StatusCode::kCorruption) << length;
  }
}

/// Of two versions of the file, the first bytes of one and the rest of the other.
TEST(CountersFormat, AHalfWrittenFileIsCorruption) {
  const CountersBytes old = encode_counters(example());
  PublishedCounters next = example();
  ++next.unix_milliseconds;
  ++next.stats.writes;
  CountersBytes torn = encode_counters(next);
  const CountersBytes whole = torn;
  for (std::size_t written = 64; written < kCountersBytes; written += 64) {
    std::copy(old.begin() + static_cast<std::ptrdiff_t>(written), old.end(),
              torn.begin() + static_cast<std::ptrdiff_t>(written));
    ASSERT_EQ(decode_counters(torn, "c").status().code(), StatusCode::kCorruption) << written;
    torn = whole;
  }
}

TEST(CountersFormat, UnknownFieldsAreSkippedAndMissingOnesAreZero) {
  CountersBytes bytes = {};
  const CountersBytes full = encode_counters(example());
  std::copy_n(full.begin(), 64, bytes.begin());
  std::string fields;
  append_number_field(fields, 33, FieldNeed::kOptional, 62);
  append_field(fields, 1000, FieldNeed::kOptional, "of a later build");
  append_fields_end(fields);
  std::ranges::copy(as_bytes(fields), bytes.begin() + 64);
  const Result<PublishedCounters> back = decode_counters(sealed(bytes), "COUNTERS");
  ASSERT_TRUE(back.ok()) << back.status().to_text();
  EXPECT_EQ(back->stats.writes, 62U);
  EXPECT_EQ(back->stats.gets, 0U);
  EXPECT_TRUE(back->stats.levels.empty());
}

TEST(CountersFormat, OtherVersionsAreRefusedByName) {
  CountersBytes bytes = encode_counters(example());
  bytes[8] = std::byte{2};
  EXPECT_EQ(decode_counters(sealed(bytes), "COUNTERS").status().to_text(),
            "not supported: COUNTERS: format version 2 is newer than this build reads (1); use a newer tamis");
  bytes[8] = std::byte{1};
  bytes[10] = std::byte{4};
  EXPECT_EQ(decode_counters(sealed(bytes), "COUNTERS").status().code(), StatusCode::kCorruption);
}

TEST(CountersFormat, IsWhatTheGoldenFileHas) {
  const std::string made(as_text(encode_counters(example())));
  test::expect_golden("tests/golden/counters/COUNTERS", made);
  test::expect_golden("fuzz/corpus/counters_format_fuzz/golden", made);
}

/// Of a build that did not know latencies.
TEST(CountersFormat, AnOlderFileIsRead) {
  const std::string older = test::golden_file("tests/golden/counters/COUNTERS-without-latencies", "");
  const Result<PublishedCounters> back = decode_counters(as_bytes(older), "COUNTERS");
  ASSERT_TRUE(back.ok()) << back.status().to_text();
  EXPECT_EQ(back->stats.gets, 61U);
  EXPECT_EQ(back->stats.levels.size(), 3U);
  EXPECT_EQ(back->stats.latencies.get.count, 0U);
  EXPECT_EQ(back->stats.compaction_backlog, 0U);
}

}  // namespace
}  // namespace tamis
