#include "leveldb_files/log_records_format.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "filter/formats/foreign_hash.h"
#include "io/memory_file_system.h"
#include "support/files.h"

namespace tamis::leveldb {
namespace {

constexpr std::size_t kBlockBytes = 32768;

std::string fragment(char type, std::string_view payload) {
  const std::string checked = type + std::string(payload);
  std::string bytes;
  append_le(bytes, foreign::masked_crc32c(foreign::crc32c(as_bytes(checked))));
  append_le(bytes, static_cast<std::uint16_t>(payload.size()));
  return bytes + checked;
}

struct Reading {
  std::vector<std::string> records;
  std::optional<std::uint64_t> torn_at;
  Status status;
};

Reading read(const std::string& bytes) {
  MemoryFileSystem files;
  test::put_file(files, "/log", bytes);
  const auto file = *files.open_readable("/log");
  LogRecords log(*file, "/log");
  Reading reading;
  for (;;) {
    Result<std::optional<std::string>> record = log.next();
    reading.status = record.status();
    if (!record.ok() || !*record) break;
    reading.records.push_back(**record);
  }
  reading.torn_at = log.torn_at();
  return reading;
}

TEST(LevelDbLogRecords, SpanBlocks) {
  const std::string large(3 * kBlockBytes, 'x');
  const std::size_t in_first = kBlockBytes - 7 - 10 - 7;
  const std::size_t whole = kBlockBytes - 7;
  std::string bytes = fragment(1, "0123456789");
  bytes += fragment(2, large.substr(0, in_first));
  bytes += fragment(3, large.substr(0, whole)) + fragment(3, large.substr(0, whole));
  const std::size_t rest = large.size() - in_first - 2 * whole;
  bytes += fragment(4, large.substr(0, rest)) + fragment(1, "");
  const Reading reading = read(bytes);
  EXPECT_TRUE(reading.status.ok()) << reading.status.to_text();
  EXPECT_EQ(reading.records, (std::vector<std::string>{"0123456789", large, ""}));
  EXPECT_FALSE(reading.torn_at);
}

TEST(LevelDbLogRecords, NeverBeginInTheLastBytesOfABlock) {
  for (std::size_t left = 0; left < 7; ++left) {
    const std::string first(kBlockBytes - 7 - left, 'x');
    const Reading reading = read(fragment(1, first) + std::string(left, '\0') + fragment(1, "second"));
    EXPECT_EQ(reading.records, (std::vector<std::string>{first, "second"})) << left;
    EXPECT_FALSE(reading.torn_at);
    EXPECT_FALSE(read(fragment(1, first) + std::string(left, '\0')).torn_at && left == 0);
  }
}

TEST(LevelDbLogRecords, ThatAreCutAnywhereAreTorn) {
  const std::string first = fragment(1, "first");
  const std::string second = fragment(2, "sec") + fragment(4, "ond");
  for (std::size_t size = 1; size < second.size(); ++size) {
    const Reading reading = read(first + second.substr(0, size));
    EXPECT_TRUE(reading.status.ok()) << size << reading.status.to_text();
    EXPECT_EQ(reading.records, std::vector<std::string>{"first"});
    EXPECT_GE(reading.torn_at.value_or(0), first.size()) << size;
  }
}

TEST(LevelDbLogRecords, EndAtZerosThatACrashHasLeft) {
  const std::string first = fragment(1, "first");
  for (const std::size_t zeros : {std::size_t{7}, kBlockBytes, 3 * kBlockBytes}) {
    const Reading reading = read(first + std::string(zeros, '\0'));
    EXPECT_TRUE(reading.status.ok());
    EXPECT_EQ(reading.torn_at, first.size());
  }
  const Reading hole = read(first + std::string(kBlockBytes - first.size(), '\0') + fragment(1, "behind"));
  EXPECT_EQ(hole.status.code(), StatusCode::kCorruption);
  EXPECT_EQ(hole.status.message(), "/log: at offset 12: zeros instead of a record");
}

TEST(LevelDbLogRecords, OfAnotherShapeAreRefused) {
  EXPECT_EQ(read(fragment(4, "no beginning")).status.message(), "/log: at offset 0: a record without a beginning");
  EXPECT_EQ(read(fragment(2, "a") + fragment(1, "b")).status.message(),
            "/log: at offset 8: a record begins inside another");
  EXPECT_EQ(read(fragment(5, "recycled")).status.code(), StatusCode::kNotSupported);
  std::string damaged = fragment(1, "first") + fragment(1, "second");
  damaged[8] ^= 1;
  EXPECT_EQ(read(damaged).status.code(), StatusCode::kCorruption);
  damaged = fragment(1, "first") + fragment(1, "second");
  damaged[5] = '\x7f';  // Of the length: as it is the block's last, LevelDB would take it for torn.
  EXPECT_TRUE(read(damaged).torn_at == 0U);
  damaged[5] = '\x80';
  EXPECT_EQ(read(damaged).status.message(), "/log: at offset 0: a record longer than its block");
}

}  // namespace
}  // namespace tamis::leveldb
