// A store with several levels on an in-memory disk, its expected answers, and ways to damage it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/file_names.h"
#include "io/path.h"
#include "support/crash_file_system.h"
#include "support/files.h"
#include "table/table_sections.h"
#include "tamis/db.h"
#include "tree/manifest.h"

namespace tamis::test {

using Contents = std::map<std::string, std::string>;

inline Options small_options(std::string_view compaction = "leveled") {
  Options options;
  options.memory_bytes = 16 << 20;
  options.memtable_bytes = 128 << 10;
  options.block_bytes = 1024;
  options.table_bytes = 64 << 10;
  options.fanout = 2;
  options.compaction = compaction;
  return options;
}

inline std::string value_for(std::uint64_t write) { return fmt::format("{:08}{:*>200}", write, ""); }

/// Threads: one.
class RepairWorld {
 public:
  explicit RepairWorld(MemoryDisk disk = {}) : files(std::move(disk)) {}

  [[nodiscard]] Environment environment() { return {.files = &files, .random_seed = 7, .runs_in_background = false}; }
  DB open(const Options& options = small_options()) {
    Result<DB> db = DB::open(kStore, options, environment());
    EXPECT_TRUE(db.ok()) << db.status().to_text();
    return *std::move(db);
  }
  [[nodiscard]] StatusCode open_code() { return DB::open(kStore, small_options(), environment()).status().code(); }
  RepairReport repair(bool dry_run = false) {
    Result<RepairReport> report = DB::repair(kStore, dry_run, environment());
    EXPECT_TRUE(report.ok()) << report.status().to_text();
    return report.ok() ? *std::move(report) : RepairReport();
  }

  /// Puts and deletes random keys, known to the model; flushes every 150 writes.
  void write_some(DB& db, std::size_t writes, std::uint64_t keys = 1200, std::uint32_t deletes_in_10 = 3) {
    for (std::size_t i = 0; i < writes; ++i) {
      const std::string key = fmt::format("key{:05}", random() % keys);
      if (random() % 10 < deletes_in_10) {
        EXPECT_TRUE(db.remove(key).ok());
        model.erase(key);
        deleted.insert(key);
      } else {
        const std::string value = value_for(++values);
        EXPECT_TRUE(db.put(key, value).ok());
        model[key] = value;
      }
      if (i % 150 == 149) {
        EXPECT_TRUE(db.flush().ok());
      }
    }
  }
  /// Several levels, runs with tombstones above older values, and a journal with the latest writes.
  void fill(std::string_view compaction = "leveled", std::size_t writes = 3000) {
    DB db = open(small_options(compaction));
    write_some(db, writes);
    write_some(db, 50);
    EXPECT_TRUE(db.close().ok());
  }

  Contents contents(const Options& options = small_options()) {
    DB db = open(options);
    return contents(db);
  }
  static Contents contents(DB& db) {
    Contents all;
    Iterator at = db.scan();
    for (; at.valid(); at.next()) all.emplace(at.key(), at.value());
    EXPECT_TRUE(at.status().ok()) << at.status().to_text();
    std::size_t i = 0;
    for (const auto& [key, value] : all) {
      if (++i % 7 != 0) continue;
      EXPECT_EQ(db.get(key)->value_or("absent"), value) << key;
    }
    return all;
  }

  /// Opens, verifies, has these contents, accepts writes newer than everything else, compacts, opens again.
  void expect_usable(const Contents& expected) {
    DB db = open();
    const VerifyReport verified = *db.verify();
    for (const Problem& problem : verified.problems) ADD_FAILURE() << problem.file << ": " << problem.what;
    EXPECT_TRUE(contents(db) == expected);
    Contents now = expected;
    std::set<std::string> keys = deleted;
    for (const auto& [key, value] : model) keys.insert(key);
    for (const std::string& key : keys) {
      if (random() % 3 == 0) {
        EXPECT_TRUE(db.remove(key).ok());
        now.erase(key);
      } else if (random() % 2 == 0) {
        EXPECT_TRUE(db.put(key, "new").ok());
        now[key] = "new";
      }
    }
    EXPECT_TRUE(contents(db) == now);
    EXPECT_TRUE(db.compact().ok());
    EXPECT_TRUE(contents(db) == now);
    EXPECT_TRUE(db.close().ok());
    EXPECT_TRUE(contents() == now);
  }

  /// Every deleted key that is present lies in a range of doubt; every value was written at some time.
  void expect_deletes_in_doubt(const RepairReport& report, const Contents& found) const {
    for (const auto& [key, value] : found) {
      if (model.contains(key)) continue;
      EXPECT_TRUE(deleted.contains(key)) << key;
      bool is_told = false;
      for (const RepairReport::Doubt& doubt : report.doubts) is_told |= doubt.from <= key && key <= doubt.to;
      EXPECT_TRUE(is_told) << key << " is back";
    }
  }

  [[nodiscard]] std::vector<std::string> names(const std::string& directory = kStore) {
    return names_in(files, directory);
  }
  [[nodiscard]] std::vector<std::uint64_t> numbers(FileKind kind) {
    std::vector<std::uint64_t> numbers;
    for (const std::string& name : names()) {
      const std::optional<FileName> parsed = parse_file_name(name);
      if (parsed && parsed->kind == kind) numbers.push_back(parsed->number);
    }
    return numbers;
  }
  [[nodiscard]] std::map<std::string, std::string> all_bytes(const std::string& directory = kStore) {
    std::map<std::string, std::string> bytes;
    const std::vector<DirectoryEntry> listed = *files.list(directory);
    for (const DirectoryEntry& entry : listed) {
      if (!entry.is_directory) bytes[entry.name] = *read_whole_file(files, join_path(directory, entry.name));
    }
    return bytes;
  }
  static std::string path(std::string_view name) { return join_path(kStore, name); }
  void remove(const std::string& name) { EXPECT_TRUE(files.remove(path(name)).ok()); }
  void remove_manifest() {
    remove("CURRENT");
    for (const std::uint64_t number : numbers(FileKind::kManifest)) {
      EXPECT_TRUE(files.remove(manifest_path(kStore, number)).ok());
    }
  }
  void put_file(const std::string& path, const std::string& bytes) { test::put_file(files, path, bytes); }
  void flip(const std::string& path, std::uint64_t offset) {
    std::string bytes = *read_whole_file(files, path);
    ASSERT_LT(offset, bytes.size());
    bytes[static_cast<std::size_t>(offset)] ^= 0x41;
    put_file(path, bytes);
  }
  void cut(const std::string& path, std::uint64_t bytes) {
    EXPECT_TRUE((*files.open_writable(path, OpenMode::kExisting))->truncate(bytes).ok());
  }
  [[nodiscard]] TableProperties properties_of(std::uint64_t table) {
    const std::string path = table_path(kStore, table);
    return *read_properties(**files.open_readable(path), path);
  }

  inline static const std::string kStore = "/store";
  CrashFileSystem files;
  Contents model;
  std::set<std::string> deleted;  // At some time.
  std::uint64_t values = 0;
  std::mt19937_64 random{20};
};

/// Crashes the repair of a damaged store after every so-many-th call, with every kind of loss. A repair after that
/// gives the same contents as one without a crash.
inline void crash_and_repair_again(std::string_view policy, bool has_manifest, std::size_t every) {
  RepairWorld world;
  world.fill(policy, 1500);
  RepairWorld damaged(world.files.disk().after_crash(Loss::kNothing, 1));  // Everything is durable.
  damaged.flip(table_path("/store", damaged.numbers(FileKind::kTable).front()), 100);
  if (!has_manifest) damaged.remove_manifest();
  ASSERT_TRUE(damaged.files.sync_directory("/store").ok());
  std::vector<MemoryDisk> crashes;
  std::size_t calls = 0;
  damaged.files.after_each_call([&](const MemoryDisk& disk, std::string_view) {
    if (++calls % every == 0) crashes.push_back(disk);
  });
  damaged.repair();
  damaged.files.after_each_call({});
  const Contents expected = damaged.contents();
  ASSERT_GT(crashes.size(), 5U);
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    for (const Loss loss : kAllLosses) {
      RepairWorld again(crashes[i].after_crash(loss, i));
      again.repair();
      ASSERT_TRUE(again.contents() == expected) << "crash " << i << ", " << to_string(loss);
    }
  }
}

}  // namespace tamis::test
