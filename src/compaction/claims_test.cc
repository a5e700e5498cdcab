// Plans that run at once, begun and ended in any order.
#include "compaction/claims.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "compaction/simulated_store.h"

namespace tamis {
namespace {

constexpr std::uint64_t kKeys = 256;

/// A store in which several plans run at once, with a map of its expected contents.
class BusyStore {
 public:
  explicit BusyStore(std::uint64_t seed)
      : random_(seed),
        store_(10, 10 * (1 + random_.below(8))),
        options_{.fanout = static_cast<std::uint32_t>(2 + random_.below(4)),
                 .memtable_bytes = 50 + random_.below(300),
                 .table_bytes = 0,
                 .now_unix_seconds = 1'000'000} {}

  void take_turns(const CompactionPolicy& policy, int turns) {
    while (turns-- > 0 && !testing::Test::HasFailure()) {
      switch (random_.below(5)) {
        case 0:
        case 1: flush(); break;
        case 2: begin(policy); break;
        case 3: begin_range(); break;
        default: end_one();
      }
    }
    while (!running_.empty() && !testing::Test::HasFailure()) end_one();
  }

  void flush() {
    std::vector<SimulatedWrite> writes;
    const std::uint64_t center = random_.below(kKeys);
    const std::uint64_t spread = 1 + random_.below(kKeys);
    const std::uint64_t deletes = random_.below(6);
    for (std::uint64_t i = random_.below(40); i-- > 0;) {
      const SimulatedWrite write = {
          .key = center + random_.below(spread), .version = ++version_, .is_delete = random_.below(10) < deletes};
      writes.push_back(write);
      model_[write.key] = write;
    }
    ASSERT_TRUE(store_.flush(writes, options_.now_unix_seconds).ok());
  }

  void begin(const CompactionPolicy& policy) {
    Admission admission(claims_);
    if (auto plan = policy.pick_beside(store_.shape(), options_, admission)) begin(std::move(*plan));
  }
  void begin_range() {
    const std::string from = simulated_key(random_.below(kKeys));
    const RangeGoal goal = {.from = from,
                            .newest = Sequence{version_},
                            .first_new_table = store_.next_number(),
                            .step_bytes = random_.below(500)};
    auto plan = pick_for_range(store_.shape(), goal);
    if (plan && Admission(claims_).admits(store_.shape(), *plan)) begin(std::move(*plan));
  }
  void begin(CompactionPlan plan) {
    Result<SimulatedStore::Tables> tables = store_.write(plan);
    ASSERT_TRUE(tables.ok()) << tables.status().to_text() << "\n" << plan.reason << "\n" << store_.shape().to_text();
    const Claims::Id id = claims_.begin(store_.shape(), plan);
    running_.push_back({id, std::move(plan), std::move(*tables)});
    most_at_once = std::max(most_at_once, running_.size());
  }
  void end_one() {
    if (running_.empty()) return;
    const auto ended = running_.begin() + static_cast<std::ptrdiff_t>(random_.below(running_.size()));
    const Status status = store_.install(ended->plan, ended->tables);
    ASSERT_TRUE(status.ok()) << status.to_text() << "\n" << ended->plan.reason << "\n" << store_.shape().to_text();
    claims_.end(ended->id);
    running_.erase(ended);
  }

  void expect_all_there() const {
    for (std::uint64_t key = 0; key < 2 * kKeys; ++key) {
      const auto written = model_.find(key);
      const bool is_there = written != model_.end() && !written->second.is_delete;
      const std::optional<SimulatedWrite> found = store_.find(key);
      ASSERT_EQ(found.has_value(), is_there) << key << "\n" << store_.shape().to_text();
      if (found) {
        ASSERT_EQ(*found, written->second);
      }
    }
  }

  std::size_t most_at_once = 0;

 private:
  struct Running {
    Claims::Id id = 0;
    CompactionPlan plan;
    SimulatedStore::Tables tables;
  };

  SplitMix64 random_;
  SimulatedStore store_;
  PolicyOptions options_;
  Claims claims_;
  std::vector<Running> running_;
  std::map<std::uint64_t, SimulatedWrite> model_;
  std::uint64_t version_ = 0;
};

TEST(Claims, Rule47_PlansThatRunAtOnceKeepEveryAnswer) {
  for (const CompactionPolicy& policy : compaction_policies()) {
    std::size_t busy = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      SCOPED_TRACE(fmt::format("{} seed {}", policy.name, seed));
      BusyStore store(seed);
      store.take_turns(policy, 200);
      store.expect_all_there();
      ASSERT_FALSE(HasFailure());
      busy += store.most_at_once >= 2 ? 1 : 0;
    }
    EXPECT_GT(busy, 50U) << policy.name << " ran nothing at once";
  }
}

/// A shape made of tables, and the leveled policy beside what runs.
struct Leveled {
  void add(std::uint32_t level, std::uint64_t run, std::string_view from, std::string_view to) {
    auto facts = std::make_shared<TableFacts>();
    facts->number = ++tables;
    facts->entries = facts->keys = 10;
    facts->file_bytes = 100;
    facts->smallest_key = from;
    facts->largest_key = to;
    Result<Shape> next = shape.with({.added = {{.level = level, .run = run, .facts = std::move(facts)}}});
    ASSERT_TRUE(next.ok()) << next.status().to_text();
    shape = std::move(*next);
  }
  /// Adds level 0 runs over all keys.
  void flush(std::uint64_t count) {
    while (count-- > 0) add(0, ++runs, "a", "z");
  }
  [[nodiscard]] std::optional<CompactionPlan> pick() const {
    Admission admission(claims);
    return policy.pick_beside(shape, options, admission);
  }
  /// Returns the level that the plan comes from.
  std::optional<std::uint32_t> begin_next() {
    const std::optional<CompactionPlan> plan = pick();
    if (!plan) return std::nullopt;
    last = claims.begin(shape, *plan);
    return plan->inputs.front().level;
  }

  const CompactionPolicy& policy = *find_compaction_policy("leveled");
  PolicyOptions options = {.fanout = 2, .memtable_bytes = 100, .table_bytes = 100};
  Shape shape;
  Claims claims;
  Claims::Id last = 0;
  std::uint64_t tables = 0;
  std::uint64_t runs = 0;
};

TEST(Claims, LevelZeroIsMergedInPlaceWhileItsOlderRunsAreOnTheirWayDown) {
  Leveled tree;
  tree.add(1, 1, "a", "z");
  tree.flush(4);
  ASSERT_EQ(tree.begin_next(), 0U);
  tree.flush(7);
  EXPECT_FALSE(tree.pick()) << "seven runs can wait";
  tree.flush(1);
  const auto plan = tree.pick();
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->output_level, 0U);
  EXPECT_EQ(plan->inputs.size(), 8U);
  tree.claims.begin(tree.shape, *plan);
  EXPECT_FALSE(tree.pick());
}

/// Levels 1 and 2 are too large, and a table of level 1 is being pushed down. Level 0 becomes due: it is next in level
/// 1, and level 2 goes on.
TEST(Claims, LevelZeroDoesNotWaitLongerThanForWhatRuns) {
  Leveled tree;
  for (const char* key : {"b", "d", "f", "h", "k"}) tree.add(1, 1, key, key);
  for (const char* key : {"b", "d", "f", "h", "k", "m", "o", "q"}) tree.add(2, 1, key, key);
  tree.add(3, 1, "b", "b");
  ASSERT_EQ(tree.begin_next(), 1U);
  const Claims::Id push = tree.last;
  tree.flush(16);
  int pushed = 0;
  while (const std::optional<std::uint32_t> level = tree.begin_next()) {
    ASSERT_EQ(level, 2U);
    ++pushed;
  }
  EXPECT_GT(pushed, 0);
  tree.claims.end(push);
  EXPECT_EQ(tree.begin_next(), 0U);
}

TEST(Claims, AReservedPlanIsNotMadeToWaitLonger) {
  Leveled tree;
  tree.add(1, 1, "a", "z");
  tree.flush(4);
  const auto due = tree.pick();
  ASSERT_TRUE(due);
  tree.claims.reserve(reach_of(tree.shape, *due));
  EXPECT_FALSE(tree.pick());
  tree.claims.reserve(std::nullopt);
  EXPECT_EQ(tree.pick(), due);
}

}  // namespace
}  // namespace tamis
