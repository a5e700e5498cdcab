#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "base/hash.h"
#include "base/instruction_set.h"
#include "filter/filter_kind.h"
#include "filter/held_slices.h"
#include "filter/sliced_layout.h"
#include "support/filter_sets.h"

namespace tamis {
namespace {

using test::HashSet;
using Hashes = std::vector<std::uint64_t>;

FilterImage build(Hashes hashes, double rate) {
  const FilterSize size = kSlicedKind.size(hashes.size(), {SizeTarget::Measure::kRate, rate}).value();
  FilterImage image = kSlicedKind.build(hashes, size).value();
  image.header.kind = kSlicedKind.info.id;
  image.header.keys = hashes.size();
  EXPECT_LE(image.body().size(), size.bytes) << hashes.size() << " keys, rate " << rate;
  image.seal();
  return image;
}

SlicedShape shape_of(const FilterImage& image) { return SlicedShape::of(image.header).value(); }

Bytes slice_of(const FilterImage& image, std::size_t slice) {
  const SlicedShape shape = shape_of(image);
  return image.body().subspan(shape.slice_begin(slice), shape.slice_bytes(slice));
}

/// The first `count` slices of an image.
HeldSlices hold(const FilterImage& image, std::size_t count) {
  HeldSlices slices = HeldSlices::open(image.header, slice_of(image, 0), "filter").value();
  for (std::size_t i = 1; i < count; ++i) {
    EXPECT_EQ(slices.next().offset, shape_of(image).slice_begin(i));
    EXPECT_EQ(slices.next().bytes, shape_of(image).slice_bytes(i));
    const Status added = slices.add(slice_of(image, i), "filter");
    EXPECT_TRUE(added.ok()) << added.to_text();
  }
  return slices;
}

std::uint64_t count_maybe(const FilterProbe& probe, const Hashes& hashes) {
  Hashes answers((hashes.size() + 63) / 64);
  probe.may_contain_many(hashes, answers.data());
  std::uint64_t count = 0;
  for (const std::uint64_t word : answers) count += static_cast<std::uint64_t>(std::popcount(word));
  return count;
}

bool has_all(const FilterProbe& probe, const Hashes& hashes) {
  return count_maybe(probe, hashes) == hashes.size() &&
         std::all_of(hashes.begin(), hashes.end(), [&](std::uint64_t hash) { return probe.may_contain(hash); });
}

Hashes answers_of(const FilterProbe& probe, const Hashes& hashes) {
  Hashes answers((hashes.size() + 63) / 64);
  probe.may_contain_many(hashes, answers.data());
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    probe.prefetch(hashes[i]);
    EXPECT_EQ(probe.may_contain(hashes[i]), ((answers[i / 64] >> (i % 64)) & 1) != 0) << "place " << i;
  }
  return answers;
}

TEST(Sliced, Rule46_EveryFirstSlicesHaveEveryKey) {
  const auto check = [](std::uint64_t keys, double columns) {
    const Hashes members = HashSet(keys).members(keys);
    const FilterImage image = build(members, std::exp2(-columns));
    for (std::size_t held = 1; held <= shape_of(image).slices(); ++held) {
      EXPECT_TRUE(has_all(hold(image, held).probe(), members)) << keys << " keys, " << columns << " columns, " << held;
    }
  };
  for (std::uint64_t keys = 0; keys <= 300; ++keys) {
    for (const double columns : {1.0, 4.0, 5.0, 8.0, 13.0, 28.0}) check(keys, columns);
  }
  for (double columns = 0.5; columns <= kMostSlicedColumns; columns += 0.5) {
    for (const std::uint64_t keys : {1000U, 4095U, 4097U}) check(keys, columns);
  }
  for (const std::uint64_t keys : {8191U, 11'504U, 65'537U, 1'000'000U}) check(keys, 7.4);
}

/// One elimination: the slices are the columns of the ribbon of the same keys.
TEST(Sliced, Rule46_AllSlicesAnswerAsARibbonDoes) {
  for (const std::uint64_t keys : {70U, 700U, 5000U, 100'000U}) {
    for (const std::uint32_t columns : {1U, 3U, 4U, 7U, 8U, 13U, 28U}) {
      Hashes members = HashSet(keys).members(keys);
      const double rate = std::ldexp(1.0, -static_cast<int>(columns));
      const FilterImage image = build(members, rate);
      const FilterSize size = kRibbonKind.size(keys, {SizeTarget::Measure::kRate, rate}).value();
      const FilterImage ribbon = kRibbonKind.build(members, size).value();
      const FilterProbe expected = kRibbonKind.open(ribbon.header, ribbon.body(), "ribbon").value();
      const Hashes asked = HashSet(columns).strangers(5000);
      EXPECT_EQ(answers_of(hold(image, shape_of(image).slices()).probe(), asked), answers_of(expected, asked))
          << keys << " keys, " << columns << " columns";
    }
  }
}

TEST(Sliced, Rule46_MoreSlicesOnlyDenyMore) {
  const HashSet source(4);
  const FilterImage image = build(source.members(20'000), 0.0007);
  const Hashes asked = source.strangers(20'000);
  Hashes before((asked.size() + 63) / 64, ~std::uint64_t{0});
  for (std::size_t held = 1; held <= shape_of(image).slices(); ++held) {
    const Hashes now = answers_of(hold(image, held).probe(), asked);
    for (std::size_t i = 0; i < now.size(); ++i) EXPECT_EQ(now[i] & ~before[i], 0U) << held << " slices";
    EXPECT_NE(now, before);
    before = now;
  }
}

TEST(Sliced, Rule46_EveryFirstSlicesAnswerAlikeOnEveryInstructionSet) {
  for (const double columns : {2.0, 3.3, 4.0, 6.0, 8.5, 14.0}) {
    const HashSet source(5);
    const FilterImage image = build(source.members(6000), std::exp2(-columns));
    Hashes asked = source.strangers(2000);
    for (std::uint64_t i = 0; i < 500; ++i) asked.push_back(source.member(i));
    for (std::size_t held = 1; held <= shape_of(image).slices(); ++held) {
      Hashes expected;
      for (const InstructionSet set : supported_instruction_sets()) {
        const PretendedInstructionSet pretended(set);
        const Hashes answers = answers_of(hold(image, held).probe(), asked);
        if (expected.empty()) expected = answers;
        EXPECT_EQ(answers, expected) << name_of(set) << ", " << columns << " columns, " << held << " slices";
      }
    }
  }
}

TEST(Sliced, Rule46_EveryFirstSlicesAreWithinOnePercentOfTheBound) {
  constexpr std::uint64_t kProbes = 1'000'000;
  for (const std::uint64_t keys : {10'000U, 10'030U, 100'000U, 1'000'000U}) {
    for (const std::uint32_t columns : {8U, 12U, 16U, 20U}) {
      if (keys > 100'000 && columns != 16) continue;
      const HashSet source(columns);
      const FilterImage image = build(source.members(keys), std::ldexp(1.0, -static_cast<int>(columns)));
      const Hashes strangers = source.strangers(kProbes);
      for (std::size_t held = 1; held <= columns / kSliceColumns; ++held) {
        const HeldSlices slices = hold(image, held);
        const double rate = slices.rate_with(held);
        const auto bits = 8 * static_cast<double>(shape_of(image).slice_begin(held)) / static_cast<double>(keys);
        EXPECT_LE(bits, -std::log2(rate) * 1.01) << keys << " keys, " << held << " of " << columns / 4 << " slices";
        EXPECT_NEAR(std::log2(rate), -4.0 * static_cast<double>(held), 0.002);
        const auto maybe = static_cast<double>(count_maybe(slices.probe(), strangers));
        EXPECT_NEAR(maybe, kProbes * rate, 3.5 * std::sqrt(kProbes * rate)) << keys << " keys, " << held << " slices";
      }
    }
  }
}

/// At 0.09, where mixed columns waste most of the fewest bits, it takes a million keys.
TEST(Sliced, ReachesAnyRateWithinThreePercentOfTheBound) {
  constexpr std::uint64_t kProbes = 1'000'000;
  const auto check = [](std::uint64_t keys, double rate, double most) {
    const HashSet source(keys);
    const FilterImage image = build(source.members(keys), rate);
    const HeldSlices slices = hold(image, shape_of(image).slices());
    const double reached = slices.rate_with(slices.all());
    EXPECT_LE(reached, rate * 1.001) << keys << " keys";
    EXPECT_LE(8 * static_cast<double>(image.body().size()) / static_cast<double>(keys), -std::log2(rate) * most)
        << keys << " keys, rate " << rate;
    const auto maybe = static_cast<double>(count_maybe(slices.probe(), source.strangers(kProbes)));
    EXPECT_NEAR(maybe, kProbes * reached, 4 * std::sqrt(kProbes * reached)) << keys << " keys, rate " << rate;
  };
  for (double rate = 0.1; rate > 0.99e-6; rate *= 0.91) {
    check(100'000, rate, rate < 0.085 ? 1.03 : 1.0325);
    check(10'000, rate, rate < 0.04 ? 1.03 : 1.04);
  }
  for (const double rate : {0.1, 0.09, 0.01, 0.0017}) check(1'000'000, rate, 1.03);
}

/// A copy in memory of exactly its size, so that the address sanitizer guards it.
struct CopyOfColumns {
  CopyOfColumns(const HeldSlices& from, std::uint32_t columns)
      : memory(from.bytes_of_copy(columns)), held(from.copy(columns, memory)) {}

  std::vector<std::byte> memory;
  HeldSlices held;
};

TEST(Sliced, Rule46_AnyFirstColumnsAreAFilter) {
  constexpr std::uint64_t kProbes = 200'000;
  for (const std::uint64_t keys : {300U, 4500U, 70'001U}) {
    const HashSet source(keys);
    const Hashes members = source.members(keys);
    const FilterImage image = build(members, keys == 4500 ? 0.0002 : std::exp2(-14.0));
    const HeldSlices all = hold(image, shape_of(image).slices());
    const SlicedSizes sizes = SlicedSizes::of(image.container()).value();
    EXPECT_EQ(sizes.columns, shape_of(image).whole_columns());
    const Hashes asked = source.strangers(kProbes);
    Hashes before((asked.size() + 63) / 64, ~std::uint64_t{0});
    for (std::uint32_t columns = 1; columns <= all.columns(); ++columns) {
      const CopyOfColumns copy(all, columns);
      EXPECT_EQ(copy.held.columns(), columns);
      EXPECT_LE(copy.memory.size(), sizes.bytes_with(columns) + std::size_t{64} * columns)
          << columns << " columns of " << keys << " keys";
      EXPECT_TRUE(has_all(copy.held.probe(), members)) << columns << " columns of " << keys << " keys";
      const Hashes now = answers_of(copy.held.probe(), asked);
      for (std::size_t i = 0; i < now.size(); ++i) ASSERT_EQ(now[i] & ~before[i], 0U) << columns << " columns";
      before = now;
      const double expected = kProbes * sizes.rate_with(columns);
      EXPECT_NEAR(static_cast<double>(count_maybe(copy.held.probe(), asked)), expected, 4.5 * std::sqrt(expected) + 1)
          << columns << " columns of " << keys << " keys";
      const CopyOfColumns half(copy.held, (columns + 1) / 2);
      EXPECT_EQ(answers_of(half.held.probe(), asked),
                answers_of(CopyOfColumns(all, (columns + 1) / 2).held.probe(), asked));
    }
  }
}

TEST(Sliced, Rule46_ACopyOfWholeSlicesGoesOnWithTheNext) {
  const HashSet source(6);
  const Hashes members = source.members(9000);
  const FilterImage image = build(members, 0.00003);
  const Hashes asked = source.strangers(10'000);
  ASSERT_EQ(shape_of(image).slices(), 5U);
  for (std::size_t held = 1; held < shape_of(image).slices(); ++held) {
    const HeldSlices from = hold(image, held);
    const CopyOfColumns part(from, from.columns() - 1);
    EXPECT_EQ(part.held.next().bytes, 0U) << "its last slice is cut";
    CopyOfColumns copy(from, from.columns());
    const std::vector<std::byte> next(slice_of(image, held).begin(), slice_of(image, held).end());
    ASSERT_TRUE(copy.held.add(next, "filter").ok());
    EXPECT_TRUE(has_all(copy.held.probe(), members));
    EXPECT_EQ(answers_of(copy.held.probe(), asked), answers_of(hold(image, held + 1).probe(), asked));
  }
}

TEST(Sliced, SizesTellWhatColumnsAreWorth) {
  const FilterImage image = build(HashSet(1).members(20'000), std::exp2(-12.0));
  const SlicedSizes sizes = SlicedSizes::of(image.container()).value();
  EXPECT_EQ(sizes.first_bytes, kFilterHeaderBytes + shape_of(image).slice_bytes(0));
  EXPECT_EQ(sizes.bytes_with(4), shape_of(image).slice_bytes(0));
  EXPECT_EQ(sizes.bytes_with(12), shape_of(image).slice_bytes(0) + 8 * sizes.column_bytes);
  EXPECT_EQ(sizes.rate_with(0), 1);
  for (std::size_t slices = 1; slices <= 3; ++slices) {
    const double exact = hold(image, slices).rate_with(slices);
    EXPECT_NEAR(sizes.rate_with(static_cast<std::uint32_t>(4 * slices)) / exact, 1, 0.001);
  }
  Hashes few = HashSet(1).members(30);
  const Filter list = [&] {
    FilterBuilder builder({.kind = "sliced", .target_rate = 0.001});
    for (const std::uint64_t hash : few) builder.add_hash(hash);
    return builder.finish().value();
  }();
  EXPECT_EQ(SlicedSizes::of(list.bytes()), std::nullopt) << "a list for few keys has no slices";
  EXPECT_EQ(SlicedSizes::of(build(few, std::exp2(-12.0)).container()), std::nullopt) << "nor has one without rows";
}

TEST(Sliced, Rule46_TakesOnlyTheNextSliceOfTheSameFilter) {
  const Hashes members = HashSet(1).members(5000);
  const FilterImage image = build(members, std::exp2(-12.0));
  FilterImage other = build(HashSet(2).members(5000), std::exp2(-12.0));
  for (std::uint64_t set = 3; slice_of(other, 1).size() != slice_of(image, 1).size(); ++set) {
    other = build(HashSet(set).members(5000), std::exp2(-12.0));
  }
  HeldSlices slices = hold(image, 1);
  const auto refuses = [&](Bytes slice, std::string_view what) {
    const Status added = slices.add(slice, "table 7");
    EXPECT_EQ(added.code(), StatusCode::kCorruption) << what;
    EXPECT_NE(added.message().find("table 7: at offset "), std::string::npos) << added.to_text();
    EXPECT_EQ(slices.held(), 1U) << what;
  };
  ASSERT_EQ(slice_of(image, 2).size(), slice_of(image, 1).size());
  refuses(slice_of(image, 2), "a later slice");
  refuses(slice_of(other, 1), "another filter's");
  refuses(slice_of(image, 1).first(slice_of(image, 1).size() - 1), "a cut one");
  refuses({}, "nothing");
  const std::vector<std::byte> good(slice_of(image, 1).begin(), slice_of(image, 1).end());
  for (std::size_t i = 0; i < good.size(); i += i < good.size() - 20 ? 97 : 1) {
    std::vector<std::byte> bad = good;
    bad[i] ^= std::byte{1} << (i % 8);
    refuses(bad, "a damaged one");
  }
  EXPECT_TRUE(slices.add(good, "table 7").ok());
  EXPECT_TRUE(has_all(slices.probe(), members));
}

TEST(Sliced, Rule46_AFileMayEndWhereASliceDoes) {
  const HashSet source(7);
  const Hashes members = source.members(4500);
  const FilterImage image = build(members, 0.002);
  const SlicedShape shape = shape_of(image);
  ASSERT_EQ(shape.slices(), 3U);
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i <= shape.slices(); ++i) ends.push_back(kFilterHeaderBytes + shape.slice_begin(i));
  std::size_t opened_at = 0;
  for (std::size_t length = 0; length <= image.container().size(); ++length) {
    const Result<Filter> filter = Filter::from_bytes(image.container().first(length), "cut.tamis");
    ASSERT_EQ(filter.ok(), std::count(ends.begin(), ends.end(), length) == 1) << "cut to " << length;
    if (!filter.ok()) {
      EXPECT_EQ(filter.status().code(), StatusCode::kCorruption);
      continue;
    }
    const HeldSlices slices = hold(image, ++opened_at);
    EXPECT_EQ(filter->info().estimated_rate, slices.rate_with(opened_at));
    EXPECT_EQ(filter->bytes().size(), length);
    EXPECT_TRUE(has_all(filter->probe(), members));
  }
  EXPECT_EQ(opened_at, ends.size());
}

TEST(Sliced, Rule46_AListIsOneSlice) {
  const FilterImage image = build(HashSet(1).members(40), std::exp2(-16.0));
  EXPECT_EQ(shape_of(image).ribbon.rows(), 0U);
  EXPECT_EQ(shape_of(image).slices(), 1U);
  EXPECT_LE(hold(image, 1).rate_with(1), std::exp2(-16.0));
  EXPECT_TRUE(has_all(hold(image, 1).probe(), HashSet(1).members(40)));
}

/// Random bytes of this shape, the list in order. Each layer sends more than a third of its keys on.
struct RandomSlices {
  RandomSlices(SlicedShape shape, std::mt19937_64& random) {
    put_ribbon_shape(header, shape.ribbon);
    header.hashes = shape.whole_columns();
    header.all_slices_bytes = shape.slice_begin(shape.slices());
    header.first_slice_bytes = shape.slice_bytes(0);
    for (std::size_t i = 0; i < shape.slices(); ++i) {
      std::vector<std::byte>& slice = slices.emplace_back(shape.slice_bytes(i));
      for (std::byte& byte : slice) byte = static_cast<std::byte>(random());
      if (i > 0) write_slice_checksum(slice, checksum64(slices[0]), i);
      if (i > 0) continue;
      const MutableBytes list = MutableBytes(slice).last(shape.ribbon.list_bytes());
      std::fill(list.begin(), list.end(), std::byte{0});
      for (std::uint64_t entry = 0; entry < shape.ribbon.list_entries; ++entry) {
        write_ribbon_list_entry(list, entry, shape.ribbon.list_bits, 13 * entry + 2);
      }
    }
  }

  [[nodiscard]] Result<HeldSlices> hold_first() const { return HeldSlices::open(header, slices[0], "random"); }

  FilterHeader header;
  std::vector<std::vector<std::byte>> slices;  // On the heap, so that the address sanitizer guards them.
};

TEST(Sliced, Rule46_NoSliceLowersTheRateOfTheList) {
  constexpr std::uint64_t kProbes = 400'000;
  const SlicedShape shape = {.ribbon = {.columns = 11, .starts = {5000, 1000, 700}, .list_entries = 9, .list_bits = 7},
                             .partial_blocks = 50};
  std::mt19937_64 random(5);
  const RandomSlices made(shape, random);
  HeldSlices slices = made.hold_first().value();
  const std::byte* marks = made.slices[0].data() + shape.block_bytes(0);
  const double floor = ribbon_reach(shape.ribbon, marks) * 9 / 128;
  ASSERT_GT(floor, 0.001);
  for (;;) {
    const double expected = kProbes * slices.rate_with(slices.held());
    EXPECT_GT(expected, kProbes * floor);
    EXPECT_NEAR(static_cast<double>(count_maybe(slices.probe(), HashSet(10).strangers(kProbes))), expected,
                4 * std::sqrt(expected));
    if (slices.held() == slices.all()) break;
    ASSERT_TRUE(slices.add(made.slices[slices.held()], "random").ok());
  }
  EXPECT_EQ(slices.all(), 4U);
  EXPECT_LT(slices.rate_with(4), slices.rate_with(3));
  EXPECT_LT(slices.rate_with(3), 1.4 * floor);
}

TEST(Sliced, HasBytesThatDoNotDependOnTheOrderOfTheKeys) {
  for (const std::uint64_t keys : {50U, 700U, 30'000U}) {
    Hashes members = HashSet(keys).members(keys);
    const FilterImage image = build(members, 0.0013);
    std::shuffle(members.begin(), members.end(), std::mt19937_64(1));
    EXPECT_TRUE(as_text(image.container()) == as_text(build(members, 0.0013).container())) << keys << " keys";
  }
}

TEST(Sliced, TakesWhatTheTargetAllows) {
  const auto size = [](SizeTarget::Measure measure, double value, std::uint64_t keys = 1'000'000) {
    return kSlicedKind.size(keys, {measure, value}).value();
  };
  EXPECT_EQ(size(SizeTarget::Measure::kRate, 1.0 / 256).hashes, 8U);
  EXPECT_EQ(size(SizeTarget::Measure::kRate, 1.0 / 256).rate, 1.0 / 256);
  EXPECT_EQ(size(SizeTarget::Measure::kRate, 0.003).hashes, 8U);
  EXPECT_NEAR(size(SizeTarget::Measure::kRate, 0.003).rate, 0.003, 1e-12);
  EXPECT_EQ(size(SizeTarget::Measure::kRate, 0.003, 4000).hashes, 9U);  // Whole columns.
  EXPECT_EQ(size(SizeTarget::Measure::kRate, 0.00196).hashes, 9U);      // Nearly the ninth.
  double before = 1;
  for (double bits = 1.2; bits < 20; bits += 0.1) {
    const FilterSize now = size(SizeTarget::Measure::kBitsPerKey, bits);
    EXPECT_LE(now.bits_per_key(), bits);
    EXPECT_LT(now.rate, before) << bits;
    EXPECT_LE(std::log2(now.rate), -bits + 0.27) << bits;
    before = now.rate;
  }
  EXPECT_EQ(size(SizeTarget::Measure::kBitsPerKey, 1024).hashes, kMostSlicedColumns);
  EXPECT_EQ(kSlicedKind.size(1000, {SizeTarget::Measure::kRate, 1e-10}).status().code(), StatusCode::kNotSupported);
  EXPECT_FALSE(kSlicedKind.size(1000, {SizeTarget::Measure::kBitsPerKey, 0.5}).ok());
}

TEST(Sliced, RefusesMoreColumnsThanAProbeHasRoomFor) {
  std::mt19937_64 random(8);
  for (std::uint32_t columns = kMostSlicedColumns - 3; columns <= kRibbonMostColumns; ++columns) {
    for (const std::uint64_t partial_blocks : {0U, 5U}) {
      const SlicedShape shape = {.ribbon = {.columns = columns + (partial_blocks == 0 ? 0 : 1), .starts = {500, 0, 0}},
                                 .partial_blocks = partial_blocks};
      const RandomSlices made(shape, random);
      const Result<HeldSlices> held = made.hold_first();
      EXPECT_EQ(held.ok(), columns <= kMostSlicedColumns) << columns << " columns";
      if (!held.ok()) {
        EXPECT_EQ(held.status().code(), StatusCode::kCorruption);
      }
    }
  }
}

/// With checksums that fit, only the checks of the shape protect the probe.
TEST(Sliced, StaysInsideTheSlicesWhateverIsInThem) {
  const std::uint64_t starts[][3] = {{0, 0, 0},    {1, 0, 0},   {0, 1, 0},   {0, 0, 64},
                                     {64, 64, 64}, {128, 0, 1}, {500, 70, 3}};
  std::mt19937_64 random(7);
  for (const auto& layers : starts) {
    for (const std::uint32_t columns : {1U, 3U, 4U, 6U, 28U}) {
      for (const std::uint64_t entries : {0U, 9U}) {
        for (const bool is_partial : {false, true}) {
          SlicedShape shape = {.ribbon = {.columns = columns,
                                          .starts = {layers[0], layers[1], layers[2]},
                                          .list_entries = entries,
                                          .list_bits = 7}};
          if (is_partial && shape.ribbon.full_blocks() > 0) {
            shape.partial_blocks = shape.ribbon.full_blocks();
            ++shape.ribbon.columns;
          }
          const RandomSlices made(shape, random);
          Result<HeldSlices> held = made.hold_first();
          ASSERT_TRUE(held.ok()) << held.status().to_text();
          ASSERT_EQ(held->all(), made.slices.size());
          const Hashes asked = HashSet(random() % 1000).strangers(200);
          (void)answers_of(held->probe(), asked);
          while (held->held() < held->all()) {
            ASSERT_TRUE(held->add(made.slices[held->held()], "random").ok());
            (void)answers_of(held->probe(), asked);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tamis
