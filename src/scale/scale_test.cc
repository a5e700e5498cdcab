// Plans at the ends of their range. tests/counted/scale_test.cc checks that plans are right.
#include "tamis/scale.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scale/scale_sample.h"

namespace tamis {
namespace {

ScalePlan planned(const ScaleQuestion& question) {
  const Result<ScalePlan> plan = plan_scale(question);
  EXPECT_TRUE(plan.ok()) << plan.status().to_text();
  return plan.ok() ? *plan : ScalePlan{};
}

void expect_sound(const ScalePlan& plan, const ScaleQuestion& question) {
  EXPECT_EQ(plan.memory.memtable_share + plan.memory.journal_share + plan.memory.transaction_share +
                plan.memory.filter_share + plan.memory.index_share + plan.memory.block_share,
            question.options.memory_bytes);
  EXPECT_GE(plan.tables, plan.runs);
  EXPECT_GT(plan.bytes_on_disk, plan.entries * (question.key_bytes / 2 + question.value_bytes));
  EXPECT_LE(plan.reads.wasted, static_cast<double>(plan.runs));
  EXPECT_GE(plan.writing.amplification, 2);  // The journal and a flush.
  for (const double figure : {plan.reads.per_absent, plan.reads.per_present, plan.writing.compaction_hours_per_day,
                              plan.writing.flush_hours_per_day, plan.writing.fill_hours,
                              plan.opening.after_close_seconds, plan.opening.warm_seconds}) {
    EXPECT_TRUE(std::isfinite(figure));
    EXPECT_GE(figure, 0);
  }
}

TEST(Scale, TakesEntriesOfAnySize) {
  struct Size {
    std::uint64_t key;
    std::uint64_t value;
  };
  for (const Size& size :
       {Size{8, 0}, Size{5, 1}, Size{16, 100}, Size{65'535, 0}, Size{65'536, 0}, Size{16, 1 << 20}}) {
    ScaleQuestion question{.store_bytes = 100'000'000, .key_bytes = size.key, .value_bytes = size.value};
    question.options.memtable_bytes = std::uint64_t{4} << 20;
    SCOPED_TRACE(size.key + size.value);
    const ScalePlan plan = planned(question);
    EXPECT_EQ(plan.entries, question.store_bytes / (size.key + size.value));
    expect_sound(plan, question);
  }
}

TEST(Scale, TakesStoresSmallerThanAMemtable) {
  for (const std::uint64_t bytes : {1U, 116U, 232U, 100'000U}) {
    const ScaleQuestion question{.store_bytes = bytes};
    const ScalePlan plan = planned(question);
    EXPECT_EQ(plan.runs, 1U);
    EXPECT_EQ(plan.tables, 1U);
    EXPECT_EQ(plan.writing.compaction_hours_per_day, 0);
    EXPECT_GT(plan.writing.max_load_bytes_per_day, 0U) << "what one thread flushes";
    EXPECT_TRUE(plan.warnings.empty());
  }
}

TEST(Scale, MoreMemoryReadsNoMore) {
  double before = 100;
  for (std::uint64_t memory = std::uint64_t{64} << 20; memory <= std::uint64_t{64} << 30; memory *= 4) {
    ScaleQuestion question{.store_bytes = 10'000'000'000};
    question.options.memory_bytes = memory;
    question.options.memtable_bytes = std::uint64_t{16} << 20;
    const ScalePlan plan = planned(question);
    expect_sound(plan, question);
    EXPECT_LE(plan.reads.per_absent + plan.reads.per_present, before);
    before = plan.reads.per_absent + plan.reads.per_present;
  }
  EXPECT_EQ(before, 0);  // Everything is in memory.
}

TEST(Scale, SaysWhenCompactionCannotKeepUp) {
  ScaleQuestion question{.store_bytes = 1'000'000'000};
  const ScalePlan idle = planned(question);
  EXPECT_TRUE(idle.warnings.empty());
  question.load_bytes_per_day = idle.writing.max_load_bytes_per_day * 2;
  const ScalePlan busy = planned(question);
  EXPECT_NEAR(busy.writing.compaction_hours_per_day, 48, 0.1);
  ASSERT_FALSE(busy.warnings.empty());
  EXPECT_NE(busy.warnings.front().find("cannot keep up"), std::string::npos) << busy.warnings.front();
}

TEST(Scale, ThreadsAreNoFasterThanTheDisks) {
  ScaleQuestion question{.store_bytes = 1'000'000'000, .disk_bytes_per_second = 10'000'000'000};
  const double alone = planned(question).writing.compaction_hours_per_day;
  question.compaction_threads = 2;
  EXPECT_NEAR(planned(question).writing.compaction_hours_per_day, alone / 2, alone / 1000);
  question.compaction_threads = 1000;
  const double with_one_disk = planned(question).writing.compaction_hours_per_day;
  EXPECT_GT(with_one_disk, alone / 500);
  question.disks = 4;
  const ScalePlan plan = planned(question);
  EXPECT_NEAR(plan.writing.compaction_hours_per_day, with_one_disk / 4, with_one_disk / 1000);
  question.load_bytes_per_day = plan.writing.max_load_bytes_per_day;
  const ScalePlan full = planned(question);
  EXPECT_NEAR(std::max(full.writing.compaction_hours_per_day, full.writing.flush_hours_per_day), 24, 0.1);
}

TEST(Scale, RefusesWhatMakesNoSense) {
  const ScaleQuestion questions[] = {{},
                                     {.store_bytes = 1000, .key_bytes = 0},
                                     {.store_bytes = 1000, .key_bytes = (16 << 20) + 1},
                                     {.store_bytes = 100'000'000, .key_bytes = 2},
                                     {.store_bytes = 1000, .value_bytes = 1 << 21},
                                     {.store_bytes = 1000, .disk_bytes_per_second = 0},
                                     {.store_bytes = 1000, .disks = 0},
                                     {.store_bytes = 1000, .compaction_threads = 0},
                                     {.store_bytes = 1000, .options = {.fanout = 1}}};
  for (const ScaleQuestion& question : questions) {
    EXPECT_EQ(plan_scale(question).status().code(), StatusCode::kInvalidArgument);
  }
}

TEST(ScaleSample, HasOneSmallIndexEntryPerBlockHoweverCloseKeysAre) {
  for (const std::uint64_t keys : {1'000'000ULL, 1'000'000'000ULL, 100'000'000'000ULL}) {
    const Result<TableSample> sample = sample_table({.keys = keys});
    ASSERT_TRUE(sample.ok()) << sample.status().to_text();
    EXPECT_NEAR(sample->index_bytes_per_block, 12.5, 0.2) << keys;  // Decision 0008.
    EXPECT_NEAR(1 / sample->blocks_per_entry, 33, 3) << keys;
    EXPECT_LT(sample->other_bytes, 600U);
    EXPECT_LT(sample->manifest_bytes, 300U);
  }
}

TEST(ScaleSample, SequencesTakeTheirBytes) {
  const Result<TableSample> without = sample_table({.keys = 1'000'000'000});
  const Result<TableSample> with = sample_table({.keys = 1'000'000'000, .has_sequences = true});
  ASSERT_TRUE(without.ok() && with.ok());
  EXPECT_NEAR(with->data_bytes_per_entry - without->data_bytes_per_entry, 4, 0.5);
}

TEST(ScaleSample, TakesASingleKey) {
  const Result<TableSample> sample = sample_table({.keys = 1});
  ASSERT_TRUE(sample.ok()) << sample.status().to_text();
  EXPECT_EQ(sample->blocks_per_entry, 1);
}

TEST(ScaleSample, AMemtableIsFilledToItsMemory) {
  const std::uint64_t small = entries_of_memtable({}, std::uint64_t{32} << 20);
  EXPECT_EQ(entries_of_memtable({}, std::uint64_t{320} << 20), 10 * small);
  EXPECT_GT(small, (std::uint64_t{32} << 20) / (2 * 116));
  EXPECT_LT(small, (std::uint64_t{32} << 20) / 116);
}

}  // namespace
}  // namespace tamis
