#include "tamis/filter_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "filter/block_rates.h"

namespace tamis {
namespace {

using namespace filter_math;

TEST(FilterMath, GivesTheTextbookSizes) {
  EXPECT_EQ(bloom_bits(1000, 0.01), 9586);
  EXPECT_EQ(bloom_hashes(9586, 1000), 7U);
  EXPECT_NEAR(bloom_rate(1e7, 7, 1e6), 0.00819, 1e-5);
  EXPECT_NEAR(bloom_rate(1.4e7, 10, 1e6), 0.0012, 2e-5);
  EXPECT_NEAR(bloom_rate(2e7, 14, 1e6), 0.000067, 1e-6) << "20 bits per key give 0.0067 %, not 0.0006 %";
}

TEST(FilterMath, ExactAndApproximateRatesMeet) {
  // 4096 bits and 400 keys are computed exactly; the approximation must continue the curve.
  const double exact = bloom_rate(4096, 7, 139);
  const double approximate = bloom_rate(4096 * 64, 7, 139 * 64);
  EXPECT_NEAR(approximate / exact, 1, 0.02);
  EXPECT_EQ(bloom_rate(1000, 7, 0), 0);
  EXPECT_NEAR(bloom_rate(64, 1, 1), 1.0 / 64, 1e-12) << "one key, one hash: one bit of 64";
}

TEST(FilterMath, OneBlockIsAPlainBloomFilter) {
  EXPECT_NEAR(blocked_bloom_rate(1, 512, 6, 50), bloom_rate(512, 6, 50), 1e-12);
  EXPECT_NEAR(split_bloom_rate(1, 32, 8, 25), std::pow(1 - std::pow(31.0 / 32, 25), 8), 1e-12);
}

TEST(FilterMath, BlockingInflatesTheRateAsMeasured) {
  // At 10 bits per key a 512-bit block costs a factor of about 1.17, at 16 bits 1.80.
  const double ten = blocked_bloom_rate(19531, 512, 6, 1e6) / bloom_rate(1e7, 7, 1e6);
  EXPECT_NEAR(ten, 1.17, 0.02);
  const double sixteen = blocked_bloom_rate(31250, 512, 9, 1e6) / bloom_rate(1.6e7, 11, 1e6);
  EXPECT_NEAR(sixteen, 1.83, 0.04);
}

TEST(FilterMath, FillTellsTheNumberOfKeys) {
  const double empty = std::pow(1 - 1.0 / 100'000, 7 * 9'000);
  EXPECT_NEAR(bloom_keys_from_fill(100'000, 7, 100'000 * (1 - empty)), 9'000, 1);
  EXPECT_TRUE(std::isinf(bloom_keys_from_fill(64, 3, 64)));
}

/// The rate from the distribution of the number of set bits, which is followed probe by probe.
class OccupancyRate {
 public:
  explicit OccupancyRate(std::size_t bits) : chance_(bits + 1, 0.0) { chance_[0] = 1; }

  void add_probe() {
    const auto bits = static_cast<double>(chance_.size() - 1);
    for (std::size_t set = chance_.size() - 1; set > 0; --set) {
      const auto before = static_cast<double>(set - 1);
      chance_[set] = chance_[set] * (before + 1) / bits + chance_[set - 1] * (bits - before) / bits;
    }
    chance_[0] = 0;
  }
  [[nodiscard]] double rate(std::uint32_t hashes) const {
    const auto bits = static_cast<double>(chance_.size() - 1);
    double rate = 0;
    for (std::size_t set = 0; set < chance_.size(); ++set) {
      rate += chance_[set] * std::pow(static_cast<double>(set) / bits, hashes);
    }
    return rate;
  }

 private:
  std::vector<double> chance_;  // chance_[x]: the chance of exactly x set bits.
};

TEST(FilterMath, RatesAreThoseOfTheOccupancyDistribution) {
  for (const std::uint32_t bits : {2U, 5U, 64U, 256U, 512U}) {
    for (const std::uint32_t hashes : {1U, 2U, 3U, 6U, 7U, 11U, 16U}) {
      OccupancyRate expected(bits);
      for (int keys = 1; keys <= 200; ++keys) {
        for (std::uint32_t i = 0; i < hashes; ++i) expected.add_probe();
        if (keys > 8 && keys % 12 != 0) continue;
        const double rate = expected.rate(hashes);
        EXPECT_NEAR(blocked_bloom_rate(1, bits, hashes, keys) / rate, 1, 1e-9)
            << bits << " bits, " << hashes << " hashes, " << keys << " keys";
        EXPECT_NEAR(bloom_rate(bits, hashes, keys) / rate, 1, 1e-9)
            << bits << " bits, " << hashes << " hashes, " << keys << " keys";
      }
    }
  }
}

/// Each probe of a key costs one step per hash, whatever the size of the block; and nothing is computed twice.
TEST(FilterMath, SizingSmallSetsTakesFewSteps) {
  for (const std::uint32_t hashes : {1U, 6U, 16U}) {
    BlockRates rates(512, hashes);
    rates.at(150);
    rates.at(20);
    EXPECT_EQ(rates.steps(), std::uint64_t{150} * hashes * hashes);
  }
  const std::uint64_t before = block_rate_tables().steps();
  for (std::uint64_t keys = 65; keys <= 200; ++keys) {
    ASSERT_TRUE(filter_size("line", keys, {SizeTarget::Measure::kBitsPerKey, 10}).ok());
    ASSERT_TRUE(filter_size("line", keys, {SizeTarget::Measure::kRate, 0.01}).ok());
  }
  EXPECT_LE(block_rate_tables().steps() - before, 200'000U);
}

double bits_used(const FilterPlan& plan, std::span<const PlannedRun> runs) {
  double bits = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) bits += plan.runs[i].bits_per_key * runs[i].keys;
  return bits;
}

TEST(FilterPlan, UsesTheBudgetAndWastesLessThanUniformBits) {
  const std::vector<PlannedRun> runs = {{.keys = 1e5}, {.keys = 1e6}, {.keys = 1e7}};
  const double budget = 10 * 1.11e7;
  const FilterPlan plan = filter_plan(runs, budget, 1.44);
  EXPECT_NEAR(bits_used(plan, runs) / budget, 1, 1e-6);
  EXPECT_LE(plan.wasted_probes, 0.55 * uniform_filter_plan(runs, budget, 1.44).wasted_probes);
  EXPECT_GT(plan.runs[0].bits_per_key, plan.runs[2].bits_per_key) << "small runs get more bits per key";
}

TEST(FilterPlan, AgreesWithTheEntropyFormula) {
  // Expected waste 2^(H − M/(aN)), H the entropy of the run sizes: seven levels of fanout ten, 10 bits: 0.012.
  std::vector<PlannedRun> runs;
  double keys = 0;
  for (int level = 0; level < 7; ++level) {
    runs.push_back({.keys = std::pow(10, level + 1)});
    keys += runs.back().keys;
  }
  double entropy = 0;
  for (const PlannedRun& run : runs) entropy -= run.keys / keys * std::log2(run.keys / keys);
  const FilterPlan plan = filter_plan(runs, 10 * keys, 1.44);
  EXPECT_NEAR(plan.wasted_probes / std::exp2(entropy - 10 / 1.44), 1, 1e-3);
  EXPECT_NEAR(plan.wasted_probes, 0.012, 0.001);
  EXPECT_NEAR(uniform_filter_plan(runs, 10 * keys, 1.44).wasted_probes, 0.057, 0.01);
}

TEST(FilterPlan, LeavesOutFiltersThatAreNotWorthTheirBits) {
  const std::vector<PlannedRun> runs = {{.keys = 1e3}, {.keys = 1e9}};
  const FilterPlan plan = filter_plan(runs, 20'000, 1.44);
  EXPECT_EQ(plan.runs[1].bits_per_key, 0);
  EXPECT_EQ(plan.runs[1].rate, 1);
  EXPECT_GT(plan.runs[0].bits_per_key, 10);
}

TEST(FilterPlan, GivesMoreToRunsThatAreAskedMoreOften) {
  const std::vector<PlannedRun> runs = {{.keys = 1e6, .weight = 10}, {.keys = 1e6, .weight = 1}};
  const FilterPlan plan = filter_plan(runs, 2e7, 1.44);
  EXPECT_NEAR(plan.runs[1].rate / plan.runs[0].rate, 10, 1e-6);
}

TEST(FilterPlan, HasNothingToSayAboutNothing) {
  EXPECT_TRUE(filter_plan({}, 100, 1.44).runs.empty());
  const std::vector<PlannedRun> empty = {{.keys = 0}};
  EXPECT_EQ(filter_plan(empty, 100, 1.44).wasted_probes, 0);
}

}  // namespace
}  // namespace tamis
