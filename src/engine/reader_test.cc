#include "engine/reader.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/store_context.h"
#include "support/table_world.h"

namespace tamis {
namespace {

/// A view without a store. "active", "sealed" and "table" are where their names say; "deleted" is deleted in the active
/// memtable. All but "sealed" have an older value in the table.
struct ReaderWorld {
  ReaderWorld() {
    test::TableEntries entries;
    for (const std::string_view key : {"active", "deleted", "table"}) {
      entries.add(std::string(key), 1, "old " + std::string(key));
    }
    entries.add("gone", 1, std::nullopt);
    entries.sort();
    ShapeEdit edit;
    edit.added.push_back({1, 1, std::make_shared<const TableFacts>(tables.build(entries))});
    auto now = std::make_shared<ReadView>();
    now->version = std::make_shared<const Version>(*Shape().with(edit), nullptr, tables.context);
    now->sealed.push_back(std::make_shared<Memtable>());
    now->active = std::make_shared<Memtable>();
    insert(*now->sealed.front(), {"sealed", "new sealed", Sequence{2}, EntryKind::kPut});
    insert(*now->active, {"active", "new active", Sequence{3}, EntryKind::kPut});
    insert(*now->active, {"deleted", {}, Sequence{4}, EntryKind::kDelete});
    insert(*now->active, {"table", "not published", Sequence{5}, EntryKind::kPut});
    published.publish(Sequence{4});
    view.replace(std::move(now));
  }
  void insert(Memtable& memtable, const Entry& entry) const { memtable.insert(entry, hasher(entry.key)); }
  [[nodiscard]] TableCounts counts() const { return view.take()->version->tables().front()->counts(); }

  std::optional<std::string> get(std::string_view key) {
    std::string value;
    const Result<bool> found = reader.get(key, &value, {});
    EXPECT_TRUE(found.ok()) << found.status().to_text();
    EXPECT_EQ(reader.exists(key, {}).value_or(!*found), *found);
    return *found ? std::optional(value) : std::nullopt;
  }
  Result<Explanation> explain(std::string_view key) { return reader.explain(key, {}, reader.begin_read(nullptr)); }

  test::TableWorld tables;
  KeyHasher hasher{tables.context.identity.hash_key};
  PublishedSequence published;
  CurrentView view;
  StoreContext context{"/store", {}, {}};
  KeyspaceOperator merge_operator = nullptr;
  Reader reader{view, published, hasher, context.expiry, merge_operator};
};

const std::vector<std::string_view> kKeys = {"active", "deleted", "gone", "nothing", "sealed", "table"};
const std::vector<std::optional<std::string>> kValues = {"new active", std::nullopt, std::nullopt,
                                                         std::nullopt, "new sealed", "old table"};

TEST(Reader, AnswersEveryKindOfReadAlike) {
  ReaderWorld world;
  for (int round = 0; round < 2; ++round) {  // From disk, then from memory.
    std::vector<std::optional<std::string>> together;
    ASSERT_TRUE(world.reader.multi_get(kKeys, &together, {}, world.reader.begin_read(nullptr)).ok());
    EXPECT_EQ(together, kValues);
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      EXPECT_EQ(world.get(kKeys[i]), kValues[i]) << kKeys[i];
      const Result<std::optional<PinnedValue>> pinned =
          world.reader.get_pinned(kKeys[i], {}, nullptr, world.reader.begin_read(nullptr));
      ASSERT_TRUE(pinned.ok());
      EXPECT_EQ(pinned->has_value(), kValues[i].has_value()) << kKeys[i];
      if (kValues[i]) {
        EXPECT_EQ((*pinned)->view(), *kValues[i]);
      }
      EXPECT_EQ(world.explain(kKeys[i])->value, kValues[i]) << kKeys[i];
    }
  }
  world.published.publish(Sequence{5});
  EXPECT_EQ(world.get("table"), "not published");
}

TEST(Reader, CountsEachGetOnceByWhereItsValueWas) {
  ReaderWorld world;
  std::string value;
  for (std::uint64_t round = 1; round <= 2; ++round) {
    for (const std::string_view key : kKeys) ASSERT_TRUE(world.reader.get(key, &value, {}).ok());
    EXPECT_EQ(world.reader.counts().all(), 12 * round - 6);
    ASSERT_EQ(world.reader.multi_get(kKeys, {}, world.reader.begin_read(nullptr)).size(), kKeys.size());
    EXPECT_EQ(world.reader.counts().all(), 12 * round);
    EXPECT_EQ(world.reader.counts().from_memtables, 4 * round);
    EXPECT_EQ(world.reader.counts().from_tables, 2 * round);
  }
  ASSERT_TRUE(world.explain("table").ok());
  EXPECT_EQ(world.reader.counts().all(), 24U) << "to explain one is not to get";
}

TEST(Reader, ExplainsTheLookupThatAGetDoes) {
  ReaderWorld world;
  const Explanation cold = *world.explain("table");
  ASSERT_EQ(cold.steps.size(), 3U) << cold.to_text();
  EXPECT_EQ(cold.steps[0].where, "memtable");
  EXPECT_EQ(cold.steps[1].where, "sealed memtable");
  EXPECT_EQ(cold.steps[2].block_source, "disk");
  EXPECT_EQ(cold.steps[2].outcome, "found");
  EXPECT_EQ(cold.reads, 1U);
  EXPECT_EQ(cold.metadata_reads, 2U);

  EXPECT_EQ(world.get("table"), "old table");
  const std::uint64_t slot_hits = world.counts().slot_hits;
  const CacheStats asked = world.tables.cache->stats();
  const Explanation warm = *world.explain("table");
  EXPECT_EQ(warm.steps[2].block_source, "cache");
  EXPECT_EQ(warm.steps[2].filter_verdict, "maybe");
  EXPECT_EQ(warm.steps[2].outcome, "found");
  EXPECT_EQ(warm.reads + warm.metadata_reads, 0U);
  EXPECT_EQ(world.counts().slot_hits, slot_hits + 1) << "the block was not found in its slot";
  EXPECT_EQ(world.tables.cache->stats().hits, asked.hits) << "the cache was asked";

  EXPECT_EQ(world.explain("gone")->steps.back().outcome, "deleted");
  EXPECT_EQ(world.explain("deleted")->steps.back().outcome, "deleted");
  EXPECT_EQ(world.explain("aaa")->steps.back().outcome, "outside");
}

TEST(Reader, ExplainsWhatEachStepCost) {
  ReaderWorld world;
  const Explanation cold = *world.explain("table");
  ASSERT_EQ(cold.steps.size(), 3U) << cold.to_text();
  EXPECT_EQ(cold.steps[1].reads + cold.steps[1].metadata_reads, 0U);
  EXPECT_EQ(cold.steps[2].reads, 1U);
  EXPECT_EQ(cold.steps[2].metadata_reads, 2U);
  std::uint64_t nanoseconds = 0;
  for (const Explanation::Step& step : cold.steps) {
    EXPECT_GT(step.nanoseconds, 0U) << step.where;
    nanoseconds += step.nanoseconds;
  }
  EXPECT_LE(nanoseconds, cold.nanoseconds);
  EXPECT_EQ(world.explain("table")->steps[2].reads, 0U) << "the block is in the cache";
}

}  // namespace
}  // namespace tamis
