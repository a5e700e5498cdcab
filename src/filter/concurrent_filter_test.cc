#include "tamis/concurrent_filter.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "support/filter_sets.h"

namespace tamis {
namespace {

using test::HashSet;

constexpr std::uint64_t kThreads = 8;
constexpr std::uint64_t kKeys = 40'000;

class ConcurrentKinds : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] FilterOptions options() const { return {.kind = GetParam(), .target_rate = 0.01, .capacity = kKeys}; }
};

/// Eight threads add, each its keys and every eighth of the next one's; two ask for what was published; one copies. The
/// result is bit by bit what one thread makes.
TEST_P(ConcurrentKinds, LoseNoKeyThatEightThreadsAdd) {
  Result<ConcurrentFilter> filter = ConcurrentFilter::create(options());
  ASSERT_TRUE(filter.ok()) << filter.status().to_text();
  const HashSet source(1);
  std::array<std::atomic<std::uint64_t>, kThreads> published = {};  // Released after the adds; acquired before asking.
  std::atomic<bool> ends = false;
  std::atomic<std::uint64_t> denied = 0;
  std::atomic<std::uint64_t> asked = 0;
  std::vector<std::thread> adding;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    adding.emplace_back([&, thread] {
      for (std::uint64_t i = 0; i < kKeys / kThreads; ++i) {
        filter->add_hash(source.member(thread + kThreads * i));
        if (i % 8 == 0) filter->add_hash(source.member((thread + 1) % kThreads + kThreads * i));
        published[thread].store(i + 1, std::memory_order_release);
      }
    });
  }
  std::vector<std::thread> asking;
  for (int i = 0; i < 2; ++i) {
    asking.emplace_back([&] {
      for (std::uint64_t step = 0; !ends.load(); ++step) {
        const std::uint64_t thread = step % kThreads;
        const std::uint64_t there = published[thread].load(std::memory_order_acquire);
        if (there == 0) continue;
        const std::uint64_t key = source.member(thread + kThreads * (step * 31 % there));
        if (!filter->may_contain_hash(key)) ++denied;
        if (step % 4096 == 0 && !filter->freeze().may_contain_hash(key)) ++denied;
        ++asked;
      }
    });
  }
  for (std::thread& thread : adding) thread.join();
  ends = true;
  for (std::thread& thread : asking) thread.join();
  EXPECT_EQ(denied, 0U);

  EXPECT_EQ(filter->keys(), kKeys + kKeys / 8);
  Result<MutableFilter> alone = MutableFilter::create(options());
  for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(alone->add_hash(source.member(i)).ok());
  const Filter frozen = filter->freeze();
  EXPECT_TRUE(as_text(frozen.bytes().subspan(128)) == as_text(alone->freeze().bytes().subspan(128)));
  for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(filter->may_contain_hash(source.member(i)));
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    wrong += filter->may_contain_hash(source.stranger(i)) ? 1 : 0;
    ASSERT_EQ(filter->may_contain_hash(source.stranger(i)), frozen.may_contain_hash(source.stranger(i)));
  }
  EXPECT_LE(wrong, 260U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ConcurrentKinds, testing::Values("line", "bloom", "split"),
                         [](const auto& one) { return one.param; });

TEST(ConcurrentFilter, HashesAsItsOptionsSay) {
  FilterOptions options = {.kind = "line", .capacity = 100, .prefix_rule = {PrefixRule::Kind::kFirst, 3}};
  options.seed.seed = 7;
  Result<ConcurrentFilter> filter = ConcurrentFilter::create(options);
  ASSERT_TRUE(filter.ok());
  filter->add("zebra");
  EXPECT_TRUE(filter->may_contain("zebu"));
  EXPECT_FALSE(filter->may_contain("ape"));
  EXPECT_TRUE(filter->freeze().may_contain("zebra"));
  EXPECT_EQ(filter->freeze().info().seed.seed, 7U);
}

TEST(ConcurrentFilter, RefusesKindsThatAreNotBitsAndAnUnknownCapacity) {
  for (const char* kind : {"ribbon", "cuckoo", "counting", "scalable", "growing"}) {
    const Status refused = ConcurrentFilter::create({.kind = kind, .capacity = 10}).status();
    EXPECT_EQ(refused.code(), StatusCode::kNotSupported) << kind;
    EXPECT_NE(refused.message().find("line, bloom and split"), std::string::npos) << refused.message();
  }
  EXPECT_EQ(ConcurrentFilter::create({.kind = "bloom"}).status().code(), StatusCode::kInvalidArgument);
}

TEST(ConcurrentFilter, ThatIsEmptyAnswersMaybeAndIgnoresKeys) {
  ConcurrentFilter filter = *ConcurrentFilter::create({.kind = "bloom", .capacity = 10});
  const ConcurrentFilter moved = std::move(filter);
  filter.add("key");
  EXPECT_TRUE(filter.may_contain("other"));
  EXPECT_EQ(filter.keys(), 0U);
  EXPECT_TRUE(filter.freeze().bytes().empty());
  EXPECT_FALSE(moved.may_contain("key"));
}

}  // namespace
}  // namespace tamis
