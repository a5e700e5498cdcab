#include "engine/resident_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tamis {
namespace {

/// The fewest reads of any choice, by dynamic programming over the bytes.
double fewest_reads(const std::vector<Resident>& residents, std::uint64_t limit) {
  std::vector<double> saved(limit + 1);
  double all = 0;
  for (const Resident& resident : residents) {
    all += resident.weight;
    for (std::uint64_t bytes = limit + 1; bytes-- > 0;) {
      for (std::uint64_t columns = 1; columns <= resident.columns; ++columns) {
        const std::uint64_t cost = resident.bytes_with(columns);
        if (cost > bytes) break;
        saved[bytes] = std::max(saved[bytes], saved[bytes - cost] + resident.weight - resident.reads_with(columns));
      }
    }
  }
  return all - saved[limit];
}

std::vector<Resident> random_residents(std::mt19937_64& random, std::size_t count, double skew) {
  std::vector<Resident> made;
  for (std::size_t i = 0; i < count; ++i) {
    Resident resident;
    resident.weight = std::pow(static_cast<double>(1 + random() % count), -skew);
    resident.columns = random() % 5 == 0 ? 1 : 1 + random() % 16;
    resident.column_bytes = 4 + random() % 5;
    resident.first_bytes = resident.column_bytes + random() % 3;
    resident.rest = resident.columns == 1 ? 0.01 : 0.00001;
    if (resident.columns == 1) resident.first_bytes *= 7;
    made.push_back(resident);
  }
  return made;
}

std::uint64_t bytes_of_all(const std::vector<Resident>& residents) {
  std::uint64_t bytes = 0;
  for (const Resident& resident : residents) bytes += resident.bytes_with(resident.columns);
  return bytes;
}

TEST(ResidentPlan, IsWithinTwoPercentOfTheOptimum) {
  std::mt19937_64 random(7);
  for (const double skew : {0.0, 0.7, 0.99, 2.0}) {
    for (int set = 0; set < 8; ++set) {
      const std::vector<Resident> residents = random_residents(random, 120, skew);
      const std::uint64_t all = bytes_of_all(residents);
      for (const double share : {0.05, 0.2, 0.4, 0.6, 0.9}) {
        const auto limit = static_cast<std::uint64_t>(share * static_cast<double>(all));
        const ResidentPlan plan = plan_residents(residents, limit);
        EXPECT_LE(plan.bytes, limit);
        double reads = 0;
        std::uint64_t bytes = 0;
        for (std::size_t i = 0; i < residents.size(); ++i) {
          EXPECT_LE(plan.columns[i], residents[i].columns);
          reads += residents[i].reads_with(plan.columns[i]);
          bytes += residents[i].bytes_with(plan.columns[i]);
        }
        EXPECT_EQ(bytes, plan.bytes);
        EXPECT_NEAR(reads, plan.reads, 1e-9 * reads);
        EXPECT_LE(reads, 1.02 * fewest_reads(residents, limit)) << "skew " << skew << ", share " << share;
      }
    }
  }
}

TEST(ResidentPlan, TakesEverythingThatFits) {
  std::mt19937_64 random(1);
  const std::vector<Resident> residents = random_residents(random, 20, 1);
  const ResidentPlan plan = plan_residents(residents, bytes_of_all(residents));
  for (std::size_t i = 0; i < residents.size(); ++i) EXPECT_EQ(plan.columns[i], residents[i].columns);
}

TEST(ResidentPlan, TakesNothingWithoutMemoryAndNothingThatHasNoColumns) {
  const std::vector<Resident> residents = {{.weight = 1, .columns = 1, .first_bytes = 10}, {.weight = 5, .columns = 0}};
  EXPECT_EQ(plan_residents(residents, 9).columns, (std::vector<std::uint64_t>{0, 0}));
  EXPECT_EQ(plan_residents(residents, 10).columns, (std::vector<std::uint64_t>{1, 0}));
  EXPECT_EQ(plan_residents({}, 10).bytes, 0U);
}

TEST(ResidentPlan, OfEqualsTheFirstOnesStay) {
  const std::vector<Resident> residents(4, Resident{.weight = 1, .columns = 1, .first_bytes = 10});
  EXPECT_EQ(plan_residents(residents, 25).columns, (std::vector<std::uint64_t>{1, 1, 0, 0}));
}

TEST(ResidentPlan, TheFirstColumnsComeTogetherWhereTheFirstIsDear) {
  std::vector<Resident> residents;
  for (int i = 1; i <= 60; ++i) {
    residents.push_back({.weight = 1.0 / i, .columns = 8, .first_bytes = 40, .column_bytes = 10});
  }
  for (const std::uint64_t limit : {500U, 1500U, 3000U}) {
    EXPECT_LE(plan_residents(residents, limit).reads, 1.02 * fewest_reads(residents, limit)) << limit;
  }
}

TEST(ResidentPlan, WithoutQuestionsWhatFitsStays) {
  const std::vector<Resident> residents(3, Resident{.weight = 0, .columns = 4, .first_bytes = 10, .column_bytes = 5});
  const ResidentPlan plan = plan_residents(residents, 40);
  EXPECT_LE(plan.bytes, 40U);
  EXPECT_GE(plan.bytes, 25U);
}

}  // namespace
}  // namespace tamis
