#include "table/probe_sampling.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>

#include "base/random.h"
#include "support/table_world.h"

namespace tamis {
namespace {

/// Which of this many tables the probe of this number asks.
using Pattern = std::function<std::size_t(std::uint64_t probe, std::size_t tables)>;

/// Tables that a thread asks in some order; compares their counts with how often each was asked.
void expect_fair(std::size_t tables, std::string_view name, const Pattern& pattern) {
  SCOPED_TRACE(fmt::format("{} tables, {}", tables, name));
  constexpr std::uint64_t kProbes = 400'000;
  test::TableWorld world;
  std::vector<std::unique_ptr<Table>> opened;
  for (std::size_t i = 0; i < tables; ++i) {
    test::TableEntries entries;
    for (int key = 0; key < 20; ++key) entries.add(fmt::format("key {:02}", key), 9, "v");
    opened.push_back(world.open(world.build(entries, {"line", 10}, {.number = 1 + i})));
    ASSERT_TRUE(opened.back()->load().ok());
  }
  std::vector<double> asked(tables);
  PinnedBlock pin;
  TableSearch search;
  for (std::uint64_t probe = 0; probe < kProbes; ++probe) {
    const std::size_t table = pattern(probe, tables);
    const Lookup lookup{"absent", remix(probe), kMaxSequence};
    EXPECT_FALSE(test::find_in(*opened[table], lookup, true, pin, search)->has_value());
    ++asked[table];
  }
  constexpr double kPerSample = ProbeSampling::kProbesPerSample;
  for (std::size_t i = 0; i < tables; ++i) {
    const double sigma = kPerSample * std::sqrt(asked[i] / kPerSample * (1 - 1 / kPerSample));
    EXPECT_NEAR(static_cast<double>(opened[i]->counts().probes), asked[i], 5 * sigma) << "table " << i;
  }
}

/// Every 64th of a thread's probes used to be counted: of two tables asked in turn, one had no counts.
TEST(ProbeSampling, Rule15_CountsEachTableAsOftenAsItIsAskedInWhateverOrder) {
  for (const std::size_t tables : {2U, 3U, 4U, 64U}) {
    expect_fair(tables, "in turn", [](std::uint64_t probe, std::size_t count) { return probe % count; });
    expect_fair(tables, "one rarely, always at the same place", [](std::uint64_t probe, std::size_t count) {
      return probe % 64 == 63 ? (probe / 64) % count : std::size_t{0};
    });
    expect_fair(tables, "in runs", [](std::uint64_t probe, std::size_t count) { return probe / 64 % count; });
    expect_fair(tables, "at random", [random = SplitMix64(5)](std::uint64_t, std::size_t count) mutable {
      return static_cast<std::size_t>(random.below(count));
    });
  }
}

/// Many threads with few probes count as much together as one with many.
TEST(ProbeSampling, Rule15_ThreadsOfAFewProbesAreSampledToo) {
  constexpr std::uint64_t kThreads = 1000;
  constexpr std::uint64_t kEach = 40;
  std::uint64_t sampled = 0;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    std::thread([&] {
      for (std::uint64_t probe = 0; probe < kEach; ++probe) sampled += ProbeSampling::is_sampled() ? 1 : 0;
    }).join();
  }
  EXPECT_NEAR(static_cast<double>(sampled), 625, 5 * 25);
}

}  // namespace
}  // namespace tamis
