#include "tree/version.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/epoch.h"
#include "entry/capped_iterator.h"
#include "entry/merging_iterator.h"
#include "support/tree_world.h"

namespace tamis {
namespace {

using test::answer_of;
using test::ask;
using test::owned;
using test::OwnedAnswer;
using test::staged_lookup;
using test::TableEntries;
using test::TableWorld;
using test::TreeWorld;

/// Looks up as a get does: in memory first, then on disk if necessary.
std::optional<OwnedAnswer> ask_as_get(const Version& version, std::string_view key, Sequence at, bool fills_cache,
                                      RecordedSteps& steps) {
  StagedLookup staged = staged_lookup(key, at);
  {
    const EpochGuard guard;
    version.peek(staged, steps);
    if (staged.answer != LookupAnswer::kUnknown) return answer_of(staged);
  }
  DiskLookup disk(staged);
  version.find({&disk, 1}, fills_cache, steps);
  EXPECT_TRUE(disk.status.ok()) << disk.status.to_text();
  return answer_of(staged);
}

TEST(Version, FindsWhatTheNewestRunHas) {
  for (const std::size_t runs : {1U, 2U, 7U, 40U, 150U}) {
    SCOPED_TRACE(fmt::format("{} runs", runs));
    TreeWorld tree(runs, runs, 20);
    const Version version(tree.shape(), nullptr, tree.world.context);
    ASSERT_EQ(version.tables().size(), version.shape().tables());
    for (int i = 0; i < 1500; ++i) {
      const std::string key = tree.some_key() + (i % 10 == 0 ? "x" : "");
      const Sequence at = i % 3 == 0 ? kMaxSequence : Sequence{tree.random() % (1000 * runs + 1100)};
      RecordedSteps steps;
      const std::optional<OwnedAnswer> wanted = owned(tree.everything.find(key, at));
      ASSERT_EQ(ask(version, key, at), wanted) << "key " << i;
      ASSERT_EQ(ask(version, key, at, steps), wanted) << "key " << i;
      if (wanted) {
        ASSERT_FALSE(steps.steps.empty());
        ASSERT_EQ(steps.steps.back().outcome,
                  wanted->kind == EntryKind::kPut ? TableOutcome::kFound : TableOutcome::kDeleted);
      } else {
        ASSERT_EQ(steps.steps.size(), version.shape().runs()) << "of every run it is told what happened";
      }
    }
  }
}

/// One step is recorded per run visited, whatever is in memory.
TEST(Version, ALookupThatIsPartlyInMemoryTellsOfEachRunOnce) {
  for (const std::size_t runs : {1U, 3U, 12U}) {
    SCOPED_TRACE(fmt::format("{} runs", runs));
    TreeWorld tree(runs, runs, 60);
    const Version version(tree.shape(), nullptr, tree.world.context);
    std::size_t in_memory = 0;
    std::size_t on_disk = 0;
    for (int i = 0; i < 3000; ++i) {
      const std::string key = tree.some_key() + (i % 4 == 0 ? "x" : "");
      RecordedSteps steps;
      RecordedSteps from_disk;
      const std::optional<OwnedAnswer> answer = ask_as_get(version, key, kMaxSequence, i % 5 == 0, steps);
      ASSERT_EQ(answer, owned(tree.everything.find(key, kMaxSequence))) << "key " << i;
      ASSERT_EQ(ask(version, key, kMaxSequence, from_disk), answer);
      ASSERT_EQ(steps.steps.size(), from_disk.steps.size());
      std::uint32_t reads = 0;
      for (std::size_t step = 0; step < steps.steps.size(); ++step) {
        ASSERT_EQ(steps.steps[step].table, from_disk.steps[step].table);
        ASSERT_EQ(steps.steps[step].verdict, from_disk.steps[step].verdict);
        ASSERT_EQ(steps.steps[step].outcome, from_disk.steps[step].outcome);
        reads += steps.steps[step].blocks_read + steps.steps[step].metadata_reads;
      }
      (reads == 0 ? in_memory : on_disk) += 1;
      if (i % 50 == 0) tree.world.cache->set_capacity(0);
      if (i % 50 == 10) tree.world.cache->set_capacity(std::size_t{8} << 20);
    }
    EXPECT_GT(in_memory, 100U);
    EXPECT_GT(on_disk, 100U);
  }
}

/// Groups of present keys, after which keys are expected, and groups with many absent keys.
TEST(Version, PeeksAtManyKeysAsItFindsThem) {
  constexpr std::size_t kGroup = 8;
  for (const std::size_t runs : {1U, 2U, 7U, 40U}) {
    SCOPED_TRACE(fmt::format("{} runs", runs));
    TreeWorld tree(runs, runs, 40);
    const Version version(tree.shape(), nullptr, tree.world.context);
    std::size_t known = 0;
    std::size_t expected = 0;
    for (std::size_t group = 0; group < 400; ++group) {
      std::vector<std::string> keys;
      std::vector<std::optional<OwnedAnswer>> wanted;
      while (keys.size() < kGroup) {
        std::string key = tree.some_key() + (group % 2 == 1 && tree.random() % 2 == 0 ? "x" : "");
        const std::optional<OwnedAnswer> answer = ask(version, key, kMaxSequence);  // Loads what it needs.
        if (group % 2 == 0 && !answer) continue;
        keys.push_back(std::move(key));
        wanted.push_back(answer);
      }
      std::vector<StagedLookup> peeks(kGroup);
      for (std::size_t i = 0; i < kGroup; ++i) peeks[i] = staged_lookup(keys[i], kMaxSequence);
      const EpochGuard guard;
      version.peek_many(peeks);
      for (std::size_t i = 0; i < kGroup; ++i) {
        expected += peeks[i].is_expected ? 1 : 0;
        if (peeks[i].answer == LookupAnswer::kUnknown) continue;
        ++known;
        ASSERT_EQ(answer_of(peeks[i]), wanted[i]) << "key " << i << " of group " << group;
      }
    }
    EXPECT_GT(known, 3000U);
    EXPECT_GT(expected, 300U);
  }
}

/// Probes at most one table per run, newest run first, and none whose bounds exclude the key.
TEST(Version, AsksOneTableOfEachRunNewestFirst) {
  TreeWorld tree(3, 12, 40);
  const Version version(tree.shape(), nullptr, tree.world.context);
  for (int i = 0; i < 500; ++i) {
    const std::string key = tree.some_key() + "x";
    RecordedSteps steps;
    ask(version, key, kMaxSequence, steps);
    std::vector<const Table*> wanted;
    for (const auto& table : version.tables()) {
      if (table->facts().overlaps(key, KeyEnd::with(key))) wanted.push_back(table.get());
    }
    std::vector<const Table*> asked;
    for (const TableStep& step : steps.steps) {
      if (step.outcome != TableOutcome::kOutside) asked.push_back(step.table);
    }
    ASSERT_EQ(asked, wanted);
    ASSERT_EQ(steps.steps.size(), 12U) << "the other runs are told of, too";
  }
}

TEST(Version, ADamagedTableIsAnErrorAndNotAMiss) {
  TreeWorld tree(5, 3, 30);
  const Version version(tree.shape(), nullptr, tree.world.context);
  const TableFacts& facts = version.tables().front()->facts();
  tree.world.overwrite(0, std::string(facts.file_bytes, 'x'), facts.number);
  NoSteps none;
  const std::string key = facts.smallest_key;
  StagedLookup staged = staged_lookup(key, kMaxSequence);
  DiskLookup disk(staged);
  version.find({&disk, 1}, true, none);
  EXPECT_EQ(disk.status.code(), StatusCode::kCorruption);
  EXPECT_EQ(staged.answer, LookupAnswer::kUnknown);
}

std::vector<std::unique_ptr<EntryIterator>> runs_of(const Version& version, const KeyRange& range,
                                                    std::string_view prefix, bool fills_cache) {
  std::vector<std::unique_ptr<EntryIterator>> runs;
  version.iterate(range, prefix, fills_cache, {}, runs);
  return runs;
}

TEST(Version, AnEmptyOneHoldsNothing) {
  TableWorld world;
  const Version version({}, nullptr, world.context);
  EXPECT_EQ(ask(version, "", kMaxSequence), std::nullopt);
  EXPECT_TRUE(runs_of(version, {}, "", true).empty());
  EXPECT_TRUE(version.tables().empty());
  EXPECT_EQ(*version.approximate_bytes("", std::nullopt), 0U);
  EXPECT_EQ(version.table(1), nullptr);
}

/// Of entries. A table that is not open yet shows kMaxSequence.
constexpr Sequence kNewest{(std::uint64_t{1} << 40)};

/// Expects the entries of the range, in both directions.
void expect_walk(std::vector<std::unique_ptr<EntryIterator>> runs, const TableEntries& everything,
                 const KeyRange& range) {
  std::vector<Entry> wanted;
  for (const Entry& entry : everything.entries) {
    if (range.contains(entry.key)) wanted.push_back(entry);
  }
  const auto merged = std::make_unique<CappedIterator>(make_merging_iterator(std::move(runs)), kNewest);
  std::size_t at = 0;
  for (merged->seek({range.from, kMaxSequence}); merged->valid() && range.contains(merged->entry().key);
       merged->next()) {
    ASSERT_LT(at, wanted.size());
    ASSERT_EQ(merged->entry(), wanted[at++]);
  }
  ASSERT_TRUE(merged->status().ok()) << merged->status().to_text();
  ASSERT_EQ(at, wanted.size());
  if (wanted.empty()) return;
  for (merged->seek_backwards({wanted.back().key, Sequence{0}}); merged->valid() && at > 0; merged->previous()) {
    ASSERT_EQ(merged->entry(), wanted[--at]);
  }
  ASSERT_EQ(at, 0U);
}

TEST(Version, IteratesOverEveryEntryOfARange) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    TreeWorld tree(
        seed, 9, 50,
        {.has_prefix_filters = seed % 2 == 0, .has_range_filters = seed % 3 != 0, .has_runs_in_key_order = seed > 4});
    const Version version(tree.shape(), nullptr, tree.world.context);
    expect_walk(runs_of(version, {}, "", true), tree.everything, {});
    for (int i = 0; i < 60; ++i) {
      KeyRange range{tree.some_key(), {}};
      if (i % 4 != 0) range.to = tree.some_key();
      expect_walk(runs_of(version, range, "", i % 2 == 0), tree.everything, range);
      const std::string prefix = tree.some_key().substr(0, 1 + tree.random() % 5);
      const KeyRange of_prefix = KeyRange::of_prefix(prefix);
      expect_walk(runs_of(version, of_prefix, prefix, true), tree.everything, of_prefix);
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", range " << i;
    }
  }
}

TEST(Version, RunsThatCannotHoldTheRangeAreLeftOut) {
  TreeWorld tree(2, 6, 40);
  const Version version(tree.shape(), nullptr, tree.world.context);
  EXPECT_EQ(runs_of(version, {}, "", true).size(), 6U);
  EXPECT_TRUE(runs_of(version, KeyRange{"zzz", {}}, "", true).empty());
  EXPECT_TRUE(runs_of(version, KeyRange{"k9", "k0"}, "", true).empty()) << "no key is in this range";
  std::size_t left_out = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string key = tree.some_key();
    const KeyRange one_key{key, key + std::string(1, '\0')};
    std::set<std::pair<std::uint32_t, std::uint64_t>> wanted;
    for (const ShapeEdit::Added& table : tree.edit.added) {
      if (table.facts->overlaps(key, KeyEnd::with(key))) wanted.insert({table.level, table.run});
    }
    ASSERT_EQ(runs_of(version, one_key, "", true).size(), wanted.size()) << i;
    left_out += 6 - wanted.size();
  }
  EXPECT_GT(left_out, 20U);
}

TEST(Version, RunsThatContinueEachOtherAreOneToAScan) {
  TreeWorld tree(3, 7, 40, {.has_runs_in_key_order = true});
  const Version version(tree.shape(), nullptr, tree.world.context);
  EXPECT_EQ(version.shape().runs(), 7U);
  EXPECT_EQ(runs_of(version, {}, "", true).size(), 1U);
  const std::string last = *tree.held.front().rbegin();
  tree.everything.add(last, 900'000, "newest");
  tree.everything.sort();
  TableEntries part;
  part.add(last, 900'000, "newest");
  tree.finish(0, 8, part);
  const Version with_one_more(tree.shape(), nullptr, tree.world.context);
  EXPECT_EQ(runs_of(with_one_more, {}, "", true).size(), 2U) << "two runs have the same key";
  expect_walk(runs_of(with_one_more, {}, "", true), tree.everything, {});
}

TEST(Version, CountsTheRunsThatScansMergeUntilAFlush) {
  TreeWorld tree(2, 6, 40);
  const Version first(tree.shape(), nullptr, tree.world.context);
  (void)runs_of(first, {}, "", true);
  EXPECT_EQ(first.extra_runs_scanned(), 5U) << "besides the first of six";
  (void)runs_of(first, KeyRange{"zzz", {}}, "", true);
  EXPECT_EQ(first.extra_runs_scanned(), 5U);
  (void)runs_of(first, {}, "", true);

  const Result<Shape> merged = tree.shape().with({{first.tables().back()->facts().number}, {}});
  ASSERT_TRUE(merged.ok());
  const Version second(*merged, &first, tree.world.context);
  EXPECT_EQ(second.extra_runs_scanned(), 10U) << "a merge keeps it";

  TableEntries more;
  more.add("m", 900'000, "flushed");
  tree.finish(0, 900, more);
  EXPECT_EQ(Version(tree.shape(), &second, tree.world.context).extra_runs_scanned(), 0U);

  TreeWorld one_run(2, 1, 40);
  const Version alone(one_run.shape(), nullptr, one_run.world.context);
  (void)runs_of(alone, {}, "", true);
  EXPECT_EQ(alone.extra_runs_scanned(), 0U);
}

TEST(Version, PrefixFiltersLeaveRunsOut) {
  TreeWorld tree(2, 8, 40, {.has_prefix_filters = true});
  const Version version(tree.shape(), nullptr, tree.world.context);
  std::size_t left_out = 0;
  for (int i = 0; i < 60; ++i) {
    const std::string prefix = fmt::format("k{:02}", i);
    const KeyRange range = KeyRange::of_prefix(prefix);
    left_out += runs_of(version, range, "", true).size() - runs_of(version, range, prefix, true).size();
  }
  EXPECT_GT(left_out, 20U);
}

TEST(Version, Rule18_RangeFiltersLeaveOutRunsWithoutAKeyInTheRangeAndNoOthers) {
  TreeWorld tree(3, 8, 40, {.customers = 40, .has_range_filters = true});
  const TreeWorld plain(3, 8, 40, {.customers = 40});
  const Version version(tree.shape(), nullptr, tree.world.context);
  const Version without(plain.shape(), nullptr, plain.world.context);
  std::size_t left_out = 0;
  for (int i = 0; i < 600; ++i) {
    const std::string from = tree.some_key() + (i % 2 == 0 ? "a" : "");
    const KeyRange range{from, i % 3 == 0 ? from + "zz" : tree.some_key()};
    if (range.ends_before(from)) continue;
    std::size_t with_keys = 0;
    for (const std::set<std::string>& keys : tree.held) {
      const auto first = keys.lower_bound(from);
      with_keys += first != keys.end() && range.contains(*first) ? 1 : 0;
    }
    const std::size_t asked = runs_of(version, range, "", true).size();
    ASSERT_GE(asked, with_keys) << i;
    left_out += runs_of(without, range, "", true).size() - asked;
  }
  EXPECT_GT(left_out, 100U);
}

TEST(Version, IteratesOverChosenTablesInAnyOrder) {
  TreeWorld tree(11, 4, 60);
  const Version version(tree.shape(), nullptr, tree.world.context);
  const tamis::Run* longest = nullptr;
  for (const auto& level : version.shape().levels) {
    for (const auto& run : level) {
      if (longest == nullptr || run.tables.size() > longest->tables.size()) longest = &run;
    }
  }
  ASSERT_GE(longest->tables.size(), 3U);
  std::vector<std::uint64_t> numbers;
  std::uint64_t entries = 0;
  for (std::size_t i = longest->tables.size() - 1; i > 0; --i) {
    numbers.push_back(longest->tables[i]->number);
    entries += longest->tables[i]->entries;
  }
  const auto it = version.iterate_tables(numbers);
  it->seek_to_first();
  ASSERT_TRUE(it->valid());
  EXPECT_EQ(it->entry().key, longest->tables[1]->smallest_key);
  std::string last;
  std::uint64_t walked = 0;
  for (; it->valid(); it->next(), ++walked) {
    EXPECT_LE(last, it->entry().key);
    last = it->entry().key;
  }
  EXPECT_TRUE(it->status().ok());
  EXPECT_EQ(walked, entries);
}

TEST(Version, AChangedVersionSharesTheTablesThatStay) {
  TreeWorld tree(4, 5, 20);
  const Version before(tree.shape(), nullptr, tree.world.context);
  const std::uint64_t gone = before.tables().front()->facts().number;
  const Result<Shape> next = tree.shape().with({{gone}, {}});
  ASSERT_TRUE(next.ok());
  const Version after(*next, &before, tree.world.context);
  EXPECT_EQ(after.table(gone), nullptr);
  EXPECT_EQ(after.tables().size() + 1, before.tables().size());
  for (const auto& table : after.tables()) EXPECT_EQ(table, before.table(table->facts().number));
}

TEST(Version, ApproximateBytesGrowWithTheRangeUpToAllFiles) {
  TreeWorld tree(6, 5, 60);
  const Version version(tree.shape(), nullptr, tree.world.context);
  EXPECT_EQ(*version.approximate_bytes("", std::nullopt), version.shape().bytes());
  EXPECT_EQ(*version.approximate_bytes("b", "a"), 0U);
  EXPECT_EQ(*version.approximate_bytes("zzz", std::nullopt), 0U);
  const std::uint64_t half = *version.approximate_bytes("customer45", std::nullopt);
  EXPECT_GT(half, 0U);
  EXPECT_LT(half, version.shape().bytes());
}

}  // namespace
}  // namespace tamis
