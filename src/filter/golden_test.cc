// Freezes the container's bytes: one file per kind in tests/golden/filters, written once, then reproduced and read.
// Those in tests/golden/filters/unrounded are older: their rates have all bits of a double. They are only read.
// TAMIS_WRITE_GOLDEN=1 writes missing files; it never overwrites one.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>

#include "filter/filter_format.h"
#include "support/golden.h"
#include "tamis/filter.h"

namespace tamis {
namespace {

struct GoldenFilter {
  std::string name;
  FilterOptions options;
  int keys;
  std::string_view layout = "";

  friend void PrintTo(const GoldenFilter& golden, std::ostream* out) { *out << golden.name; }
};

std::vector<GoldenFilter> golden_filters() {
  std::vector<GoldenFilter> all;
  for (const FilterKindInfo& info : filter_kinds()) {
    all.push_back({std::string(info.name), {.kind = std::string(info.name), .target_rate = 0.01}, 200});
  }
  all.push_back({"partial-column", {.kind = "sliced", .target_rate = 0.003}, 5000});
  all.push_back({"fuse-of-four-bits", {.kind = "fuse", .target_rate = 0.1}, 200});
  all.push_back({"fuse-of-twelve-bits", {.kind = "fuse", .target_rate = 0.001}, 200});
  all.push_back({"few-keys", {.kind = "ribbon", .target_rate = 0.01}, 5});
  all.push_back({"list-of-five", {.kind = "line", .target_rate = 0.001}, 5, "list"});
  all.push_back({"empty", {.kind = "line", .target_rate = 0.01}, 0, "list"});
  FilterOptions keyed = {.kind = "line", .bits_per_key = 12.0, .prefix_rule = {PrefixRule::Kind::kFirst, 6}};
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 0) keyed.seed.key.emplace();
    (*keyed.seed.key)[i] = static_cast<std::byte>(i);
  }
  all.push_back({"keyed-prefix", keyed, 200});
  return all;
}

std::string key(int i) { return "key-" + std::to_string(i); }

void expect_keys(const Filter& filter, const GoldenFilter& golden) {
  EXPECT_EQ(filter.info().layout, golden.layout);
  for (int i = 0; i < golden.keys; ++i) ASSERT_TRUE(filter.may_contain(key(i)));
  int wrong = 0;
  for (int i = 1000; i < 11'000; ++i) wrong += filter.may_contain("stranger" + std::to_string(i)) ? 1 : 0;
  const bool is_often_wrong = golden.name == "keyed-prefix" || golden.name == "fuse-of-four-bits";
  EXPECT_LE(wrong, is_often_wrong ? 10'000 : 200);
}

class Golden : public testing::TestWithParam<GoldenFilter> {};

TEST_P(Golden, IsReproducedAndReadByThisBuild) {
  const GoldenFilter& golden = GetParam();
  const std::string path = source_file("tests/golden/filters/") + golden.name + ".tamis";
  FilterBuilder builder(golden.options);
  for (int i = 0; i < golden.keys; ++i) builder.add(key(i));
  const Result<Filter> built = builder.finish();
  ASSERT_TRUE(built.ok());
  if (test::makes_golden(path)) {
    ASSERT_TRUE(built->save(path).ok());
  }
  const Result<Filter> opened = Filter::open(path);
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  EXPECT_TRUE(as_text(opened->bytes()) == as_text(built->bytes()))
      << "this build writes other bytes than version 1 did";
  expect_keys(*opened, golden);
}

TEST(GoldenUnrounded, AreRead) {
  const std::string folder = source_file("tests/golden/filters/unrounded/");
  int read = 0;
  for (const GoldenFilter& golden : golden_filters()) {
    SCOPED_TRACE(golden.name);
    if (!std::filesystem::exists(folder + golden.name + ".tamis")) continue;
    const Result<Filter> opened = Filter::open(folder + golden.name + ".tamis");
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    EXPECT_NE(opened->info().designed_rate, rate_in_header(opened->info().designed_rate));
    expect_keys(*opened, golden);
    ++read;
  }
  EXPECT_EQ(read, 9);
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(golden_filters()), [](const auto& one) {
  std::string name = one.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace tamis
