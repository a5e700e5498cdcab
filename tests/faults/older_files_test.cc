// A bad restore: a file of the store replaces a newer one.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/store_workload.h"
#include "faults/store_damage.h"
#include "support/figures.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

/// One store after each of its clean closes: continued journals, new journals, tables that come and go.
std::vector<ClosedStore> make_generations(std::uint64_t seed, const Options& options) {
  std::vector<ClosedStore> generations;
  CrashFileSystem files;
  SplitMix64 random(seed);
  Content content;
  for (const std::string_view steps : {"pp", "pppp", "ppfpp", "pp", "pfppfpfpp", "pppcp", "pfp"}) {
    Result<DB> db = DB::open(std::string(kStore), options, environment_on(files, seed + generations.size()));
    EXPECT_TRUE(db.ok()) << db.status().to_text();
    for (const char step : steps) {
      const std::string key = fmt::format("key{:02}", random.below(20));
      const std::string value = fmt::format("{} {}", generations.size(), random.next());
      if (step == 'p') content[key] = value;
      EXPECT_TRUE((step == 'p' ? db->put(key, value) : step == 'f' ? db->flush() : db->compact()).ok());
    }
    EXPECT_TRUE(db->close().ok());
    ClosedStore store{.disk = files.disk(), .options = options, .content = content, .probed = {}};
    for (int i = 0; i < 21; ++i) store.probed.push_back(fmt::format("key{:02}", i));
    generations.push_back(std::move(store));
  }
  return generations;
}

/// Each file under its own name, and every older one of its kind under that name.
DamageCounts put_older_files_back(const Options& options) {
  const std::vector<ClosedStore> generations = make_generations(base_seed(7), options);
  DamageCounts counts;
  for (std::size_t now = 1; now < generations.size(); ++now) {
    const ClosedStore& store = generations[now];
    for (std::size_t then = 0; then <= now; ++then) {
      for (const std::string& older : generations[then].files()) {
        for (const std::string& path : store.files()) {
          if (kind_of(path) != kind_of(older) || generations[then].bytes_of(older) == store.bytes_of(path)) continue;
          const std::string what = fmt::format("{} of close {} instead of that of close {}", older, then, now);
          read_damaged(
              store, path, what,
              [&](CachedFile& file) {
                const Bytes bytes = as_bytes(generations[then].bytes_of(older));
                file.resize(0);
                file.write(0, std::span(&bytes, 1));
              },
              counts);
        }
      }
    }
  }
  fmt::print("{} files swapped: {} refused, {} reported, {} unnoticed and right\n", counts.tried, counts.refused,
             counts.told, counts.unnoticed);
  return counts;
}

TEST(OlderFiles, P1_P3_OneInThePlaceOfANewerOneGivesNoWrongAnswer) {
  DamageCounts counts = put_older_files_back({});
  EXPECT_EQ(counts.violations.size(), 0U) << first_few(counts.violations);
  for (const char* kind : {".journal", ".tms", "CURRENT", "MANIFEST"})
    EXPECT_GT(counts.tried_by_kind[kind], 5U) << kind;
  EXPECT_EQ(counts.unnoticed_by_kind[".journal"], 0U);
}

TEST(OlderFiles, P3_Rule41_OfValuesIsRefused) {
  DamageCounts counts = put_older_files_back({.value_bytes_apart = 1});
  EXPECT_EQ(counts.violations.size(), 0U) << first_few(counts.violations);
  // Unnoticed: nothing in the file is the newest value of its key.
  EXPECT_GT(counts.tried_by_kind[".values"], 2 * counts.unnoticed_by_kind[".values"]);
}

/// The first journal, free by then, in place of the last one.
TEST(OlderFiles, Rule22_RepairTellsOfAnotherJournalUnderTheName) {
  const std::vector<ClosedStore> generations = make_generations(base_seed(7), {});
  const auto journal_of = [](const ClosedStore& store) {
    std::string last;
    for (const std::string& path : store.files()) last = kind_of(path) == ".journal" ? path : last;
    return last;
  };
  const std::string path = journal_of(generations.back());
  MemoryDisk disk = generations.back().disk;
  CachedFile& file = disk.file(disk.names().at(path));
  const Bytes older = as_bytes(generations[0].bytes_of(journal_of(generations[0])));
  file.resize(0);
  file.write(0, std::span(&older, 1));
  CrashFileSystem files(std::move(disk));
  const Result<RepairReport> report = DB::repair(std::string(kStore), true, environment_on(files, 5));
  ASSERT_TRUE(report.ok()) << report.status().to_text();
  ASSERT_EQ(report->lost.size(), 1U) << report->to_text();
  EXPECT_EQ(kind_of(report->lost[0].file), ".journal");
  EXPECT_NE(report->lost[0].what.find("another journal"), std::string::npos) << report->to_text();
}

}  // namespace
}  // namespace tamis::test
