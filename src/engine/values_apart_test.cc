// Large values apart from their tables: reads, rewriting, crashes, damage (rule 41).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/open_db.h"
#include "support/passing_file_system.h"
#include "support/repair_world.h"

namespace tamis {
namespace {

using test::Contents;
using test::RepairWorld;
using test::small_options;

Options apart_options(std::uint64_t value_bytes_apart = 100) {
  Options options = small_options();
  options.value_bytes_apart = value_bytes_apart;
  return options;
}

std::string large(int i, std::size_t bytes = 400) {
  std::string value = fmt::format("value {} ", i);
  std::mt19937_64 random(static_cast<std::uint64_t>(i));
  while (value.size() < bytes) value += static_cast<char>('a' + random() % 26);
  return value;
}

std::string key_of(int i) { return fmt::format("key{:04}", i); }

void put_many(DB& db, Contents& model, int from, int to, int salt = 0, std::size_t bytes = 400) {
  for (int i = from; i < to; ++i) {
    const std::string value = i % 5 == 0 ? fmt::format("small {}", i + salt) : large(i + salt, bytes);
    ASSERT_TRUE(db.put(key_of(i), value).ok());
    model[key_of(i)] = value;
  }
}

/// Every way to read gives the same.
void expect_reads(DB& db, const Contents& model, const ReadOptions& options = {}) {
  std::vector<std::string> keys;
  std::vector<std::string_view> views;
  for (const auto& [key, value] : model) {
    keys.push_back(key);
    EXPECT_EQ(db.get(key, options)->value_or("absent"), value) << key;
    EXPECT_EQ(std::string((*db.get_pinned(key, options))->view()), value) << key;
    EXPECT_TRUE(*db.exists(key, options)) << key;
    EXPECT_EQ(db.explain(key, options)->value.value_or("absent"), value) << key;
  }
  views.assign(keys.begin(), keys.end());
  const auto together = db.multi_get(views, options);
  ASSERT_EQ(together.size(), model.size());
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(together[i]->value_or("absent"), model.at(keys[i]));
  Contents forwards;
  Iterator at = db.scan({.snapshot = options.snapshot});
  for (; at.valid(); at.next()) forwards.emplace(at.key(), at.value());
  EXPECT_TRUE(at.status().ok()) << at.status().to_text();
  EXPECT_TRUE(forwards == model);
  Contents backwards;
  for (at.seek_to_last(); at.valid(); at.previous()) backwards.emplace(at.key(), at.value());
  EXPECT_TRUE(backwards == model);
}

std::uint64_t value_files_on_disk(RepairWorld& world) { return world.numbers(FileKind::kValues).size(); }

TEST(ValuesApart, AreReadInEveryWay) {
  for (const char* codec : {"none", "lz4", "zstd"}) {
    RepairWorld world;
    Options options = apart_options();
    options.codec = options.codec_last = codec;
    DB db = world.open(options);
    Contents model;
    put_many(db, model, 0, 60);
    ASSERT_TRUE(db.flush().ok());
    put_many(db, model, 30, 90, 1000);
    for (const int i : {3, 31, 77}) {
      ASSERT_TRUE(db.remove(key_of(i)).ok());
      model.erase(key_of(i));
    }
    expect_reads(db, model);
    ASSERT_TRUE(db.flush().ok());
    expect_reads(db, model);
    EXPECT_FALSE(*db.exists(key_of(31)));
    EXPECT_GT(db.stats().values.files, 0U);
    EXPECT_EQ(db.stats().values.files, value_files_on_disk(world));
    ASSERT_TRUE(db.compact().ok());
    expect_reads(db, model);
    EXPECT_TRUE(db.verify()->ok());
    ASSERT_TRUE(db.close().ok());
    for (const std::uint64_t threshold : {std::uint64_t{100}, std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{350}}) {
      options.value_bytes_apart = threshold;
      DB again = world.open(options);
      expect_reads(again, model);
      put_many(again, model, 0, 40, static_cast<int>(threshold));
      ASSERT_TRUE(again.compact().ok());
      expect_reads(again, model);
      EXPECT_TRUE(again.verify()->ok());
      ASSERT_TRUE(again.close().ok());
    }
  }
}

TEST(ValuesApart, ExplainNamesTheFileAndCountsItsRead) {
  RepairWorld world;
  DB db = world.open(apart_options());
  ASSERT_TRUE(db.put("large", large(1)).ok() && db.put("small", "1").ok() && db.flush().ok());
  EXPECT_EQ(db.explain("large")->reads, 2U) << "the block and the value";
  const Explanation apart = *db.explain("large");
  EXPECT_EQ(apart.steps.back().where, "value file");
  EXPECT_EQ(apart.steps.back().table, world.numbers(FileKind::kValues).front());
  EXPECT_EQ(apart.steps.back().outcome, "found");
  EXPECT_EQ(apart.steps.back().reads, 1U);
  EXPECT_GT(apart.steps.back().nanoseconds, 0U);
  EXPECT_EQ(db.explain("small")->steps.back().where, "table");
  EXPECT_EQ(apart.reads, 1U) << "the block is in the cache";
}

TEST(ValuesApart, AKeyspaceHasItsOwnThreshold) {
  RepairWorld world;
  Options options = apart_options(0);
  {
    DB db = world.open(options);
    Keyspace media = *db.keyspace("media", {.value_bytes_apart = 50});
    for (int i = 0; i < 40; ++i) {
      Batch batch;
      batch.put(media, key_of(i), large(i));
      batch.put(key_of(i), large(i + 100));
      ASSERT_TRUE(db.write(batch).ok());
    }
    ASSERT_TRUE(db.flush().ok());
    EXPECT_EQ(value_files_on_disk(world), 1U);
    EXPECT_EQ(db.stats().values.values, 40U);
    ASSERT_TRUE(db.close().ok());
  }
  DB db = world.open(options);
  Keyspace media = *db.keyspace("media");
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(media.get(key_of(i))->value_or(""), large(i));
    EXPECT_EQ(db.get(key_of(i))->value_or(""), large(i + 100));
  }
  ASSERT_TRUE(db.drop_keyspace("media").ok());
  ASSERT_TRUE(db.wait_idle().ok());
  EXPECT_EQ(value_files_on_disk(world), 0U) << "those of a dropped keyspace go";
}

TEST(ValuesApart, OfALargeCommitAreApartToo) {
  RepairWorld world;
  Options options = apart_options();
  options.memory_bytes = 1 << 20;
  DB db = world.open(options);
  Contents model;
  Batch batch;
  for (int i = 0; i < 900; ++i) {
    model[key_of(i)] = large(i);
    batch.put(key_of(i), model[key_of(i)]);
  }
  ASSERT_TRUE(db.write(batch).ok());
  EXPECT_GT(db.stats().values.values, 800U);
  expect_reads(db, model);
}

/// What is live is counted exactly, whatever removed the rest; what is dead goes; what stays is below the bound.
TEST(ValuesApart, Rule41_GarbageIsCountedCollectedAndBounded) {
  RepairWorld world;
  DB db = world.open(apart_options());
  Contents model;
  std::mt19937_64 random(5);
  for (int i = 0; i < 6000; ++i) {
    const int key = static_cast<int>(random() % 600);
    const std::string value = large(i, 1000);
    ASSERT_TRUE(db.put(key_of(key), value).ok());
    model[key_of(key)] = value;
  }
  ASSERT_TRUE(db.flush().ok() && db.wait_idle().ok());
  std::uint64_t live = 0;
  for (const auto& [key, value] : model) live += key.size() + value.size();
  const Stats stats = db.stats();
  std::uint64_t on_disk = 0;
  for (const std::string& name : world.names()) {
    if (name.ends_with(".values") || name.ends_with(".tms"))
      on_disk += *world.files.file_size(world.path(name)).value();
  }
  EXPECT_EQ(on_disk, stats.bytes_on_disk);
  EXPECT_LE(static_cast<double>(on_disk), 1.25 * static_cast<double>(live)) << stats.to_text();
  EXPECT_EQ(stats.values.files, value_files_on_disk(world)) << "a file leaks";
  EXPECT_TRUE(db.verify()->ok());
  expect_reads(db, model);
  ASSERT_TRUE(db.compact().ok() && db.wait_idle().ok());
  EXPECT_EQ(db.stats().values.values, model.size());
  for (const auto& [key, value] : model) ASSERT_TRUE(db.remove(key).ok());
  ASSERT_TRUE(db.compact().ok() && db.wait_idle().ok());
  EXPECT_EQ(value_files_on_disk(world), 0U);
  EXPECT_EQ(db.stats().values.files, 0U);
}

/// Key, sequence and kind stay: a snapshot between two versions sees the older one after both were rewritten.
TEST(ValuesApart, Rule41_SnapshotsIteratorsAndPinnedValuesOutliveARewrite) {
  RepairWorld world;
  DB db = world.open(apart_options());
  Contents old;
  put_many(db, old, 0, 200);
  ASSERT_TRUE(db.flush().ok());
  const Snapshot before = db.snapshot();
  Iterator at = db.scan();
  const PinnedValue pinned = std::move(**db.get_pinned(key_of(1)));
  Contents model = old;
  for (int round = 1; round < 12; ++round) {
    put_many(db, model, 0, 200, 1000 * round);
    ASSERT_TRUE(db.flush().ok() && db.wait_idle().ok());
  }
  ASSERT_TRUE(db.compact().ok());
  Contents seen;
  for (; at.valid(); at.next()) seen.emplace(at.key(), at.value());
  EXPECT_TRUE(at.status().ok()) << at.status().to_text();
  EXPECT_TRUE(seen == old);
  EXPECT_EQ(std::string(pinned.view()), old.at(key_of(1)));
  expect_reads(db, old, {.snapshot = &before});
  expect_reads(db, model);
  EXPECT_TRUE(db.verify()->ok());
}

/// Compaction moves pointers: it opens no value file, unless it collects garbage.
TEST(ValuesApart, Rule41_CompactionReadsNoValues) {
  RepairWorld world;
  {
    DB db = world.open(apart_options());
    Contents model;
    put_many(db, model, 0, 300);
    ASSERT_TRUE(db.flush().ok());
    put_many(db, model, 300, 600);
    ASSERT_TRUE(db.close().ok());
  }
  for (const std::uint64_t file : world.numbers(FileKind::kValues)) {
    ASSERT_TRUE(world.files.remove(value_file_path("/store", file)).ok());
  }
  DB db = world.open(apart_options());
  EXPECT_TRUE(db.compact().ok());
  const Status missing = db.get(key_of(1)).status();
  EXPECT_EQ(missing.code(), StatusCode::kCorruption) << missing.to_text();
  EXPECT_TRUE(*db.exists(key_of(1)));
  EXPECT_EQ(db.get(key_of(5))->value_or(""), "small 5");
  EXPECT_FALSE(db.verify()->ok());
}

TEST(ValuesApart, Rule41_Rule19_OpeningRemovesThoseThatNothingNamesAndOnlyThose) {
  RepairWorld world;
  {
    DB db = world.open(apart_options());
    Contents model;
    put_many(db, model, 0, 50);
    ASSERT_TRUE(db.flush().ok() && db.close().ok());
  }
  const std::vector<std::uint64_t> named = world.numbers(FileKind::kValues);
  ASSERT_EQ(named.size(), 1U);
  const std::string bytes = *read_whole_file(world.files, value_file_path("/store", named.front()));
  world.put_file(value_file_path("/store", 1), bytes);
  world.put_file(value_file_path("/store", 999'999), bytes);
  { DB db = world.open(apart_options()); }
  EXPECT_EQ(world.numbers(FileKind::kValues), (std::vector<std::uint64_t>{named.front(), 999'999}));
}

/// The crash comes after any call of flushes, rewrites and removals. Nothing that was synced is lost, and nothing stays
/// behind.
TEST(ValuesApart, Rule41_SurviveACrashAfterAnyCall) {
  RepairWorld world;
  std::vector<std::pair<MemoryDisk, Contents>> crashes;
  Contents durable;
  {
    DB db = world.open(apart_options());
    std::size_t calls = 0;
    world.files.after_each_call([&](const MemoryDisk& disk, std::string_view) {
      if (++calls % 7 == 0) crashes.emplace_back(disk, durable);
    });
    for (int round = 0; round < 8; ++round) {
      for (int i = 0; i < 40; ++i) {
        const std::string value = large(1000 * round + i, 600);
        ASSERT_TRUE(db.put(key_of(i), value).ok());
      }
      Batch last;
      last.put("round", std::to_string(round));
      ASSERT_TRUE(db.write(last, {.sync = true}).ok());
      for (int i = 0; i < 40; ++i) durable[key_of(i)] = large(1000 * round + i, 600);
      durable["round"] = std::to_string(round);
      ASSERT_TRUE(db.flush().ok() && db.wait_idle().ok());
    }
    world.files.after_each_call({});
  }
  ASSERT_GT(crashes.size(), 60U);
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    const Loss loss = kAllLosses[i % kAllLosses.size()];
    RepairWorld after(crashes[i].first.after_crash(loss, i));
    DB db = after.open(apart_options());
    const Contents found = RepairWorld::contents(db);
    const Contents& least = crashes[i].second;
    const int round = least.empty() ? -1 : std::stoi(least.at("round"));
    for (const auto& [key, value] : least) {
      ASSERT_TRUE(found.contains(key)) << key << " is lost by crash " << i;
      if (key == "round") continue;
      EXPECT_TRUE(found.at(key) == value || found.at(key).starts_with(fmt::format("value {}", round + 1))) << key;
    }
    const VerifyReport verified = *db.verify();
    EXPECT_TRUE(verified.ok()) << "crash " << i << " with " << to_string(loss);
    EXPECT_EQ(db.stats().values.files, value_files_on_disk(after)) << "a file leaks after crash " << i;
  }
}

TEST(ValuesApart, Rule41_P3_DamageIsAnErrorForItsReaderAloneAndStaysInPlace) {
  RepairWorld world;
  Contents model;
  {
    DB db = world.open(apart_options());
    put_many(db, model, 0, 100);
    ASSERT_TRUE(db.close().ok());
  }
  {
    DB db = world.open(apart_options());
    ASSERT_TRUE(db.compact().ok());
  }
  const std::string path = value_file_path("/store", world.numbers(FileKind::kValues).front());
  world.flip(path, 64 + 200);  // In the first value.
  DB db = world.open(apart_options());
  int bad = 0;
  for (const auto& [key, value] : model) {
    const auto got = db.get(key);
    if (got.ok()) {
      EXPECT_EQ(got->value_or(""), value);
      continue;
    }
    ++bad;
    EXPECT_EQ(got.status().code(), StatusCode::kCorruption);
    EXPECT_NE(got.status().message().find(".values: value at offset 64"), std::string_view::npos);
    EXPECT_EQ(db.get_pinned(key).status().code(), StatusCode::kCorruption);
    EXPECT_EQ(db.multi_get(std::vector<std::string_view>{key})[0].status().code(), StatusCode::kCorruption);
    Iterator at = db.scan({.from = key});
    EXPECT_FALSE(at.valid());
    EXPECT_EQ(at.status().code(), StatusCode::kCorruption);
  }
  EXPECT_EQ(bad, 1);
  const VerifyReport verified = *db.verify();
  ASSERT_EQ(verified.problems.size(), 1U);
  EXPECT_EQ(verified.problems[0].offset, 64U);
  // A rewrite copies the rest, and does not stop the store.
  for (int round = 1; round < 6; ++round) put_many(db, model, 20, 100, 1000 * round);
  ASSERT_TRUE(db.flush().ok() && db.wait_idle().ok());
  ASSERT_TRUE(db.compact().ok());
  EXPECT_TRUE(db.put("more", "is accepted").ok());
  EXPECT_EQ(db.verify()->problems.size(), 1U) << "the damaged value is neither lost nor made valid";
  EXPECT_EQ(db.get(key_of(99))->value_or(""), model.at(key_of(99)));
}

TEST(ValuesApart, Rule41_Rule21_ACheckpointHasThem) {
  RepairWorld world;
  DB db = world.open(apart_options());
  Contents model;
  put_many(db, model, 0, 100);
  ASSERT_TRUE(db.checkpoint("/copy").ok());
  for (int round = 1; round < 6; ++round) {
    Contents later;
    put_many(db, later, 0, 100, 1000 * round);
    ASSERT_TRUE(db.compact().ok());
  }
  RepairWorld after(world.files.disk().after_crash(Loss::kEverything, 1));
  DB copy = *DB::open("/copy", apart_options(), after.environment());
  expect_reads(copy, model);
  EXPECT_TRUE(copy.verify()->ok());
  ASSERT_TRUE(copy.close().ok());
  EXPECT_TRUE(DB::destroy("/copy", after.environment()).ok());
  EXPECT_TRUE(after.names("/copy").empty() || after.names("/copy") == std::vector<std::string>{"LOCK"});
}

TEST(ValuesApart, Rule41_Rule22_RepairKeepsThemWithAndWithoutAManifest) {
  for (const bool has_manifest : {true, false}) {
    RepairWorld world;
    Contents model;
    {
      DB db = world.open(apart_options());
      for (int round = 0; round < 4; ++round) {
        put_many(db, model, 0, 150, 1000 * round);
        ASSERT_TRUE(db.flush().ok() && db.wait_idle().ok());
      }
      ASSERT_TRUE(db.close().ok());
    }
    const std::vector<std::uint64_t> files = world.numbers(FileKind::kValues);
    if (!has_manifest) world.remove_manifest();
    const RepairReport report = world.repair();
    EXPECT_TRUE(report.lost.empty());
    DB db = world.open(apart_options());
    expect_reads(db, model);
    EXPECT_TRUE(db.verify()->ok());
    EXPECT_EQ(world.numbers(FileKind::kValues), files);
  }
}

TEST(ValuesApart, Rule41_Rule22_RepairReportsAFileThatIsGoneAndMovesOneThatNothingNeeds) {
  RepairWorld world;
  Contents model;
  {
    DB db = world.open(apart_options());
    put_many(db, model, 0, 50);
    ASSERT_TRUE(db.flush().ok() && db.close().ok());
  }
  const std::uint64_t gone = world.numbers(FileKind::kValues).front();
  const std::string bytes = *read_whole_file(world.files, value_file_path("/store", gone));
  ASSERT_TRUE(world.files.remove(value_file_path("/store", gone)).ok());
  world.put_file(value_file_path("/store", 3), bytes);
  world.remove_manifest();
  const RepairReport report = world.repair();
  ASSERT_EQ(report.lost.size(), 1U);
  EXPECT_EQ(report.lost[0].file, fmt::format("{:06}.values", gone));
  EXPECT_EQ(world.names("/store/lost").empty(), false);
  EXPECT_TRUE(world.files.file_size("/store/lost/000003.values")->has_value()) << "nothing is deleted";
  DB db = world.open(apart_options());
  EXPECT_EQ(db.get(key_of(5))->value_or(""), "small 5");
  EXPECT_EQ(db.get(key_of(1)).status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace tamis
