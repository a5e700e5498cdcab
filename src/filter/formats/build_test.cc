// Building foreign filters: invalid parameters, sizes by the original systems' rules, and the empty set.
#include <gtest/gtest.h>

#include <limits>

#include "support/golden_files.h"

namespace tamis::foreign {
namespace {

const std::vector<std::string> kKeys = {"a", "b", "c"};

std::vector<std::string_view> writable_formats() {
  std::vector<std::string_view> names;
  for (const FormatInfo& format : formats()) {
    if (format.writable) names.push_back(format.name);
  }
  return names;
}

StatusCode code_of(const BuildOptions& options) { return build(kKeys, options).status().code(); }

TEST(Registry, NamesEveryFormatOnce) {
  const std::vector<std::string_view> expected = {"cassandra-new", "cassandra-old", "cassandra-old-h1h2",
                                                  "rocksdb-sst",   "rocksdb-raw",   "leveldb-table",
                                                  "leveldb-raw",   "badger",        "spark",
                                                  "guava",         "parquet",       "sbbf-thrift",
                                                  "sbbf",          "go-bloom",      "go-bloom-json",
                                                  "go-article",    "go-article-le", "go-article-json",
                                                  "lab",           "lesson",        "pychapter"};
  std::vector<std::string_view> names;
  for (const FormatInfo& format : formats()) {
    names.push_back(format.name);
    EXPECT_FALSE(format.system.empty());
    EXPECT_FALSE(format.summary.empty());
    EXPECT_EQ(format.build_parameters.empty(), !format.writable) << format.name;
  }
  EXPECT_EQ(names, expected);
}

TEST(Build, UnknownAndReadOnlyFormatsAreRefused) {
  EXPECT_EQ(code_of({.format = "bloomy"}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({}), StatusCode::kInvalidArgument);
  for (const char* format : {"rocksdb-sst", "leveldb-table", "parquet"}) {
    EXPECT_EQ(code_of({.format = format}), StatusCode::kNotSupported) << format;
  }
}

TEST(Build, DefaultsMakeAFilterThatHoldsItsKeysAndWithoutKeysAnswersNo) {
  for (const std::string_view format : writable_formats()) {
    for (const std::vector<std::string>& keys : {kKeys, std::vector<std::string>()}) {
      SCOPED_TRACE(format);
      const BuildOptions options = {.format = std::string(format)};
      const auto file = build(keys, options);
      ASSERT_TRUE(file.ok()) << file.status().to_text();
      const auto filter = ForeignFilter::from_bytes(as_bytes(*file), *open_options_of_built(keys.size(), options));
      ASSERT_TRUE(filter.ok()) << filter.status().to_text();
      for (const std::string& key : kKeys) EXPECT_EQ(filter->may_contain(key), !keys.empty());
      EXPECT_EQ(filter->info().estimated_keys == 0, keys.empty());
    }
  }
  const auto legacy = build({}, {.format = "rocksdb-raw", .variant = "4"});
  ASSERT_TRUE(legacy.ok());
  EXPECT_EQ(*legacy, std::string("\x06\0\0\0\0", 5));
}

TEST(Build, ImpossibleRatesAreRefused) {
  std::size_t tried = 0;
  for (const std::string_view format : writable_formats()) {
    for (const double rate : {0.0, -1.0, 2.0, std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
      EXPECT_EQ(code_of({.format = std::string(format), .fpr = rate}), StatusCode::kInvalidArgument)
          << format << " " << rate;
      ++tried;
    }
    const bool one_is_fine = format.starts_with("cassandra");
    EXPECT_EQ(code_of({.format = std::string(format), .fpr = 1.0}) == StatusCode::kOk, one_is_fine) << format;
  }
  EXPECT_GT(tried, 100U);
}

TEST(Build, AbsurdSizesAreRefused) {
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  for (const std::string_view name : writable_formats()) {
    const std::string format(name);
    for (const std::uint64_t number : {std::uint64_t{0}, kHuge, kHuge / 64, kHuge / 64 + 1, std::uint64_t{1} << 40}) {
      SCOPED_TRACE(format + " " + std::to_string(number));
      EXPECT_NE(code_of({.format = format, .hashes = number}), StatusCode::kOk);
      if (number != 0 || !format.starts_with("cassandra")) {
        EXPECT_NE(code_of({.format = format, .bits = number, .hashes = 3}), StatusCode::kOk);
      }
      EXPECT_NE(code_of({.format = format, .hashes = 3, .words = number}), StatusCode::kOk);
      EXPECT_NE(code_of({.format = format, .blocks = number}), StatusCode::kOk);
    }
    for (const double bits_per_key : {0.0, -3.0, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
      EXPECT_EQ(code_of({.format = format, .bits_per_key = bits_per_key}), StatusCode::kInvalidArgument) << format;
    }
    EXPECT_EQ(code_of({.format = format, .expected_keys = kHuge}), StatusCode::kInvalidArgument) << format;
  }
}

TEST(Build, ParametersAFormatHasNoUseForAreRefused) {
  EXPECT_EQ(code_of({.format = "lab", .blocks = 3}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({.format = "lab", .seed = 3}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({.format = "lesson", .fpr = 0.01}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({.format = "leveldb-raw", .bits_per_key = 9.5}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({.format = "guava", .variant = "65"}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({.format = "guava", .variant = "32"}), StatusCode::kNotSupported);
  EXPECT_EQ(code_of({.format = "rocksdb-raw", .variant = "6"}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({.format = "spark", .variant = "V3"}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({.format = "spark", .seed = 1, .variant = "V1"}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({.format = "spark", .seed = std::int64_t{1} << 31}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({.format = "spark", .seed = -(std::int64_t{1} << 31)}), StatusCode::kOk);
  EXPECT_EQ(code_of({.format = "lab", .item = "float"}), StatusCode::kInvalidArgument);
}

TEST(Build, LongsAreDecimalTextOrTheirBytes) {
  EXPECT_EQ(*item_bytes("-2", "long"), "\xfe\xff\xff\xff\xff\xff\xff\xff");
  EXPECT_EQ(*item_bytes("258", "long"), std::string("\x02\x01\0\0\0\0\0\0", 8));
  EXPECT_EQ(*item_bytes("\x80zzzzzzz", "long"), "\x80zzzzzzz");
  EXPECT_EQ(*item_bytes("12", "string"), "12");
  for (const char* text : {"", "-", "1.5", "9223372036854775808", "12 ", "seven"}) {
    EXPECT_EQ(item_bytes(text, "long").status().code(), StatusCode::kInvalidArgument) << text;
  }
  const std::vector<std::string> text = {"1", "-1"};
  const std::vector<std::string> raw = {std::string("\x01\0\0\0\0\0\0\0", 8), std::string(8, '\xff')};
  EXPECT_EQ(*build(text, {.format = "spark", .item = "long"}), *build(raw, {.format = "spark", .item = "long"}));
}

TEST(Build, BadgerTakesItsHashesForBits) {
  const std::vector<std::string> keys = golden_keys("keys/mixed-1000.keys.hex");
  const auto by_rate = build(keys, {.format = "badger", .fpr = 0.01});
  ASSERT_TRUE(by_rate.ok());
  EXPECT_TRUE(*by_rate == golden_bytes("badger/mixed-1000-fp0.01.filter"));
}

TEST(Build, GoSizesAsItsLibraryDoes) {
  const std::vector<std::string> keys = golden_keys("keys/mixed-1000.keys.hex");
  const auto file = build(keys, {.format = "go-bloom", .expected_keys = 1000, .fpr = 0.01});
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(*file == golden_bytes("go/bloom-mixed-1000-np1000-0.01.bin"));
}

TEST(Build, ThePythonChaptersWorkedExample) {
  const std::vector<std::string> keys = {"age",   "city", "email", "locale", "name",
                                         "phone", "role", "state", "views",  "zip"};
  const auto file = build(keys, {.format = "pychapter", .bits = 100, .hashes = 7});
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(*file, from_hex("a6a3cca059235aab4ae2ec6a0e"));
}

TEST(Build, TheOrderOfKeysDoesNotMatterToATableFilter) {
  std::vector<std::string> keys = golden_keys("keys/mixed-1000.keys.hex");
  const auto sorted = build(keys, {.format = "rocksdb-raw"});
  std::reverse(keys.begin(), keys.end());
  keys.push_back(keys.front());  // A second version of a key adds nothing.
  EXPECT_EQ(*build(keys, {.format = "rocksdb-raw"}), *sorted);
}

/// Every pair of formats: convert_to writes what a build writes from the same keys and size.
TEST(Convert, WritesWhatABuildWouldOrSaysThatItCannot) {
  int converted = 0;
  for (const std::string_view from : writable_formats()) {
    BuildOptions options = {.format = std::string(from)};
    const Result<std::string> file = build(kKeys, options);
    ASSERT_TRUE(file.ok()) << file.status().to_text();
    const Result<OpenOptions> open = open_options_of_built(kKeys.size(), options);
    const Result<ForeignFilter> filter = ForeignFilter::from_bytes(as_bytes(*file), *open);
    ASSERT_TRUE(filter.ok()) << filter.status().to_text();
    for (const FormatInfo& to : formats()) {
      const Result<std::string> bytes = filter->convert_to(to.name);
      if (!bytes.ok()) {
        EXPECT_EQ(bytes.status().code(), StatusCode::kNotSupported) << from << " to " << to.name;
        continue;
      }
      options.format = to.name;
      EXPECT_EQ(*bytes, *build(kKeys, options)) << from << " to " << to.name;
      ++converted;
    }
  }
  EXPECT_EQ(converted, 4 + 1 + 4 + 4 + 9) << "cassandra, its oldest layout, sbbf, go-bloom, go-article";
}

/// Files written by the original systems answer the same after conversion there and back.
TEST(Convert, KeepsEveryAnswerOfTheOriginal) {
  int converted = 0;
  for (const nlohmann::json& entry : golden_index("filters")) {
    const OpenOptions open = golden_open_options(entry);
    const std::string name = entry["file"];
    const Result<ForeignFilter> filter = ForeignFilter::open(golden_path(name), open);
    ASSERT_TRUE(filter.ok()) << filter.status().to_text();
    for (const std::string_view to : writable_formats()) {
      const Result<std::string> bytes = filter->convert_to(to);
      if (!bytes.ok()) continue;
      const auto other =
          ForeignFilter::from_bytes(as_bytes(*bytes), {.format = std::string(to), .hashes = filter->info().hashes});
      ASSERT_TRUE(other.ok()) << name << " to " << to << ": " << other.status().to_text();
      for (const std::string& key : golden_keys(entry["probes"].get<std::string>())) {
        ASSERT_EQ(other->may_contain(key), filter->may_contain(key)) << name << " to " << to;
      }
      ++converted;
    }
  }
  EXPECT_GE(converted, 50);
}

}  // namespace
}  // namespace tamis::foreign
