#include "filter/filter_log_format.h"

#include <gtest/gtest.h>

#include "support/golden.h"

namespace tamis {
namespace {

constexpr std::uint64_t kSeed = 0x5a5a;

std::string golden_log() {
  std::string log;
  append_filter_log_record(log, {FilterChange::kAdd, 0, {1, 2}}, kSeed, 0);
  append_filter_log_record(log, {FilterChange::kRemove, 40, {2}}, kSeed, 40);
  return log;
}

/// The records up to the end, and whether it is torn.
Result<std::vector<FilterLogRecord>> read(std::string_view log, bool* is_torn = nullptr) {
  FilterLogReader reader(as_bytes(log), 0, kSeed, "log");
  std::vector<FilterLogRecord> records;
  for (;;) {
    const Result<std::optional<FilterLogRecord>> record = reader.next();
    if (!record.ok()) return record.status();
    if (!*record) break;
    records.push_back(**record);
  }
  if (is_torn != nullptr) *is_torn = reader.is_torn();
  return records;
}

TEST(FilterLogFormat, IsReproducedAndRead) {
  test::expect_golden("fuzz/corpus/filter_log_format_fuzz/two-records", golden_log());
  bool is_torn = true;
  const std::vector<FilterLogRecord> records = *read(golden_log(), &is_torn);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_FALSE(is_torn);
  EXPECT_EQ(records[0].change, FilterChange::kAdd);
  EXPECT_EQ(records[0].hashes, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(records[1].change, FilterChange::kRemove);
  EXPECT_EQ(records[1].durable_end, 40U);
}

TEST(FilterLogFormat, ARecordIsValidAtItsOffsetAndForItsContainerOnly) {
  bool is_torn = false;
  EXPECT_TRUE(read(golden_log().substr(40), &is_torn)->empty()) << "it was at offset 40";
  EXPECT_TRUE(is_torn);
  const std::string log = golden_log();
  FilterLogReader other(as_bytes(log), 0, kSeed + 1, "log");
  EXPECT_FALSE((*other.next()).has_value());
}

TEST(FilterLogFormat, AnInvalidRecordIsDamageIfALaterOneSaysThatItWasDurable) {
  std::string log = golden_log();
  log[30] = static_cast<char>(log[30] ^ 1);
  EXPECT_EQ(read(log).status().code(), StatusCode::kCorruption);
  EXPECT_EQ(read(log).status().message().find("log: at offset 0"), 0U) << read(log).status().message();
  bool is_torn = false;
  EXPECT_TRUE(read(log.substr(0, 40), &is_torn)->empty());
  EXPECT_TRUE(is_torn);
}

}  // namespace
}  // namespace tamis
