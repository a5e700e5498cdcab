// Fuzzers start from their seeds: every format and kind needs one, or seconds of fuzzing may miss it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "support/source_file.h"
#include "tamis/filter.h"
#include "tamis/foreign.h"

namespace tamis {
namespace {

/// Which of `count` things the first bytes of the seeds select.
std::set<std::size_t> chosen(const std::string& fuzzer, std::size_t count) {
  std::set<std::size_t> chosen;
  const std::filesystem::path folder = source_file("fuzz/corpus/" + fuzzer);
  for (const auto& seed : std::filesystem::directory_iterator(folder)) {
    const int first = std::ifstream(seed.path(), std::ios::binary).get();
    if (first >= 0) chosen.insert(static_cast<std::size_t>(first) % count);
  }
  return chosen;
}

TEST(FuzzSeeds, EveryForeignFormatHasOne) {
  const auto formats = foreign::formats();
  const std::set<std::size_t> seeds = chosen("foreign_format_fuzz", formats.size());
  for (std::size_t i = 0; i < formats.size(); ++i) {
    const bool has_own_fuzzer = formats[i].name == "leveldb-table";
    EXPECT_TRUE(has_own_fuzzer || seeds.contains(i)) << formats[i].name;
  }
  EXPECT_FALSE(chosen("leveldb_table_format_fuzz", 1).empty());
}

TEST(FuzzSeeds, EveryFilterKindHasOne) {
  const auto kinds = filter_kinds();
  const std::set<std::size_t> seeds = chosen("filter_build_fuzz", kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_TRUE(seeds.contains(i)) << kinds[i].name;
    const std::string golden = source_file("tests/golden/filters/").append(kinds[i].name);
    EXPECT_TRUE(std::filesystem::exists(golden + ".tamis")) << "filter_format_fuzz begins at " << golden;
  }
}

}  // namespace
}  // namespace tamis
