// A plan of a store that does not exist, compared with the real store.
#include "tamis/scale.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "base/bytes.h"
#include "base/random.h"
#include "counted/counted_store.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kEntries = 300'000;
constexpr std::uint64_t kKeyBytes = 16;
constexpr std::uint64_t kValueBytes = 100;

Options small_store(const std::string& policy) {
  Options options;
  options.memory_bytes = std::uint64_t{64} << 20;
  options.memtable_bytes = std::uint64_t{256} << 10;
  options.table_bytes = std::uint64_t{256} << 10;
  options.fanout = 5;
  options.compaction = policy;
  options.filter_reserve_percent = 0;  // A plan is of what is in memory.
  options.background_threads = 1;      // More would divide compactions, and make tables smaller.
  return options;
}

std::string key_of(std::uint64_t number) {
  std::string key(kKeyBytes, '\0');
  store_be(key.data(), remix(number));
  store_be(key.data() + 8, remix(~number));
  return key;
}

/// A store's own report, in terms of a plan.
struct Counted {
  double tables = 0;
  double filter_bytes = 0;
};

Counted count(const Stats& stats) {
  Counted counted;
  for (const Stats::Level& level : stats.levels) {
    counted.tables += static_cast<double>(level.tables);
    counted.filter_bytes += static_cast<double>(level.filter_bytes);
  }
  return counted;
}

/// `part`: the plan's allowed relative error.
void expect_near(const char* what, double planned, double real, double part) {
  testing::Test::RecordProperty(what, fmt::format("planned {:.5g}, real {:.5g}", planned, real));
  EXPECT_NEAR(planned, real, part * real) << what;
}
template <typename T>
double number(T value) {
  return static_cast<double>(value);
}

void fill(DB& db) {
  SplitMix64 random(7);
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    std::string value(kValueBytes, '\0');
    for (char& byte : value) byte = static_cast<char>(random.next());
    ASSERT_TRUE(db.put(key_of(i), value).ok());
  }
  ASSERT_TRUE(db.wait_idle().ok());
  std::string value;
  for (std::uint64_t i = 0; i < kEntries; i += 16) ASSERT_TRUE(*db.get(key_of(i), &value));  // Loads all indexes.
}

/// Runs asked in vain per lookup of an absent key, counted.
double count_wasted_reads(CountedStore& store) {
  constexpr std::uint64_t kLookups = 100'000;
  const std::uint64_t before = store.counts().false_positives;
  std::string value;
  for (std::uint64_t i = 0; i < kLookups; ++i) EXPECT_FALSE(*store.db->get(key_of(kEntries + i), &value));
  return static_cast<double>(store.counts().false_positives - before) / static_cast<double>(kLookups);
}

class ScaleOf : public testing::TestWithParam<const char*> {};

// Half a per cent for what the format determines; a twentieth for simulated values; a tenth for tables, of which a
// small store has few in its upper levels.
TEST_P(ScaleOf, APlanIsWithinATwentiethOfTheStore) {
  CountedStore store(small_store(GetParam()));
  fill(*store.db);
  const Stats real = store.db->stats();
  const Counted counted = count(real);
  const PlanReport filters = store.db->plan();
  const Result<ScalePlan> plan = plan_scale({.store_bytes = kEntries * (kKeyBytes + kValueBytes),
                                             .key_bytes = kKeyBytes,
                                             .value_bytes = kValueBytes,
                                             .options = small_store(GetParam())});
  ASSERT_TRUE(plan.ok()) << plan.status().to_text();
  EXPECT_EQ(plan->simulated_flushes, real.flushes);
  EXPECT_EQ(plan->levels_beyond_simulated, 0U);
  EXPECT_EQ(plan->runs, filters.runs.size());
  expect_near("tables", number(plan->tables), counted.tables, 0.1);
  expect_near("bytes on disk", number(plan->bytes_on_disk), number(real.bytes_on_disk), 0.01);
  expect_near("indexes", number(plan->memory.index_bytes),
              number(real.memory.indexes + real.memory.indexes_not_resident), 0.03);
  constexpr double kHeader = 128;  // Per table filter; a plan of runs has no tables.
  expect_near("planned filters", number(plan->memory.filter_bytes) - kHeader * number(plan->tables),
              number(filters.filter_memory), 0.01);
  expect_near("wasted reads", plan->reads.wasted, filters.wasted_reads, 0.05);
  expect_near("wasted reads, uniform", plan->reads.wasted_uniform, filters.wasted_reads_uniform, 0.05);
  expect_near("write amplification", plan->writing.fill_amplification, real.write_amplification, 0.05);
  // A table keeps the filter planned when it was written, for a smaller store: more bits, if any difference.
  expect_near("filters", number(plan->memory.filter_bytes), counted.filter_bytes, 0.2);
  // For the same reason, and because moved tables keep their filters, a plan is right about what it plans, and within a
  // factor of 2.5 about the existing store.
  const double wasted = count_wasted_reads(store);
  RecordProperty("wasted reads, counted", fmt::format("{:.5f}", wasted));
  EXPECT_GT(wasted, plan->reads.wasted / 2.5);
  EXPECT_LT(wasted, plan->reads.wasted * 2.5);
}

INSTANTIATE_TEST_SUITE_P(AllPolicies, ScaleOf, testing::Values("leveled", "tiered", "lazy"));

}  // namespace
}  // namespace tamis::test
