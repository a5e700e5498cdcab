#include <gtest/gtest.h>

#include <string>

#include "compaction/policy.h"
#include "engine/option_values.h"
#include "table/codec.h"
#include "tamis/filter.h"
#include "tamis/options.h"

namespace tamis {
namespace {

std::string refusal(std::string_view name, std::string_view value) {
  Options options;
  const Status status = set_option(options, name, value);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << name << "=" << value;
  EXPECT_EQ(get_option(options, "memory_bytes"), get_option(Options(), "memory_bytes"));
  return std::string(status.message());
}

TEST(OptionTable, HasTheDocumentedNamesInTheirOrder) {
  std::string names;
  for (const OptionInfo& option : option_table()) names += std::string(option.name) + " ";
  EXPECT_EQ(names,
            "memory_bytes memtable_bytes block_bytes table_bytes codec codec_last filter filter_memory "
            "filter_reserve_percent prefix_rule range_filter_bits "
            "compaction value_bytes_apart fanout default_expiry merge_operator journal background_threads "
            "background_bytes_per_second direct_reads ");
}

TEST(OptionTable, EveryRowExplainsItselfAndItsDefaultIsAcceptedAndReadBack) {
  EXPECT_TRUE(check_options({}).ok());
  for (const OptionInfo& option : option_table()) {
    EXPECT_FALSE(option.range.empty()) << option.name;
    EXPECT_TRUE(option.effect.ends_with('.')) << option.name;
    EXPECT_FALSE(option.default_value.empty()) << option.name;
    Options options;
    EXPECT_TRUE(set_option(options, option.name, option.default_value).ok()) << option.name;
    EXPECT_EQ(get_option(options, option.name), option.default_value) << option.name;
  }
}

TEST(OptionTable, WhatGetOptionWritesSetOptionReads) {
  Options options;
  const std::pair<const char*, const char*> values[] = {{"memory_bytes", "65MiB"},
                                                        {"memtable_bytes", "99999"},
                                                        {"block_bytes", "16KiB"},
                                                        {"table_bytes", "16MiB"},
                                                        {"codec", "none"},
                                                        {"filter", "ribbon"},
                                                        {"filter_memory", "77KiB"},
                                                        {"prefix_rule", "until:0x00"},
                                                        {"fanout", "4"},
                                                        {"default_expiry", "90s"},
                                                        {"default_expiry", "250ms"},
                                                        {"default_expiry", "never"},
                                                        {"default_expiry", "7d"},
                                                        {"background_threads", "1"},
                                                        {"journal", "write"},
                                                        {"filter_memory", "auto"},
                                                        {"prefix_rule", "first:8"},
                                                        {"filter", "none"},
                                                        {"compaction", "manual"},
                                                        {"codec_last", "zstd"},
                                                        {"filter_memory", "0"}};
  for (const auto& [name, value] : values) {
    EXPECT_TRUE(set_option(options, name, value).ok()) << name;
    EXPECT_EQ(get_option(options, name), value);
    Options again;
    EXPECT_TRUE(set_option(again, name, get_option(options, name)).ok()) << name;
    EXPECT_EQ(get_option(again, name), value);
  }
  EXPECT_EQ(options.memory_bytes, std::uint64_t{65} << 20);
  EXPECT_EQ(options.block_bytes, 16384U);
  EXPECT_EQ(options.filter_memory, 0U);
  EXPECT_TRUE(check_options(options).ok());
}

TEST(OptionTable, WordsComeFromTheRegistries) {
  Options options;
  for (const Codec& codec : codecs()) EXPECT_TRUE(set_option(options, "codec", codec.name).ok());
  for (const CompactionPolicy& policy : compaction_policies()) {
    EXPECT_TRUE(set_option(options, "compaction", policy.name).ok());
  }
  for (const FilterKindInfo& kind : filter_kinds()) EXPECT_TRUE(set_option(options, "filter", kind.name).ok());
}

TEST(OptionTable, AnUnknownNameIsAnsweredWithTheNearest) {
  EXPECT_NE(refusal("memory_byte", "1G").find("did you mean 'memory_bytes'?"), std::string::npos);
  EXPECT_NE(refusal("codec-last", "lz4").find("did you mean 'codec_last'?"), std::string::npos);
  EXPECT_NE(refusal("zzzzzzzzzzzzzzz", "1").find("fanout"), std::string::npos);
  EXPECT_NE(refusal("", "1").find("unknown option ''"), std::string::npos);
}

TEST(OptionTable, ARefusedValueIsNamedWithItsRangeAndChangesNothing) {
  for (const char* value : {"", "0", "-1", "262143", "64MB", "64 MiB", "MiB", "1e9", "99999999999999999999", "2TiB"}) {
    const std::string message = refusal("memory_bytes", value);
    EXPECT_NE(message.find("memory_bytes"), std::string::npos) << message;
    EXPECT_NE(message.find("256KiB to 1TiB"), std::string::npos) << message;
  }
  for (const char* value : {"1023", "61441", "4294968320", "x"}) {
    EXPECT_NE(refusal("block_bytes", value).find("1KiB to 60KiB"), std::string::npos);
  }
  for (const char* value : {"1", "101", "2.5", "4294967306"}) {
    EXPECT_NE(refusal("fanout", value).find("2 to 100"), std::string::npos);
  }
  EXPECT_NE(refusal("filter", "blom").find("ribbon"), std::string::npos);
  EXPECT_NE(refusal("prefix_rule", "first:0").find("until:C"), std::string::npos);
  EXPECT_NE(refusal("filter_memory", "some").find("auto"), std::string::npos);
}

TEST(OptionTable, CheckOptionsSeesWhatWasSetWithoutItsName) {
  const auto code = [](const Options& options) { return check_options(options).code(); };
  EXPECT_EQ(code({.memory_bytes = 5}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.block_bytes = 64 * 1024}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.codec = "gzip"}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.background_threads = 65}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.prefix_rule = {PrefixRule::Kind::kFirst, 0}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.memory_bytes = 1 << 20, .filter_memory = 2 << 20}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.memory_bytes = 1 << 20, .filter_memory = 1 << 20}), StatusCode::kOk);
  EXPECT_EQ(code({.error_if_exists = true, .read_only = true}), StatusCode::kInvalidArgument);
}

TEST(OptionValues, SizesAreReadWholly) {
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("64K"), 65536U);
  EXPECT_EQ(parse_size("64KiB"), 65536U);
  EXPECT_EQ(parse_size("64kib"), 65536U);
  EXPECT_EQ(parse_size("1g"), std::uint64_t{1} << 30);
  EXPECT_EQ(parse_size("1G"), std::uint64_t{1} << 30);
  EXPECT_EQ(parse_size("16777215TiB"), std::uint64_t{16777215} << 40);
  EXPECT_EQ(parse_size("16777216TiB"), std::nullopt);
  EXPECT_EQ(parse_size("18446744073709551615"), 18446744073709551615U);
  for (const char* text : {"", "K", "-1", "+1", " 1", "1 ", "1KB", "1KI", "0x10", "1.5M", "18446744073709551616"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
}

TEST(OptionValues, SizesAreWrittenAsTheyAreRead) {
  for (const std::uint64_t bytes : {0ULL, 1ULL, 1023ULL, 1024ULL, 1025ULL, 1ULL << 30, 3ULL << 41, ~0ULL}) {
    EXPECT_EQ(parse_size(size_text(bytes)), bytes);
  }
  EXPECT_EQ(size_text(std::uint64_t{256} << 20), "256MiB");
}

}  // namespace
}  // namespace tamis
