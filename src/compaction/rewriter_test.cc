#include "compaction/rewriter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "entry/merging_iterator.h"
#include "io/file_names.h"
#include "support/entry_sets.h"
#include "support/rewrite_world.h"
#include "table/table_sections.h"

namespace tamis::test {
namespace {

Entry put(std::string_view key, std::uint64_t sequence, std::string_view value = "v") {
  return {key, value, Sequence{sequence}, EntryKind::kPut};
}
Entry deleted(std::string_view key, std::uint64_t sequence) {
  return {key, {}, Sequence{sequence}, EntryKind::kDelete};
}

/// A put of each of these keys, in order.
struct ManyEntries {
  explicit ManyEntries(int count, std::string_view value = "v") {
    for (int i = 0; i < count; ++i) keys.push_back(fmt::format("key{:06}", i));
    for (const std::string& key : keys) entries.push_back(put(key, 1, value));
  }
  std::vector<std::string> keys;
  std::vector<Entry> entries;
};

void expect_written(std::vector<Entry> entries, RewriteWorld& world) {
  std::ranges::sort(entries, {}, &Entry::position);
  const RewriteResult result = world.write(entries);
  const std::vector<OwnedEntry> expected = expected_entries(entries, world.spec.snapshots, world.spec.older_runs);
  EXPECT_EQ(world.read(result), expected);
  EXPECT_EQ(result.entries_read, entries.size());
  EXPECT_EQ(result.entries_dropped, entries.size() - expected.size());
}

TEST(Rewrite, WritesNothingWhenThereIsNothingOrEverythingIsDropped) {
  for (const std::vector<Entry>& entries : {std::vector<Entry>(), {deleted("a", 5), put("a", 3), deleted("b", 4)}}) {
    RewriteWorld world;
    const RewriteResult result = world.write(entries);
    EXPECT_TRUE(result.tables.empty());
    EXPECT_EQ(result.entries_dropped, entries.size());
    EXPECT_EQ(result.bytes_written, 0U);
    EXPECT_TRUE(world.files().empty());
  }
}

TEST(Rewrite, EndsTablesBeforeTheKeysOfItsCuts) {
  const ManyEntries many(100);
  RewriteWorld world;
  // Before all keys; at one; two between neighbours; behind all.
  world.spec.cuts.keys = {"a", "key000010", "key000019a", "key000019b", "z"};
  const RewriteResult result = world.write(many.entries);
  ASSERT_EQ(result.tables.size(), 3U);
  EXPECT_EQ(result.tables[0]->largest_key, "key000009");
  EXPECT_EQ(result.tables[1]->smallest_key, "key000010");
  EXPECT_EQ(result.tables[1]->largest_key, "key000019");
  EXPECT_EQ(result.tables[2]->smallest_key, "key000020");
  EXPECT_EQ(world.read(result).size(), 100U);
}

TEST(Rewrite, LeavesWhatAnyReaderCanSee) {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const EntrySets sets(seed, {.runs = 4, .entries = 60, .keys = 25, .sequences = 40, .unique = seed % 2 == 0});
    SplitMix64 random(seed);
    RewriteWorld world;
    world.spec.table_bytes = 200 + random.below(3000);
    world.spec.block_bytes = 512;
    world.spec.snapshots.clear();
    for (std::uint64_t i = 1 + random.below(4); i > 0; --i) world.spec.snapshots.push_back(Sequence{random.below(45)});
    std::ranges::sort(world.spec.snapshots);
    std::vector<tamis::Run> older(random.below(3));
    for (tamis::Run& run : older) {
      const std::size_t middle = 1 + random.below(sets.keys.size() - 1);
      if (sets.keys[0] < sets.keys[middle]) run.tables = {facts_of(1, sets.keys[0], sets.keys[middle])};
    }
    for (const tamis::Run& run : older) world.spec.older_runs.push_back(&run);

    // Of equal positions, the newer run's wins.
    std::vector<Entry> merged = sets.merged();
    std::vector<Entry> unique = merged;
    const auto same = [](const Entry& a, const Entry& b) { return a.position() == b.position(); };
    unique.erase(std::unique(unique.begin(), unique.end(), same), unique.end());
    const auto source = make_merging_iterator(sets.iterators());
    const Result<RewriteResult> result = rewrite(*source, world.spec);
    ASSERT_TRUE(result.ok()) << result.status().to_text();
    const auto expected = expected_entries(unique, world.spec.snapshots, world.spec.older_runs);
    ASSERT_EQ(world.read(*result), expected);
    EXPECT_EQ(result->entries_read, merged.size());
    EXPECT_EQ(result->entries_read - result->entries_dropped, expected.size());
    for (std::size_t i = 1; i < result->tables.size(); ++i) {
      ASSERT_LT(result->tables[i - 1]->largest_key, result->tables[i]->smallest_key);
    }
    EXPECT_EQ(world.files().size(), result->tables.size());
  }
}

TEST(Rewrite, Rule47_InPartsWritesTheSame) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const EntrySets sets(seed, {.runs = 3, .entries = 60, .keys = 25, .sequences = 40, .unique = true});
    SplitMix64 random(seed);
    RewriteWorld world;
    world.spec.table_bytes = 200 + random.below(2000);
    world.spec.block_bytes = 512;
    world.spec.snapshots = {Sequence{random.below(20)}, Sequence{20 + random.below(20)}};
    world.spec.replaced.inputs = {facts_of(901, "", "0"), facts_of(902, "0", "~")};
    world.spec.replaced.rewrite = 77;
    std::vector<std::string> cuts;
    for (std::uint64_t i = random.below(4); i > 0; --i) cuts.push_back(sets.keys[random.below(sets.keys.size())]);
    std::ranges::sort(cuts);
    RewriteResult all;
    for (std::size_t i = 0; i <= cuts.size(); ++i) {
      world.spec.part = {.from = i == 0 ? "" : cuts[i - 1],
                         .to = i == cuts.size() ? std::nullopt : std::optional(cuts[i])};
      const RewriteResult part = world.write(sets.merged());
      for (const auto& table : part.tables) {
        const auto file = *world.world.files.open_readable(table_path("/store", table->number));
        const TableProperties properties = *read_properties(*file, "t");
        EXPECT_EQ(properties.rewrite, 77U);
        if (table == part.tables.front()) {
          EXPECT_EQ(properties.replaces, (std::vector<std::uint64_t>{901, 902}));
        }
      }
      all.add(part);
    }
    EXPECT_EQ(world.read(all), expected_entries(sets.merged(), world.spec.snapshots, world.spec.older_runs));
    EXPECT_EQ(all.entries_read, sets.merged().size());
  }
}

TEST(Rewrite, PartsShareARangeDelete) {
  const tamis::Run older = {.id = 1, .tables = {facts_of(1, "a", "z")}};
  RewriteWorld world;
  world.spec.older_runs = {&older};
  world.spec.range_deletes = {{{.from = "b", .to = "y"}, Sequence{5}}};
  world.spec.replaced.rewrite = 77;
  const auto bounds_of = [&](KeyRange part) {
    world.spec.part = std::move(part);
    const RewriteResult result = world.write({put("c", 9), put("n", 9)});
    EXPECT_EQ(result.tables.size(), 1U);
    const KeyEnd end = result.tables.front()->end();
    EXPECT_EQ(end.kind, KeyEnd::Kind::kBefore);
    return std::pair(std::string(result.tables.front()->begin()), std::string(end.key));
  };
  EXPECT_EQ(bounds_of({"", "m"}), std::pair(std::string("b"), std::string("m")));
  EXPECT_EQ(bounds_of({"m", "p"}), std::pair(std::string("m"), std::string("p")));
  EXPECT_EQ(bounds_of({"p", std::nullopt}), std::pair(std::string("p"), std::string("y")));
}

TEST(Rule17, ADeleteStaysWhileAnOlderRunMayHoldItsKey) {
  const tamis::Run older = {.id = 1, .tables = {facts_of(1, "b", "d"), facts_of(2, "m", "p")}};
  RewriteWorld world;
  world.spec.older_runs = {&older};
  const std::vector<Entry> entries = {deleted("a", 1), deleted("b", 2), deleted("c", 3), deleted("d", 4),
                                      deleted("e", 5), deleted("m", 6), deleted("z", 7)};
  const RewriteResult result = world.write(entries);
  std::string kept;
  for (const OwnedEntry& entry : world.read(result)) kept += entry.key;
  EXPECT_EQ(kept, "bcdm");
}

TEST(Rule17, ADeleteAboveTheOldestSnapshotStays) {
  RewriteWorld world;
  world.spec.snapshots = {Sequence{10}, Sequence{20}};
  expect_written({deleted("a", 11), put("a", 10)}, world);
  expect_written({deleted("b", 10), put("b", 9)}, world);
}

TEST(Rewrite, GivesSequenceZeroOnlyWhereNothingIsOlder) {
  RewriteWorld world;
  world.spec.snapshots = {Sequence{10}, Sequence{20}};
  const std::vector<Entry> entries = {put("a", 30), put("a", 15), put("a", 10), put("a", 9), deleted("b", 15)};
  const auto sequences = [&] {
    std::vector<std::uint64_t> numbers;
    for (const OwnedEntry& entry : world.read(world.write(entries))) numbers.push_back(number_of(entry.sequence));
    return numbers;
  };
  EXPECT_EQ(sequences(), (std::vector<std::uint64_t>{30, 15, 0, 15}));
  const tamis::Run older = {.id = 1, .tables = {facts_of(1, "x", "y")}};
  world.spec.older_runs = {&older};
  EXPECT_EQ(sequences(), (std::vector<std::uint64_t>{30, 15, 10, 15}));
}

TEST(Rewrite, KeepsAllVersionsOfAKeyInOneTable) {
  RewriteWorld world;
  world.spec.table_bytes = 1000;
  world.spec.snapshots.clear();
  std::vector<Entry> entries = {put("a", 7), put("z", 8)};
  for (std::uint64_t version = 1; version <= 3000; ++version) {
    entries.push_back(put("middle", version));
    world.spec.snapshots.push_back(Sequence{version});
  }
  const RewriteResult result = world.write(entries);
  EXPECT_EQ(world.read(result).size(), 3002U);
  EXPECT_LE(result.tables.size(), 3U);
  EXPECT_GE(result.tables.size(), 2U);
}

TEST(Rewrite, CutsTablesAtTheirSize) {
  RewriteWorld world;
  world.spec.table_bytes = 20'000;
  const RewriteResult result = world.write(ManyEntries(2000, std::string(100, 'v')).entries);
  EXPECT_EQ(world.read(result).size(), 2000U);
  EXPECT_GE(result.tables.size(), 9U);
  EXPECT_LE(result.tables.size(), 14U);
  std::uint64_t bytes = 0;
  for (const auto& table : result.tables) {
    EXPECT_LE(table->file_bytes, 26'000U);  // Plus a block and the filter.
    bytes += table->file_bytes;
  }
  EXPECT_EQ(result.bytes_written, bytes);
}

/// 0029: n tables that are rewritten into n others do not write n² numbers.
TEST(Rewrite, EachTableListsTheInputsThatOverlapIt) {
  RewriteWorld world;
  world.spec.table_bytes = 4000;
  world.spec.replaced.others = {901};
  world.spec.keyspace = {.id = KeyspaceId{7}, .name = "users"};
  world.numbers = 1000;
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) keys.push_back(fmt::format("key {:06}", 2 * i));
  std::vector<Entry> entries;
  for (const std::string& key : keys) entries.push_back({key, "a value of some length", Sequence{5}, EntryKind::kPut});
  for (std::uint64_t i = 0; i < 20; ++i) {  // Of odd keys nothing is left.
    world.spec.replaced.inputs.push_back(
        facts_of(i + 1, fmt::format("key {:06}", 100 * i), fmt::format("key {:06}", 100 * i + 99)));
    world.spec.replaced.inputs.push_back(
        facts_of(i + 101, fmt::format("key {:06}", 100 * i + 51), fmt::format("key {:06}", 100 * i + 51)));
  }
  world.spec.replaced.inputs.push_back(facts_of(200, "a", "b"));
  world.spec.replaced.inputs.push_back(facts_of(201, "z", "z"));
  const RewriteResult result = world.write(entries);
  ASSERT_GT(result.tables.size(), 5U);
  std::set<std::uint64_t> listed;
  std::size_t most = 0;
  for (const auto& table : result.tables) {
    const auto file = *world.world.files.open_readable(table_path("/store", table->number));
    const TableProperties properties = *read_properties(*file, "t");
    EXPECT_EQ(properties.rewrite, 1001U);
    EXPECT_EQ(properties.keyspace, KeyspaceId{7});
    EXPECT_EQ(properties.keyspace_name, "users");
    EXPECT_EQ(properties.replaces.front(), 901U);
    most = std::max(most, properties.replaces.size());
    listed.insert(properties.replaces.begin(), properties.replaces.end());
    for (const auto& input : world.spec.replaced.inputs) {
      if (!table->overlaps(input->begin(), input->end())) continue;
      EXPECT_TRUE(std::ranges::count(properties.replaces, input->number) == 1) << table->number << ' ' << input->number;
    }
  }
  EXPECT_EQ(listed.size(), world.spec.replaced.inputs.size() + 1) << "every input is listed by some output";
  EXPECT_LT(most, 14U);
}

TEST(Rewrite, CutsTablesWhereTheyWouldOverlapMoreThanTenOfTheNextLevel) {
  tamis::Run next = {.id = 1, .tables = {}};
  for (int i = 0; i < 100; ++i) {
    next.tables.push_back(facts_of(static_cast<std::uint64_t>(i), fmt::format("key{:06}", i * 10 + 2),
                                   fmt::format("key{:06}", i * 10 + 7)));
  }
  RewriteWorld world;
  world.spec.cuts.next_level = &next;
  const RewriteResult result = world.write(ManyEntries(1000).entries);
  EXPECT_EQ(world.read(result).size(), 1000U);
  EXPECT_EQ(result.tables.size(), 10U);
  for (const auto& table : result.tables) {
    const auto overlapped = std::ranges::count_if(
        next.tables, [&](const auto& other) { return other->overlaps(table->begin(), table->end()); });
    EXPECT_LE(overlapped, 10);
  }
}

/// The first value that is to be apart begins a table, unless a version of its key is in this one: then it stays here.
TEST(Rewrite, Rule36_Rule41_OnlyTablesThatNameTheFeatureHavePointers) {
  const std::string large(100, 'v');
  RewriteWorld world;
  world.spec.values.bytes_apart = 100;
  world.spec.values.file_bytes = 1 << 20;
  world.spec.snapshots = {Sequence{1}, Sequence{1'000'000}};
  const RewriteResult result =
      world.write({put("a", 2, "small"), put("a", 1, large), put("b", 3, "small"), put("c", 4, large)});
  ASSERT_EQ(result.tables.size(), 2U);
  EXPECT_EQ(result.tables[0]->entries, 3U);
  EXPECT_TRUE(result.tables[0]->values_apart.empty());
  EXPECT_FALSE(result.tables[0]->features.includes(Features::of(Feature::kValuesApart)));
  EXPECT_EQ(result.tables[1]->values_apart.size(), 1U);
  EXPECT_TRUE(result.tables[1]->features.includes(Features::of(Feature::kValuesApart)));
}

TEST(Rewrite, TakesTheLargestAndTheSmallestKeys) {
  const std::string longest(kMaxNarrowKeyBytes + 1, 'k');
  const std::string other = longest.substr(0, kMaxNarrowKeyBytes) + "l";
  RewriteWorld world;
  expect_written({put("", 1, ""), put(longest, 2, ""), put(other, 3, "x"), put(std::string_view("\0", 1), 4)}, world);
}

TEST(Rewrite, GivesTablesTheFilterOfThePlan) {
  const ManyEntries many(5000);
  RewriteWorld world;
  const FilterPlanner planner({}, {}, 1, 1, 5000, {.kind = "auto", .memory_bytes = {}, .most_bytes = 1 << 30});
  world.spec.filters = &planner;
  const RewriteResult result = world.write(many.entries);
  for (const auto& table : result.tables) {
    EXPECT_GT(table->filter_bytes, 0U);
    EXPECT_EQ(table->filter_kind, 9);  // Sliced.
    EXPECT_LE(table->filter_rate, 0.005);
  }
  world.spec.filters = nullptr;
  const RewriteResult without = world.write(many.entries);
  EXPECT_EQ(without.tables[0]->filter_bytes, 0U);
}

TEST(Rewrite, PassesOnWhenTheOldestDeleteCame) {
  const tamis::Run older = {.id = 1, .tables = {facts_of(1, "a", "z")}};
  RewriteWorld world;
  world.spec.older_runs = {&older};
  world.spec.oldest_delete_unix_seconds = 1234;
  const RewriteResult result = world.write({deleted("a", 1)});
  ASSERT_EQ(result.tables.size(), 1U);
  EXPECT_EQ(result.tables[0]->oldest_delete_unix_seconds, 1234U);
  EXPECT_EQ(result.tables[0]->created_unix_seconds, 5000U);
  const RewriteResult puts = world.write({put("a", 1)});
  EXPECT_EQ(puts.tables[0]->oldest_delete_unix_seconds, 0U);
}

TEST(Rewrite, StopsWhenItIsCancelledAndLeavesNoFile) {
  const ManyEntries many(3000);  // Several tables.
  for (int questions = 0; questions < 3; ++questions) {
    RewriteWorld world;
    world.spec.table_bytes = 5000;
    int asked = 0;
    world.spec.calls.is_cancelled = [&](std::uint64_t) { return asked++ == questions; };
    const Result<RewriteResult> result = world.try_write(many.entries);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().code(), StatusCode::kClosed);
    EXPECT_TRUE(world.files().empty());
    EXPECT_EQ(world.numbers > 0, questions > 0);
  }
}

TEST(Rewrite, ReturnsTheErrorOfItsSourceAndLeavesNoFile) {
  const ManyEntries many(3000);  // Several tables.
  for (const int good : {0, 1, 1500, 3000}) {
    int moves = good;
    RewriteWorld world;
    world.spec.table_bytes = 5000;
    FailingIterator source(std::make_unique<VectorIterator>(many.entries), &moves, false);
    EXPECT_EQ(rewrite(source, world.spec).status().code(), StatusCode::kIoError);
    EXPECT_TRUE(world.files().empty()) << good;
  }
}

TEST(Rewrite, ReturnsTheErrorOfANumberThatCannotBeHad) {
  const ManyEntries many(3000);  // Several tables.
  RewriteWorld world;
  world.spec.table_bytes = 5000;
  world.spec.new_number = [&]() -> Result<std::uint64_t> {
    if (world.numbers == 3) return Status::out_of_space("no more");
    return ++world.numbers;
  };
  EXPECT_EQ(world.try_write(many.entries).status().code(), StatusCode::kOutOfSpace);
  EXPECT_TRUE(world.files().empty());
}

TEST(Rewrite, LeavesAFileAloneThatHasItsName) {
  const ManyEntries many(3000);  // Several tables.
  RewriteWorld world;
  world.spec.table_bytes = 5000;
  ASSERT_TRUE(world.world.files.open_writable("/store/000002.tms", OpenMode::kCreate).ok());
  const Result<RewriteResult> result = world.try_write(many.entries);
  EXPECT_EQ(result.status().code(), StatusCode::kCorruption);
  EXPECT_EQ(world.files(), std::vector<std::string>{"000002.tms"});
}

TEST(Rewrite, LeavesNoFileWhicheverCallFails) {
  const ManyEntries many(3000);  // Several tables.
  for (const FaultKind kind : {FaultKind::kIoError, FaultKind::kIoErrorAfterwards, FaultKind::kNoSpace,
                               FaultKind::kShortWrite, FaultKind::kTooManyFiles}) {
    std::uint64_t failed = 0;
    for (std::uint64_t call = 1;; ++call) {
      const Fault fault = {.kind = kind, .at_call = call, .sticky = false};
      SCOPED_TRACE(to_text(fault));
      RewriteWorld world;
      FaultyFileSystem faulty(world.world.files, fault);
      world.spec.files = &faulty;
      world.spec.table_bytes = 12'000;
      const Result<RewriteResult> result = world.try_write(many.entries);
      if (faulty.fired() == 0) {
        ASSERT_TRUE(result.ok());
        EXPECT_EQ(world.files().size(), result->tables.size());
        if (faulty.calls() < call) break;
        continue;
      }
      ++failed;
      ASSERT_FALSE(result.ok());
      ASSERT_TRUE(world.files().empty());
    }
    EXPECT_GT(failed, 3U);
  }
}

TEST(Rewrite, ReturnsTheFirstErrorWhenNothingWorksAnyMore) {
  const ManyEntries many(3000);  // Several tables.
  for (std::uint64_t call = 1; call < 12; ++call) {
    RewriteWorld world;
    FaultyFileSystem faulty(world.world.files, {.kind = FaultKind::kIoError, .at_call = call, .sticky = true});
    world.spec.files = &faulty;
    world.spec.table_bytes = 12'000;
    EXPECT_EQ(world.try_write(many.entries).status().code(), StatusCode::kIoError);
  }
}

}  // namespace
}  // namespace tamis::test
