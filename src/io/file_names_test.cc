#include "io/file_names.h"

#include <gtest/gtest.h>

#include <limits>

namespace tamis {
namespace {

TEST(FileNames, PathsAreTheDocumentedOnes) {
  EXPECT_EQ(current_path("/store"), "/store/CURRENT");
  EXPECT_EQ(lock_path("/store/"), "/store/LOCK");
  EXPECT_EQ(lost_path("s"), "s/lost");
  EXPECT_EQ(counters_path("s"), "s/COUNTERS");
  EXPECT_EQ(manifest_path("s", 1), "s/MANIFEST-000001");
  EXPECT_EQ(journal_path("s", 12), "s/000012.journal");
  EXPECT_EQ(table_path("s", 13), "s/000013.tms");
  EXPECT_EQ(value_file_path("s", 17), "s/000017.values");
  EXPECT_EQ(table_path("s", 1'234'567), "s/1234567.tms");
}

TEST(FileNames, EveryNumberedNameComesBack) {
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{999'999},
                                     std::uint64_t{1'000'000}, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(parse_file_name(manifest_path("", number)), (FileName{FileKind::kManifest, number}));
    EXPECT_EQ(parse_file_name(journal_path("", number)), (FileName{FileKind::kJournal, number}));
    EXPECT_EQ(parse_file_name(table_path("", number)), (FileName{FileKind::kTable, number}));
    EXPECT_EQ(parse_file_name(value_file_path("", number)), (FileName{FileKind::kValues, number}));
  }
}

TEST(FileNames, FixedNamesHaveTheirKinds) {
  EXPECT_EQ(parse_file_name("CURRENT"), (FileName{FileKind::kCurrent, 0}));
  EXPECT_EQ(parse_file_name("LOCK"), (FileName{FileKind::kLock, 0}));
  EXPECT_EQ(parse_file_name("lost"), (FileName{FileKind::kLost, 0}));
  EXPECT_EQ(parse_file_name("COUNTERS"), (FileName{FileKind::kCounters, 0}));
}

TEST(FileNames, ATemporaryNameIsOneOfOursWithTmpBehindIt) {
  for (const char* name : {"CURRENT.tmp", "MANIFEST-000007.tmp", "000012.journal.tmp", "000013.tms.tmp"}) {
    EXPECT_EQ(parse_file_name(name), (FileName{FileKind::kTemporary, 0})) << name;
  }
  for (const char* name :
       {"notes.tmp", ".tmp", "CURRENT.tmp.tmp", "12.tms.tmp", "LOG.tmp", "LOCK.tmp", "lost.tmp", "COUNTERS.tmp"}) {
    EXPECT_FALSE(parse_file_name(name)) << name;
  }
}

TEST(FileNames, NamesThatAreNotOursAreNone) {
  const auto expect_none = [](std::initializer_list<const char*> names) {
    for (const char* name : names) EXPECT_FALSE(parse_file_name(name)) << name;
  };
  expect_none({"", "lost+found", "notes.txt", "LOG", "LOG.old", "STATS", "IDENTITY", "current", "CURRENT "});
  expect_none({"MANIFEST-", "MANIFEST-00001", "MANIFEST-0000001", "MANIFEST-00001x", "MANIFEST--00001", "12.journal"});
  expect_none({".journal", "0000012.tms", "+00012.tms", "000012.TMS", "18446744073709551616.tms", "000012.tms~"});
  expect_none({"a000012.tms", "000012"});
}

}  // namespace
}  // namespace tamis
