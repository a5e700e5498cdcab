// The contract of every filter kind. Loops over the registry, so a new kind is covered as soon as it is registered.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/instruction_set.h"
#include "filter/filter_kind.h"
#include "support/filter_rate.h"
#include "support/filter_sets.h"
#include "support/sealed_again.h"
#include "tamis/filter.h"

namespace tamis {
namespace {

using test::HashSet;

class FilterContract : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] Filter build(const std::vector<std::uint64_t>& hashes, FilterOptions options = {}) const {
    options.kind = GetParam();
    return test::build_filter(options, hashes);
  }
};

constexpr std::uint64_t kSizes[] = {0, 1, 2, 3, 10, 63, 64, 65, 100, 129, 1000, 11'504, 11'521, 100'000};

TEST_P(FilterContract, NeverDeniesAMember) {
  for (const std::uint64_t keys : kSizes) {
    for (const double rate : {0.3, 0.01, 0.002}) {
      const std::vector<std::uint64_t> members = HashSet(keys).members(keys);
      const Filter filter = build(members, {.target_rate = rate});
      for (const std::uint64_t hash : members)
        ASSERT_TRUE(filter.may_contain_hash(hash)) << keys << " keys, rate " << rate;
      ASSERT_EQ(test::count_maybe(filter, members), members.size()) << keys << " keys, rate " << rate;
    }
  }
}

TEST_P(FilterContract, IsWrongAsOftenAsPredicted) {
  for (const std::uint64_t keys : {0, 1, 2, 10, 100, 1000, 11'504, 11'521, 100'000}) {
    const test::MeasuredRate measured = test::measure_rate(
        keys, 1000, [&](const std::vector<std::uint64_t>& hashes) { return build(hashes, {.target_rate = 0.01}); });
    EXPECT_LE(std::abs(measured.deviation()), 3) << keys << " keys: measured " << measured.rate << " predicted "
                                                 << measured.predicted << " sigma " << measured.sigma;
    EXPECT_LE(measured.predicted, 0.01 * (1 + 1e-9)) << keys << " keys";
    if (keys == 0) {
      EXPECT_EQ(measured.rate, 0);
    }
  }
}

TEST_P(FilterContract, WelcomesDuplicates) {
  std::vector<std::uint64_t> members = HashSet(5).members(20'000);
  const std::vector<std::uint64_t> once = members;
  for (int copies = 0; copies < 3; ++copies) members.insert(members.end(), once.begin(), once.end());
  const Filter filter = build(members, {.target_rate = 0.01});
  EXPECT_EQ(test::count_maybe(filter, once), once.size());
  std::vector<std::uint64_t> only_two(100'000, 42);
  for (std::size_t i = 0; i < only_two.size(); i += 2) only_two[i] = 43;  // The builder drops equal neighbours.
  EXPECT_EQ(test::count_maybe(build(only_two, {.target_rate = 0.01}), {42, 43}), 2U);
}

TEST_P(FilterContract, AnswersManyAsItAnswersOne) {
  for (const std::uint64_t keys : {5, 20, 90, 3000, 700'000}) {
    const HashSet source(77);
    const Filter filter = build(source.members(keys), {.target_rate = 0.02});
    std::vector<std::uint64_t> asked = source.strangers(1000);
    for (std::uint64_t i = 0; i < 300; ++i) asked.push_back(source.member(i % keys));
    for (std::size_t count = 0; count <= asked.size(); count += count < 140 ? 1 : 290) {
      const std::span<const std::uint64_t> some = std::span(asked).last(count);
      std::vector<std::uint64_t> answers((count + 63) / 64 + 1, 0xabcd);
      filter.may_contain_many(some, answers.data());
      for (std::size_t i = 0; i < count; ++i) {
        filter.prefetch_hash(some[i]);
        ASSERT_EQ((answers[i / 64] >> (i % 64)) & 1, filter.may_contain_hash(some[i])) << keys << " keys, place " << i;
      }
      ASSERT_EQ(answers.back(), 0xabcd) << "wrote past the last answer";
      if (count % 64 != 0) {
        ASSERT_EQ(answers[count / 64] >> (count % 64), 0U) << "unused bits are not zero";
      }
    }
  }
}

TEST_P(FilterContract, HasTheSameBytesAndAnswersOnEveryInstructionSet) {
  for (const std::uint64_t keys : {0, 7, 1000, 5000, 30'000}) {
    for (const int halvings : {1, 3, 4, 7, 8, 9, 11, 16, 17, 25, 32}) {
      const double rate = std::ldexp(1.0, -halvings);
      if (!filter_size(GetParam(), keys, {SizeTarget::Measure::kRate, rate}).ok()) continue;
      const HashSet source(9);
      const std::vector<std::uint64_t> members = source.members(keys);
      const std::vector<std::uint64_t> asked = source.strangers(20'000);
      std::vector<std::byte> bytes;
      std::vector<std::uint64_t> expected;
      for (const InstructionSet set : supported_instruction_sets()) {
        const PretendedInstructionSet pretended(set);
        const Filter filter = build(members, {.target_rate = rate});
        std::vector<std::uint64_t> answers((asked.size() + 63) / 64);
        filter.may_contain_many(asked, answers.data());
        if (bytes.empty()) {
          bytes.assign(filter.bytes().begin(), filter.bytes().end());
          expected = answers;
        }
        EXPECT_TRUE(as_text(filter.bytes()) == as_text(bytes)) << name_of(set) << ", " << keys << " keys";
        EXPECT_EQ(answers, expected) << name_of(set) << ", " << keys << " keys";
        EXPECT_EQ(test::count_maybe(filter, members), members.size()) << name_of(set);
        for (std::size_t i = 0; i < 5'000; ++i) {
          ASSERT_EQ(filter.may_contain_hash(asked[i]), ((expected[i / 64] >> (i % 64)) & 1) != 0) << name_of(set);
        }
      }
    }
  }
}

TEST_P(FilterContract, SurvivesSavingAndOpening) {
  const std::string path = testing::TempDir() + "contract-" + GetParam() + ".tamis";
  FilterOptions options = {.kind = GetParam(), .target_rate = 0.01};
  options.seed.key.emplace().fill(std::byte{0x5a});
  FilterBuilder builder(options);
  for (int i = 0; i < 2000; ++i) builder.add("user:" + std::to_string(i));
  const Result<Filter> built = builder.finish();
  ASSERT_TRUE(built.ok());
  ASSERT_TRUE(built->save(path).ok());
  const Result<Filter> opened = Filter::open(path);
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(opened->may_contain("user:" + std::to_string(i)));
  EXPECT_EQ(opened->info().keys, 2000U);
  EXPECT_EQ(opened->info().kind, GetParam());
  EXPECT_TRUE(opened->info().seed.key.has_value());
  std::filesystem::remove(path);
}

TEST_P(FilterContract, RefusesDamagedBytes) {
  const Filter filter = build(HashSet(3).members(300), {.target_rate = 0.01});
  const std::vector<std::byte> good(filter.bytes().begin(), filter.bytes().end());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<std::byte> bad = good;
    bad[i] ^= std::byte{1} << (i % 8);
    const Result<Filter> opened = Filter::from_bytes(bad, "bad.tamis");
    ASSERT_FALSE(opened.ok()) << "byte " << i << " flipped";
    ASSERT_EQ(opened.status().code(), StatusCode::kCorruption);
    ASSERT_NE(opened.status().message().find("bad.tamis"), std::string::npos) << opened.status().to_text();
  }
  for (std::size_t length = 0; length < good.size(); ++length) {
    const Result<Filter> opened = Filter::from_bytes(std::span(good).first(length));
    if (find_filter_kind(GetParam())->in_slices && opened.ok()) {
      ASSERT_GT(opened->info().estimated_rate, filter.info().estimated_rate) << "cut to " << length;
      ASSERT_EQ(test::count_maybe(*opened, HashSet(3).members(300)), 300U) << "cut to " << length;
      continue;  // Where a slice ends. sliced_test.cc says that this is nowhere else.
    }
    ASSERT_FALSE(opened.ok()) << "cut to " << length;
  }
  std::vector<std::byte> longer = good;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(Filter::from_bytes(longer).ok());
}

/// In slices, the header's checksum is for the first one only: a kind without slices would trust the rest unread.
TEST_P(FilterContract, RefusesALayoutThatIsNotItsOwn) {
  const Filter filter = build(HashSet(3).members(2000), {.target_rate = 0.01});
  for (const FilterLayout layout : {FilterLayout::kOwn, FilterLayout::kSlices}) {
    if ((layout == FilterLayout::kSlices) == find_filter_kind(GetParam())->in_slices) continue;
    std::vector<std::byte> bad(filter.bytes().begin(), filter.bytes().end());
    bad[11] = static_cast<std::byte>(layout);
    store_le(bad.data() + 112, std::uint64_t{0});
    test::seal_again(bad);
    const Result<Filter> opened = Filter::from_bytes(bad, "bad.tamis");
    ASSERT_EQ(opened.status().code(), StatusCode::kCorruption) << opened.status().to_text();
    EXPECT_NE(opened.status().message().find("in slices"), std::string::npos) << opened.status().to_text();
  }
}

/// Damage with a corrected checksum: only the kind's own checks protect the probe.
TEST_P(FilterContract, StaysInsideItsBytesWhateverTheHeaderSays) {
  const Filter filter = build(HashSet(3).members(2000), {.target_rate = 1.0 / 256});
  const std::vector<std::uint64_t> asked = HashSet(4).strangers(300);
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  for (const std::size_t at : {40, 68, 72, 80, 88, 96, 112}) {  // Lengths, the hashes and four numbers.
    for (int bit = 0; bit < 64; ++bit) {
      for (const std::uint64_t change : {std::uint64_t{1} << bit, kAll << bit, kAll >> bit}) {
        std::vector<std::byte> bad(filter.bytes().begin(), filter.bytes().end());
        store_le(bad.data() + at, load_le<std::uint64_t>(bad.data() + at) ^ change);
        test::seal_again(bad);
        const Result<Filter> opened = Filter::from_bytes(bad, "bad.tamis");
        if (!opened.ok()) {
          ASSERT_EQ(opened.status().code(), StatusCode::kCorruption);
          ASSERT_NE(opened.status().message().find("bad.tamis"), std::string::npos) << opened.status().to_text();
          continue;
        }
        for (const std::uint64_t hash : asked) (void)opened->may_contain_hash(hash);
        (void)test::count_maybe(*opened, asked);
        (void)opened->info();
      }
    }
  }
}

TEST_P(FilterContract, ReachesWhatItWasAskedForOrSaysWhoCan) {
  for (const std::uint64_t keys : {0, 1, 50, 1000, 1'000'000}) {
    for (const double rate : {0.9, 0.5, 0.1, 0.01, 0.001, 1e-5, 1e-8}) {
      const Result<FilterSize> size = filter_size(GetParam(), keys, {SizeTarget::Measure::kRate, rate});
      if (size.ok()) {
        EXPECT_LE(size->rate, rate * (1 + 1e-9)) << keys << " keys";
      } else {
        EXPECT_EQ(size.status().code(), StatusCode::kNotSupported);
        EXPECT_NE(size.status().message().find(" can"), std::string::npos) << size.status().to_text();
      }
    }
  }
}

TEST_P(FilterContract, KeepsToTheMemoryGiven) {
  for (const std::uint64_t keys : {0U, 1U, 65U, 300U, 5000U, 100'000U}) {
    for (const double bits : {3.0, 5.0, 9.0, 12.5, 40.0}) {
      const auto memory = 128 + static_cast<std::uint64_t>(bits * static_cast<double>(keys) / 8);
      const SizeTarget target = {SizeTarget::Measure::kMemory, static_cast<double>(memory)};
      if (const Result<FilterSize> size = filter_size(GetParam(), keys, target); !size.ok()) {
        EXPECT_EQ(size.status().code(), StatusCode::kNotSupported);
        continue;
      }
      const std::vector<std::uint64_t> members = HashSet(keys).members(keys);
      const Filter filter = build(members, {.memory_bytes = memory});
      EXPECT_LE(filter.bytes().size(), memory) << keys << " keys, " << bits << " bits";
      EXPECT_EQ(test::count_maybe(filter, members), keys) << bits << " bits";
    }
  }
}

TEST_P(FilterContract, RefusesTargetsThatMeanNothing) {
  for (const double rate : {0.0, 1.0, 2.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_EQ(filter_size(GetParam(), 100, {SizeTarget::Measure::kRate, rate}).status().code(),
              StatusCode::kInvalidArgument);
    EXPECT_EQ(FilterBuilder({.kind = GetParam(), .target_rate = rate}).finish().status().code(),
              StatusCode::kInvalidArgument);
  }
  for (const double bits : {0.0, -1.0, 1e9, std::nan("")}) {
    EXPECT_EQ(filter_size(GetParam(), 100, {SizeTarget::Measure::kBitsPerKey, bits}).status().code(),
              StatusCode::kInvalidArgument);
  }
}

TEST_P(FilterContract, DescribesItselfTruly) {
  const Filter filter = build(HashSet(8).members(50'000), {.target_rate = 0.01});
  const FilterInfo info = filter.info();
  EXPECT_EQ(info.keys, 50'000U);
  EXPECT_EQ(info.bytes, filter.bytes().size());
  EXPECT_GT(info.fill, 0);
  EXPECT_LE(info.fill, 1);
  EXPECT_NEAR(info.estimated_keys, 50'000, 1000);
  EXPECT_NEAR(info.estimated_rate / info.designed_rate, 1, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Kinds, FilterContract, testing::ValuesIn(test::kind_names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace tamis
