#include "engine/tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/keyspaces.h"
#include "engine/table_rewrites.h"
#include "io/file_names.h"
#include "io/memory_file_system.h"

namespace tamis {
namespace {

/// Trees without a writer: the test inserts and seals.
struct World {
  World() {
    EXPECT_TRUE(files.make_directory("/store").ok());
    EXPECT_TRUE(catalog.open(false).ok());
    EXPECT_TRUE(keyspaces.open().ok());
  }

  void put(const std::string& key, OpenKeyspace& into) {
    last = last + 1;
    into.tree.begin_writing(7)->insert({key, "value", last, EntryKind::kPut}, context.hasher(key));
    published.publish(last);
  }
  void put(const std::string& key) { put(key, keyspaces.default_keyspace()); }
  void seal() { keyspaces.seal(std::vector{keyspaces.find(kDefaultKeyspace)}, last); }
  Status flush() { return rewrites.flush(keyspaces.oldest_sealed()); }
  bool has_table(std::uint64_t number) { return files.file_size(table_path("/store", number))->has_value(); }

  MemoryFileSystem files;
  StoreContext context{
      "/store", {.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10}, {.files = &files, .random_seed = 1}};
  ChangeSignal changes;
  Health health{context, changes};
  std::unique_ptr<StoreMemory> memory = *StoreMemory::make(context);
  LiveHandles handles;
  PublishedSequence published;
  Catalog catalog{context, health};
  Journals journals{files, "/store", *context.random, 0};
  Keyspaces keyspaces{context, *memory, catalog, health, published, handles, changes};
  EmptyRanges empty_ranges;
  SharedWork work{changes};
  TableRewrites rewrites{context, catalog,      journals, keyspaces,      published,
                         handles, empty_ranges, work,     memory->cache()};
  Tree& tree = keyspaces.default_keyspace().tree;
  Sequence last = {};
};

TEST(Tree, ASealedMemtableStaysInTheViewUntilItsTableIsThere) {
  World world;
  world.put("a");
  world.seal();
  EXPECT_TRUE(world.tree.view().take()->active->empty());
  EXPECT_EQ(world.tree.view().take()->sealed.size(), 1U);
  EXPECT_EQ(world.tree.entries_in_memtables(), 1U);
  const std::uint64_t generation = world.tree.generation();
  ASSERT_TRUE(world.flush().ok());
  EXPECT_FALSE(world.tree.has_sealed());
  EXPECT_TRUE(world.tree.view().take()->sealed.empty());
  EXPECT_EQ(world.tree.version()->tables().size(), 1U);
  EXPECT_GT(world.tree.generation(), generation);
  EXPECT_EQ(world.catalog.flushed_sequence(kDefaultKeyspace), number_of(world.last));
}

TEST(Tree, Rule4_FlushesInstallInTheOrderOfTheSeals) {
  World world;
  world.put("a");
  world.seal();
  world.put("b");
  world.seal();
  EXPECT_EQ(number_of(world.tree.oldest_sealed()->last_sequence), 1U);
  ASSERT_TRUE(world.flush().ok());
  EXPECT_EQ(number_of(world.tree.oldest_sealed()->last_sequence), 2U);
  ASSERT_TRUE(world.flush().ok());
  EXPECT_FALSE(world.tree.has_sealed());
}

TEST(Tree, P8_MemtablesThatOnlyReadersHoldAreCounted) {
  World world;
  for (int i = 0; i < 100; ++i) world.put("key" + std::to_string(i));
  std::shared_ptr<const ReadView> held = world.tree.view().take();
  world.seal();
  ASSERT_TRUE(world.flush().ok());
  const std::uint64_t with_held = world.tree.memtable_bytes();
  held.reset();
  EXPECT_LT(world.tree.memtable_bytes(), with_held);
}

TEST(Tree, Rule19_AFileGoesWhenNoReaderHoldsItsTableAndNobodyPausesDeletions) {
  World world;
  for (const char* key : {"a", "b"}) {
    world.put(key);
    world.seal();
    ASSERT_TRUE(world.flush().ok());
  }
  std::shared_ptr<const ReadView> held = world.tree.view().take();
  const std::uint64_t number = held->version->tables().front()->facts().number;
  const TreeChange removal{.keyspace = &world.keyspaces.default_keyspace(),
                           .edit = {.shape = {.removed = {number}, .added = {}}}};
  ASSERT_TRUE(world.keyspaces.install({&removal, 1}).ok());
  {
    const Tree::ObsoleteListing listing(world.tree);
    EXPECT_EQ(listing.numbers(), std::vector{number});
    world.tree.remove_obsolete_files();
    EXPECT_TRUE(world.has_table(number)) << "a reader holds it";
    held.reset();
    world.tree.remove_obsolete_files();
    EXPECT_TRUE(world.has_table(number)) << "a table that is being written lists it";
  }
  world.keyspaces.pause_deletions();
  world.tree.remove_obsolete_files();
  EXPECT_TRUE(world.has_table(number)) << "deletions are paused";
  world.keyspaces.resume_deletions();
  world.tree.remove_obsolete_files();
  EXPECT_FALSE(world.has_table(number));
}

}  // namespace
}  // namespace tamis
