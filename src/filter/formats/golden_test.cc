// Tests with files that other systems wrote: tests/golden/foreign/index.json lists their keys, probes and answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "support/golden_files.h"

namespace tamis::foreign {
namespace {

using nlohmann::json;

/// The build parameters of an entry.
BuildOptions build_options(const json& entry) {
  const json& params = entry["params"];
  BuildOptions options = {.format = entry["format"]};
  if (params.contains("n")) options.expected_keys = params["n"];
  if (params.contains("fp")) options.fpr = params["fp"];
  if (params.contains("fpp_or_bits")) options.fpr = std::stod(params["fpp_or_bits"].get<std::string>());
  if (params.contains("m")) options.bits = params["m"];
  if (params.contains("k")) options.hashes = params["k"];
  if (params.contains("words")) options.words = params["words"];
  if (params.contains("blocks")) options.blocks = params["blocks"];
  if (params.contains("bits_per_key")) options.bits_per_key = params["bits_per_key"];
  if (params.contains("seed")) options.seed = params["seed"];
  if (params.contains("item")) options.item = params["item"];
  if (params.contains("variant")) options.variant = params["variant"];
  return options;
}

/// Same with only what a user would give: the format's rules decide the size.
BuildOptions build_options_by_rule(const json& entry) {
  BuildOptions options = build_options(entry);
  if (!options.fpr && !options.bits_per_key) return options;
  options.bits.reset();
  options.hashes.reset();
  options.words.reset();
  return options;
}

/// Calls check(filter, entry) for each file, opened with the options of its entry.
template <typename Check>
void for_each_filter(Check check) {
  ASSERT_GE(golden_index("filters").size(), 83U);
  for (const json& entry : golden_index("filters")) {
    SCOPED_TRACE(entry["id"].get<std::string>());
    const auto filter = ForeignFilter::open(golden_path(entry["file"].get<std::string>()), golden_open_options(entry));
    ASSERT_TRUE(filter.ok()) << filter.status().to_text();
    check(*filter, entry);
  }
}

TEST(Golden, EveryMemberAnswersMaybe) {
  for_each_filter([](const ForeignFilter& filter, const json& entry) {
    const std::vector<std::string> keys = golden_keys(entry["keys"].get<std::string>());
    EXPECT_GT(keys.size(), 0U);
    EXPECT_EQ(std::count_if(keys.begin(), keys.end(), [&](const auto& key) { return !filter.may_contain(key); }), 0);
  });
}

/// A file that no test reads proves nothing.
TEST(Golden, EveryFileIsNamedByTheIndex) {
  const std::string index = golden_bytes("index.json");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(golden_path(""))) {
    const std::string name = entry.path().lexically_relative(golden_path("")).string();
    if (entry.is_directory() || name == "index.json" || name == "vectors.json" || name == "LICENSE.md") continue;
    EXPECT_NE(index.find('"' + name + '"'), std::string::npos) << name;
  }
}

TEST(Golden, EveryProbeAnswersAsTheOriginal) {
  std::size_t probes_made = 0;
  for_each_filter([&](const ForeignFilter& filter, const json& entry) {
    const std::vector<std::string> probes = golden_keys(entry["probes"].get<std::string>());
    const std::vector<std::string> answers = golden_lines(entry["answers"].get<std::string>());
    ASSERT_EQ(probes.size(), answers.size());
    std::size_t differences = 0;
    for (std::size_t i = 0; i < probes.size(); ++i) differences += filter.may_contain(probes[i]) != (answers[i] == "1");
    EXPECT_EQ(differences, 0U) << "of " << probes.size();
    probes_made += probes.size();
    if (entry.contains("empty_key") && !entry["empty_key"].is_null()) {
      EXPECT_EQ(filter.may_contain(""), entry["empty_key"].get<bool>());
    }
  });
  EXPECT_GT(probes_made, 100'000U);
}

TEST(Golden, InfoTellsTheParametersAndTheKeys) {
  for_each_filter([](const ForeignFilter& filter, const json& entry) {
    const ForeignInfo info = filter.info();
    EXPECT_EQ(info.format, entry["format"].get<std::string>());
    EXPECT_EQ(info.bytes, entry["bytes"].get<std::uint64_t>());
    const std::map<std::string, std::uint64_t> told = {
        {"m", info.bits}, {"words", info.bits / 64}, {"bitset_bytes", info.bits / 8}, {"k", info.hashes}};
    for (const auto& [name, value] : told) EXPECT_EQ(value, entry["params"].value(name, value)) << name;
    EXPECT_GT(info.fill, 0);
    EXPECT_LT(info.fill, 1);
    EXPECT_LT(info.estimated_rate, 0.8);
    const auto members = entry["members"].get<double>();
    EXPECT_NEAR(info.estimated_keys / members, 1.0, members < 100 ? 1 : 0.15);
  });
}

TEST(Golden, WritableFilesAreReproducedByteForByte) {
  std::size_t built = 0;
  for (const json& entry : golden_index("filters")) {
    if (!entry["params"].value("writable", false)) continue;
    SCOPED_TRACE(entry["id"].get<std::string>());
    const std::vector<std::string> keys = golden_keys(entry["keys"].get<std::string>());
    const std::string expected = golden_bytes(entry["file"].get<std::string>());
    for (const BuildOptions& options : {build_options(entry), build_options_by_rule(entry)}) {
      const Result<std::string> file = build(keys, options);
      ASSERT_TRUE(file.ok()) << file.status().to_text();
      EXPECT_EQ(file->size(), expected.size());
      EXPECT_TRUE(*file == expected);
    }
    ++built;
  }
  EXPECT_GE(built, 48U);
}

TEST(Golden, GuessingFindsTheFormatOrNamesIt) {
  std::size_t found = 0;
  std::size_t named = 0;
  for (const json& entry : golden_index("filters")) {
    const std::string id = entry["id"];
    SCOPED_TRACE(id);
    OpenOptions options = golden_open_options(entry);
    const std::string format = std::exchange(options.format, "");
    const auto filter = ForeignFilter::open(golden_path(entry["file"].get<std::string>()), options);
    if (!filter.ok()) {
      EXPECT_EQ(filter.status().code(), StatusCode::kInvalidArgument);
      EXPECT_NE(filter.status().message().find(format), std::string_view::npos) << filter.status().to_text();
      ++named;
    } else if (id.find("mislabelled") == std::string::npos) {
      EXPECT_EQ(filter->info().format, format);
      ++found;
    }
  }
  EXPECT_GE(found, 55U);
  EXPECT_GE(named, 10U);
}

TEST(Golden, CassandraFiltersAreRebuiltFromTheirIndex) {
  ASSERT_GE(golden_index("rebuild").size(), 4U);
  for (const json& entry : golden_index("rebuild")) {
    SCOPED_TRACE(entry["id"].get<std::string>());
    const std::string index = golden_path(entry["index"].get<std::string>());
    const std::string expected_path = entry["expect"];
    const auto keys = cassandra_index_keys(index);
    ASSERT_TRUE(keys.ok()) << keys.status().to_text();
    EXPECT_EQ(keys->size(), entry["keys"].get<std::size_t>());
    const RebuildOptions by_rate = {
        .format = entry["format"], .expected_keys = entry["n"].get<std::uint64_t>(), .fpr = entry["fp"].get<double>()};
    for (const RebuildOptions& options : {by_rate, RebuildOptions{.like = golden_path(expected_path)}}) {
      const Result<std::string> file = cassandra_rebuild(index, options);
      ASSERT_TRUE(file.ok()) << file.status().to_text();
      EXPECT_TRUE(*file == golden_bytes(expected_path));
    }
  }
}

TEST(Golden, VerifyTellsSoundFromMislabelledAndRebuildingMakesTheSame) {
  ASSERT_GE(golden_index("verify").size(), 18U);
  for (const json& entry : golden_index("verify")) {
    SCOPED_TRACE(entry["id"].get<std::string>());
    const std::string filter = golden_path(entry["filter"].get<std::string>());
    const std::string index = golden_path(entry["index"].get<std::string>());
    const auto report = cassandra_verify(filter, index);
    ASSERT_TRUE(report.ok()) << report.status().to_text();
    EXPECT_EQ(to_string(report->verdict), entry["verdict"].get<std::string>());
    EXPECT_EQ(report->implied_format, entry["implied_format"].get<std::string>());
    EXPECT_EQ(report->missing.size(), entry["missing_with_implied"].get<std::size_t>());
    const std::string actual = entry["actual_format"];
    EXPECT_EQ(std::count(report->fitting_formats.begin(), report->fitting_formats.end(), actual), 1);
    EXPECT_GT(report->keys, 0U);
    const auto file = cassandra_rebuild(index, {.format = actual, .like = filter});
    ASSERT_TRUE(file.ok()) << file.status().to_text();
    EXPECT_TRUE(*file == golden_bytes(entry["filter"].get<std::string>()));
  }
}

TEST(Golden, DamagedFilesAnswerAsSpecified) {
  ASSERT_GE(golden_index("damaged").size(), 16U);
  for (const json& entry : golden_index("damaged")) {
    SCOPED_TRACE(entry["id"].get<std::string>());
    const auto filter = ForeignFilter::open(golden_path(entry["file"].get<std::string>()), golden_open_options(entry));
    const std::string expect = entry["expect"];
    if (expect == "error") {
      ASSERT_FALSE(filter.ok());
      EXPECT_EQ(filter.status().code(), StatusCode::kCorruption) << filter.status().to_text();
      continue;
    }
    ASSERT_TRUE(filter.ok()) << filter.status().to_text();
    ASSERT_TRUE(expect == "all-true" || expect == "all-false") << expect;
    for (const std::string& probe : golden_keys(entry["probes"].get<std::string>())) {
      ASSERT_EQ(filter->may_contain(probe), expect == "all-true");
    }
  }
}

}  // namespace
}  // namespace tamis::foreign
