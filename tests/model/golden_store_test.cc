// A whole store, frozen: tests/golden/store-2 was written once, in version 2 of every format, and every later build
// must open it. Its runs have every filter kind of then and every codec; its journal has records. tests/golden/store-1
// has version 1, which was never released: it is refused by name.
//
//     TAMIS_WRITE_GOLDEN=1 model_test --gtest_filter='GoldenStore.*'    # Writes the store and its dump if missing.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <tamis/tamis.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "support/golden.h"
#include "support/scratch_folder.h"

namespace tamis::test {
namespace {

using Entries = std::map<std::string, std::string>;

constexpr std::uint64_t kKeys = 400;
constexpr std::array<std::string_view, 2> kLaterKinds = {"sliced", "growing"};  // The store is older than these.

std::string key_of(std::uint64_t number) {
  if (number == 0) return std::string("\0\xff\n", 3);
  return fmt::format("{}:{:04}", number % 3 == 0 ? "town" : "city", number);
}

std::string value_of(std::uint64_t number, std::uint64_t run) {
  if (number % 50 == 7) return {};
  if (number % 50 == 8) return std::string(1500, static_cast<char>('a' + run));  // Fills a block by itself.
  return fmt::format("{} of run {}{}", number, run, std::string(number % 20, '.'));
}

/// Writes the store and records the expected entries.
class StoreWriter {
 public:
  explicit StoreWriter(std::string path) : path_(std::move(path)) {}

  Entries write() {
    std::vector<std::string> filters = {"auto", "none"};
    for (const FilterKindInfo& kind : filter_kinds()) {
      if (std::ranges::find(kLaterKinds, kind.name) == kLaterKinds.end()) filters.emplace_back(kind.name);
    }
    for (const char* first : {"auto", "line"}) write_run(first, 120);
    run_ = 10;
    with_store("ribbon", [](DB& db) { EXPECT_TRUE(db.compact().ok()); });
    for (const std::string& filter : filters) write_run(filter, 90);
    write_run("line", 5);  // Few enough for a list of fingerprints.
    with_store("auto", [&](DB& db) {
      change(db, 40);
      Batch batch;
      for (const std::uint64_t number : {1, 2, 3}) {
        expected_[key_of(number)] = "of a batch";
        batch.put(key_of(number), "of a batch");
      }
      EXPECT_TRUE(db.write(batch, {.sync = true}).ok());
    });
    std::filesystem::resize_file(path_ + "/LOCK", 0);  // It names the process that had the store open.
    return expected_;
  }

 private:
  template <typename Work>
  void with_store(const std::string& filter, const Work& work) {
    static constexpr std::array kCodecs = {"none", "lz4", "zstd"};
    static constexpr std::array kRules = {"none", "until::", "first:5"};
    Options options = {.block_bytes = 1024, .filter = filter, .compaction = "manual", .journal = "write"};
    options.codec = options.codec_last = kCodecs.at(run_ % 3);
    EXPECT_TRUE(set_option(options, "prefix_rule", kRules.at(run_ / 3 % 3)).ok());
    Result<DB> db = DB::open(path_, options, {.random_seed = ++run_});
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    work(*db);
    EXPECT_TRUE(db->close().ok());
  }

  void write_run(const std::string& filter, std::uint64_t changes) {
    with_store(filter, [&](DB& db) {
      change(db, changes);
      EXPECT_TRUE(db.flush().ok());
    });
  }

  /// One change in eight is a delete.
  void change(DB& db, std::uint64_t changes) {
    SplitMix64 random(run_);
    for (std::uint64_t i = 0; i < changes; ++i) {
      const std::uint64_t number = random.below(kKeys);
      if (random.below(8) == 0) {
        expected_.erase(key_of(number));
        EXPECT_TRUE(db.remove(key_of(number)).ok());
      } else {
        expected_[key_of(number)] = value_of(number, run_);
        EXPECT_TRUE(db.put(key_of(number), value_of(number, run_)).ok());
      }
    }
  }

  const std::string path_;
  std::uint64_t run_ = 0;
  Entries expected_;
};

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename() != "LOCK") files[entry.path().filename()] = bytes_of(entry.path());
  }
  return files;
}

/// One line per table.
std::string tables_text(const std::string& folder) {
  std::string text;
  for (const auto& [name, bytes] : files_of(folder)) {
    if (!name.ends_with(".tms")) continue;
    const Result<TableFile> table = TableFile::open(folder + "/" + name);
    EXPECT_TRUE(table.ok()) << table.status().to_text();
    if (!table.ok()) continue;
    EXPECT_TRUE(table->verify()->empty()) << name;
    text += fmt::format("{}: {} blocks, {}", name, table->blocks(), table->block(0)->codec);
    for (const TableFile::Property& property : table->properties()) {
      if (property.name == "entries" || property.name == "deletes" || property.name == "filter" ||
          property.name == "prefix rule") {
        text += fmt::format(", {} {}", property.name, property.text);
      }
    }
    text += '\n';
  }
  return text;
}

Entries entries_of(const DB& db) {
  Entries entries;
  Iterator all = db.scan();
  for (const auto& [key, value] : all) entries.emplace(key, value);
  EXPECT_TRUE(all.status().ok()) << all.status().to_text();
  return entries;
}

std::string entries_text(const Entries& entries) {
  std::string text;
  for (const auto& [key, value] : entries) {
    for (const unsigned char c : key) text += c >= ' ' && c <= '~' ? std::string(1, c) : fmt::format("\\x{:02x}", c);
    text += '\t' + value + '\n';
  }
  return text;
}

/// Scans, gets and multi_get find these entries and no others.
void expect_entries(const DB& db, const Entries& expected) {
  EXPECT_EQ(entries_of(db), expected);
  std::vector<std::string> keys;
  for (std::uint64_t number = 0; number < kKeys + 50; ++number) keys.push_back(key_of(number));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  const auto together = db.multi_get(views);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto entry = expected.find(keys[i]);
    const std::optional<std::string> value =
        entry == expected.end() ? std::nullopt : std::optional<std::string>(entry->second);
    EXPECT_EQ(db.get(keys[i]).value(), value) << keys[i];
    EXPECT_EQ(together[i].value(), value) << keys[i];
  }
  std::size_t towns = 0;
  Iterator inside = db.scan({.from = "town:", .to = "town;"});
  for (const auto& [key, value] : inside) towns += expected.at(std::string(key)) == value ? 1 : 0;
  EXPECT_EQ(towns, std::ranges::count_if(expected, [](const auto& entry) { return entry.first.starts_with("town:"); }));
}

class GoldenStore : public testing::Test {
 protected:
  void SetUp() override {
    if (makes_golden(golden_)) {
      const Entries written = StoreWriter(golden_).write();
      std::ofstream(golden_ + ".txt", std::ios::binary) << tables_text(golden_) << entries_text(written);
    }
    std::filesystem::copy(golden_, copy_);
  }
  Result<DB> open(const Options& options = {}) const { return DB::open(copy_, options); }

  const std::string golden_ = source_file("tests/golden/store-2");
  const ScratchFolder folder_;
  const std::string copy_ = folder_.path();
};

TEST_F(GoldenStore, IsOpenedVerifiedAndDumpedWithoutAChange) {
  const auto before = files_of(copy_);
  {
    const Result<DB> db = open({.read_only = true});
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    EXPECT_TRUE(db->verify()->problems.empty());
    EXPECT_EQ(tables_text(copy_) + entries_text(entries_of(*db)), bytes_of(golden_ + ".txt"));
    expect_entries(*db, entries_of(*db));
  }
  EXPECT_EQ(files_of(copy_), before);
}

TEST_F(GoldenStore, IsWrittenCompactedAndOpenedAgain) {
  Entries expected;
  {
    Result<DB> db = open();
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    expected = entries_of(*db);
    ASSERT_TRUE(db->put("new", "1").ok());
    ASSERT_TRUE(db->remove(key_of(1)).ok());
    expected["new"] = "1";
    expected.erase(key_of(1));
    ASSERT_TRUE(db->compact().ok());
    expect_entries(*db, expected);
    ASSERT_TRUE(db->put("newer", "2").ok());
    expected["newer"] = "2";
    ASSERT_TRUE(db->close().ok());
  }
  const Result<DB> db = open({.read_only = true});
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  EXPECT_TRUE(db->verify()->problems.empty());
  expect_entries(*db, expected);
}

/// The generator still writes a store with the same entries.
TEST_F(GoldenStore, IsWhatItsGeneratorWrites) {
  const Entries written = StoreWriter(folder_.path("again")).write();
  const Result<DB> db = open({.read_only = true});
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  EXPECT_EQ(entries_of(*db), written);
}

/// Never misread: neither by a store, nor by a repair, which leaves all of it alone.
TEST(GoldenStoreOfVersion1, IsRefusedByName) {
  const ScratchFolder folder;
  std::filesystem::copy(source_file("tests/golden/store-1"), folder.path());
  const auto before = files_of(folder.path());
  const std::string why = "CURRENT: format version 1, written before 0.2; this build reads version 2";
  for (const bool read_only : {false, true}) {
    const Status opened = DB::open(folder.path(), {.read_only = read_only}).status();
    EXPECT_EQ(opened.code(), StatusCode::kNotSupported);
    EXPECT_TRUE(opened.message().ends_with(why)) << opened.to_text();
  }
  const Status repaired = DB::repair(folder.path()).status();
  EXPECT_EQ(repaired.code(), StatusCode::kNotSupported);
  EXPECT_TRUE(repaired.message().ends_with(why)) << repaired.to_text();
  for (const auto& [name, bytes] : before) {
    if (!name.ends_with(".tms")) continue;
    EXPECT_EQ(TableFile::open(folder.path() + "/" + name).status().code(), StatusCode::kNotSupported) << name;
  }
  EXPECT_EQ(files_of(folder.path()), before);
}

}  // namespace
}  // namespace tamis::test
