// What holds for every policy, on shapes that no single policy would make.
#include "compaction/policy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "compaction/simulated_store.h"

namespace tamis {
namespace {

TEST(CompactionPolicies, AreFoundByName) {
  for (const CompactionPolicy& policy : compaction_policies()) {
    EXPECT_EQ(find_compaction_policy(policy.name), &policy);
    EXPECT_FALSE(policy.summary.empty());
  }
  EXPECT_EQ(compaction_policies().size(), 4U);
  EXPECT_EQ(find_compaction_policy("levelled"), nullptr);
}

TEST(CompactionPolicies, AskForNothingInAnEmptyStore) {
  for (const CompactionPolicy& policy : compaction_policies()) {
    EXPECT_FALSE(policy.pick({}, {}).has_value()) << policy.name;
    EXPECT_EQ(policy.debt({}, {}), 0) << policy.name;
  }
  EXPECT_FALSE(pick_for_range({}, {}).has_value());
}

constexpr int kManySteps = 3000;

/// A store that policies modify in turns, with a map of its expected contents.
class Turns {
 public:
  Turns(std::uint64_t seed, int turns) : random_(seed), store_(10, 10 * (1 + random_.below(8))) {
    options_ = {.fanout = static_cast<std::uint32_t>(random_.below(6)),
                .memtable_bytes = random_.below(400),
                .table_bytes = 0,
                .now_unix_seconds = 1'000'000};
    while (turns-- > 0 && !testing::Test::HasFailure()) take_one();
  }

  /// A flush, a few steps of any policy, or part of a user's compaction.
  void take_one() {
    const auto policies = compaction_policies();
    if (random_.below(3) > 0) {
      flush();
    } else if (random_.below(4) > 0) {
      follow(policies[random_.below(policies.size())], static_cast<int>(random_.below(6)));
    } else {
      const std::string from = simulated_key(random_.below(300));
      const std::string to = simulated_key(random_.below(600));
      compact(goal(from, to), static_cast<int>(random_.below(3)));
    }
  }

  void flush() {
    std::vector<SimulatedWrite> writes;
    const std::uint64_t center = random_.below(256);
    const std::uint64_t spread = 1 + random_.below(256);
    const std::uint64_t deletes = random_.below(11);
    for (std::uint64_t i = random_.below(40); i-- > 0;) {
      const SimulatedWrite write = {
          .key = center + random_.below(spread), .version = ++version_, .is_delete = random_.below(10) < deletes};
      writes.push_back(write);
      if (write.is_delete) {
        model_.erase(write.key);
      } else {
        model_[write.key] = write;
      }
    }
    options_.now_unix_seconds += random_.below(40'000);
    ASSERT_TRUE(store_.flush(writes, options_.now_unix_seconds).ok());
  }

  /// Executes up to `most_steps` plans of the policy; true if none is left.
  bool follow(const CompactionPolicy& policy, int most_steps) {
    for (int step = 0; step < most_steps; ++step) {
      const auto plan = policy.pick(store_.shape(), options_);
      if (!plan) return true;
      EXPECT_FALSE(plan->reason.empty());
      run(*plan);
      if (testing::Test::HasFailure()) return true;
    }
    return false;
  }

  /// A goal for the current contents.
  [[nodiscard]] RangeGoal goal(std::string_view from, std::optional<std::string_view> to) {
    return {.from = from,
            .to = to,
            .newest = Sequence{version_},
            .first_new_table = store_.next_number(),
            .step_bytes = random_.below(2000)};
  }
  bool compact(const RangeGoal& goal, int most_steps) {
    for (int step = 0; step < most_steps; ++step) {
      const std::uint64_t left = bytes_left_for_range(store_.shape(), goal);
      const auto plan = pick_for_range(store_.shape(), goal);
      EXPECT_EQ(plan.has_value(), left > 0);
      if (!plan) return true;
      run(*plan);
      if (testing::Test::HasFailure()) return true;
    }
    return false;
  }

  void run(const CompactionPlan& plan) {
    const Status status = store_.run(plan);
    ASSERT_TRUE(status.ok()) << status.to_text() << "\n" << plan.reason << "\n" << store_.shape().to_text();
  }

  void expect_all_there() {
    for (std::uint64_t key = 0; key < 520; ++key) {
      const auto expected = model_.find(key);
      const auto found = store_.find(key);
      ASSERT_EQ(found.has_value(), expected != model_.end()) << key << "\n" << store_.shape().to_text();
      if (found) {
        ASSERT_EQ(*found, expected->second);
      }
    }
  }

  /// Of everything written up to here, no tombstone is left, and at most one version of each key.
  void expect_nothing_dead_up_to(Sequence newest) {
    std::map<std::uint64_t, int> versions;
    for (const SimulatedWrite& write : store_.writes()) {
      if (Sequence{write.version} > newest) continue;
      EXPECT_FALSE(write.is_delete) << write.key;
      EXPECT_EQ(++versions[write.key], 1) << write.key;
    }
  }

  [[nodiscard]] const Shape& shape() const { return store_.shape(); }
  [[nodiscard]] const PolicyOptions& options() const { return options_; }

 private:
  SplitMix64 random_;
  SimulatedStore store_;
  PolicyOptions options_;
  std::map<std::uint64_t, SimulatedWrite> model_;
  std::uint64_t version_ = 0;
};

TEST(CompactionPolicies, KeepAgesInOrderWhoeverWasAtWorkBefore) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Turns turns(seed, 60);
    turns.expect_all_there();
    ASSERT_FALSE(HasFailure());
  }
}

TEST(CompactionPolicies, ComeToAnEndWithTheDebtBelowWhatSlowsWrites) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    for (const CompactionPolicy& policy : compaction_policies()) {
      SCOPED_TRACE(fmt::format("seed {} policy {}", seed, policy.name));
      Turns turns(seed, 40);
      EXPECT_TRUE(turns.follow(policy, kManySteps));
      const double debt = policy.debt(turns.shape(), turns.options());
      EXPECT_GE(debt, 0);
      EXPECT_LT(debt, 0.5) << turns.shape().to_text();
      turns.expect_all_there();
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(PickForRange, LeavesOneRunInTheLastLevelAroundEveryKeyOfTheRange) {
  const std::string from = simulated_key(100);
  const std::string to = simulated_key(140);
  for (const bool is_all : {true, false}) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
      SCOPED_TRACE(fmt::format("seed {}, all {}", seed, is_all));
      Turns turns(seed, 40);
      EXPECT_TRUE(turns.compact(is_all ? turns.goal("", std::nullopt) : turns.goal(from, to), kManySteps));
      turns.expect_all_there();
      std::size_t runs = 0;
      for (std::uint32_t level = 0; level < turns.shape().levels.size(); ++level) {
        for (const auto& run : turns.shape().levels[level]) {
          const auto is_in_range = [&](const auto& table) {
            return is_all || (table->largest_key >= from && table->smallest_key < to);
          };
          if (std::ranges::none_of(run.tables, is_in_range)) continue;
          ++runs;
          EXPECT_EQ(level, std::max(1U, turns.shape().last_level()));
        }
      }
      EXPECT_LE(runs, 1U) << turns.shape().to_text();
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(PickForRange, EndsBesideAWriterAndLeavesNothingDeadOfWhatWasThere) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    for (const CompactionPolicy& policy : compaction_policies()) {
      SCOPED_TRACE(fmt::format("seed {} policy {}", seed, policy.name));
      Turns turns(seed, 40);
      const RangeGoal goal = turns.goal("", std::nullopt);
      int steps = 0;
      for (; steps < kManySteps && !turns.compact(goal, 1); ++steps) {
        turns.flush();
        turns.follow(policy, 1);
      }
      EXPECT_LT(steps, kManySteps) << "it does not end";
      turns.expect_nothing_dead_up_to(goal.newest);
      turns.expect_all_there();
      ASSERT_FALSE(HasFailure());
    }
  }
}

/// Also limits input bytes: a step needs as much space as it reads.
TEST(PickForRange, RewritesEveryLevelOnceInStepsOfBoundedSizeBesideAWriter) {
  const CompactionPolicy& policy = *find_compaction_policy("leveled");
  constexpr std::uint64_t kTableBytes = 500;
  const PolicyOptions options = {.fanout = 4, .memtable_bytes = 1000, .table_bytes = kTableBytes};
  SimulatedStore store(10, kTableBytes);
  SplitMix64 random(1);
  std::uint64_t version = 0;
  const auto flush = [&] {
    std::vector<SimulatedWrite> writes;
    for (int i = 0; i < 100; ++i) writes.push_back({.key = random.below(100'000), .version = ++version});
    ASSERT_TRUE(store.flush(std::move(writes), 0).ok());
  };
  for (int i = 0; i < 300; ++i) {
    flush();
    while (const auto plan = policy.pick(store.shape(), options)) ASSERT_TRUE(store.run(*plan).ok());
  }
  const std::uint64_t bytes = store.shape().bytes();
  const RangeGoal goal = {
      .newest = Sequence{version}, .first_new_table = store.next_number(), .step_bytes = 16 * kTableBytes};
  std::uint64_t written = 0;
  std::uint64_t largest = 0;
  int steps = 0;
  for (; const auto plan = pick_for_range(store.shape(), goal); ++steps) {
    ASSERT_LT(steps, 1000);
    const std::uint64_t before = store.bytes_written();
    ASSERT_TRUE(store.run(*plan).ok());
    written += store.bytes_written() - before;
    largest = std::max(largest, store.bytes_written() - before);
    flush();
    if (const auto due = policy.pick(store.shape(), options)) {
      ASSERT_TRUE(store.run(*due).ok());
    }
  }
  EXPECT_GT(steps, 10);
  // The last level is nearly everything; the levels above are rewritten once per level they pass.
  EXPECT_LT(written, 2 * bytes);
  EXPECT_LT(largest, bytes / 4);
}

}  // namespace
}  // namespace tamis
