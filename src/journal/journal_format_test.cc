#include "journal/journal_format.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "io/memory_file_system.h"
#include "io/posix_file_system.h"
#include "journal/journal_reader.h"
#include "journal/journal_writer.h"
#include "support/golden.h"

namespace tamis {
namespace {

constexpr std::uint64_t kSalt = 0x0123456789abcdef;
constexpr std::uint64_t kTime = 1'700'000'000'000;

JournalHeader example_header() {
  JournalHeader header;
  header.kind = JournalKind::kManifest;
  header.store_id.fill(std::byte{0x5a});
  header.number = 12;
  header.salt = kSalt;
  header.first_sequence = 1'000'000;
  header.term = 0x1'0007;
  header.features = Features::of(Feature::kKeyspaces);
  return header;
}

/// The page with one byte changed and its checksum corrected.
JournalHeaderPage changed_page(std::size_t offset, std::uint8_t value) {
  JournalHeaderPage page = encode_journal_header(example_header());
  page[offset] = std::byte{value};
  store_le(page.data() + kJournalHeaderBytes - 8, checksum64(Bytes(page).first(kJournalHeaderBytes - 8)));
  return page;
}

TEST(JournalFormat, HeadersComeBackAsTheyWere) {
  const Result<JournalHeader> header = decode_journal_header(encode_journal_header(example_header()), "j");
  ASSERT_TRUE(header.ok()) << header.status().to_text();
  EXPECT_EQ(*header, example_header());
}

TEST(JournalFormat, EveryFlippedHeaderBitIsCorruption) {
  JournalHeaderPage page = encode_journal_header(example_header());
  for (std::size_t bit = 0; bit < 8 * page.size(); ++bit) {
    page[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_EQ(decode_journal_header(page, "j").status().code(), StatusCode::kCorruption) << "bit " << bit;
    page[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST(JournalFormat, OtherVersionsAndUnknownFeaturesAreRefusedByName) {
  EXPECT_EQ(decode_journal_header(changed_page(8, 1), "j").status().to_text(),
            "not supported: j: format version 1, written before 0.2; this build reads version 2");
  EXPECT_EQ(decode_journal_header(changed_page(8, 3), "j").status().to_text(),
            "not supported: j: format version 3 is newer than this build reads (2); use a newer tamis");
  EXPECT_EQ(decode_journal_header(changed_page(17, 4), "j").status().to_text(),
            "not supported: j: feature 10, needed to read it, is not known to this build; use a newer tamis");
  const Result<JournalHeader> for_writers = decode_journal_header(changed_page(21, 4), "j");
  ASSERT_TRUE(for_writers.ok()) << "a feature that only writers need";
  EXPECT_EQ(for_writers->features.to_write, 1U << 10);
  EXPECT_TRUE(decode_journal_header(changed_page(24, 1), "j").ok()) << "an unknown optional feature is ignored";
  EXPECT_EQ(decode_journal_header(changed_page(10, 3), "j").status().code(), StatusCode::kCorruption);
  EXPECT_EQ(decode_journal_header(changed_page(13, 0), "j").status().code(), StatusCode::kCorruption);
}

TEST(JournalFormat, AShortFileIsNotAHeader) {
  const JournalHeaderPage page = encode_journal_header(example_header());
  EXPECT_EQ(decode_journal_header(Bytes(page).first(4095), "j").status().code(), StatusCode::kCorruption);
  EXPECT_EQ(decode_journal_header({}, "j").status().code(), StatusCode::kCorruption);
}

TEST(JournalFormat, RecordsComeBackAsTheyWereAndOnlyInTheirPlace) {
  const std::string payload = "put paris 2102650";
  const RecordHeader header{RecordKind::kData, payload.size(), 77, 3, 5000, kMaxCommitTime - 1};
  const RecordHeaderBytes bytes = encode_record_header(header, as_bytes(payload), example_header(), 6000);
  const auto candidate = decode_record_header(bytes, example_header(), 6000, payload.size());
  ASSERT_TRUE(candidate.has_value());
  EXPECT_EQ(candidate->header, header);
  EXPECT_TRUE(candidate->matches(as_bytes(payload)));
  EXPECT_FALSE(candidate->matches(as_bytes("put paris 2102651")));
  EXPECT_FALSE(decode_record_header(bytes, example_header(), 6001, 1000).has_value()) << "another place";
  JournalHeader other = example_header();
  ++other.salt;
  EXPECT_FALSE(decode_record_header(bytes, other, 6000, 1000).has_value()) << "another use of the file";
  other = example_header();
  ++other.term;
  EXPECT_FALSE(decode_record_header(bytes, other, 6000, 1000).has_value()) << "another term";
  EXPECT_FALSE(decode_record_header(bytes, example_header(), 6000, payload.size() - 1).has_value()) << "beyond the end";
}

TEST(JournalFormat, EveryFlippedRecordBitIsFound) {
  const std::string payload = "x";
  const RecordHeader header{RecordKind::kData, payload.size(), 77, 3, 5000, 1'700'000'000'000};
  RecordHeaderBytes bytes = encode_record_header(header, as_bytes(payload), example_header(), 6000);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto candidate = decode_record_header(bytes, example_header(), 6000, 1000);
    EXPECT_FALSE(candidate && candidate->matches(as_bytes(payload))) << "bit " << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST(JournalFormat, ADistanceTooLargeForItsFieldClaimsNothing) {
  const std::uint64_t offset = std::uint64_t{1} << 40;
  const RecordHeader header{RecordKind::kData, 0, 77, 1, 5000, 0};
  const RecordHeaderBytes bytes = encode_record_header(header, {}, example_header(), offset);
  const auto candidate = decode_record_header(bytes, example_header(), offset, 0);
  ASSERT_TRUE(candidate.has_value());
  EXPECT_EQ(candidate->header.durable_offset, kJournalHeaderBytes);
}

/// A journal with two lives: three records, closed, reopened after the second, closed.
std::string golden_journal() {
  MemoryFileSystem files;
  const std::string path = "/000012.journal";
  auto writer = *JournalWriter::create(files, {path, example_header(), 0});
  EXPECT_TRUE(writer->append(as_bytes("put paris 2102650"), 1, kTime).ok());
  EXPECT_TRUE(writer->append(as_bytes("put lyon 522969"), 2, kTime + 5).ok());
  EXPECT_TRUE(writer->close().ok());
  JournalReader reader = *JournalReader::open(files, path);
  EXPECT_TRUE(reader.skip_to_end().ok());
  writer = *JournalWriter::reopen(files, path, reader.header(), reader.end());
  EXPECT_TRUE(writer->append(as_bytes("remove paris"), 1, kTime + 60'000).ok());
  EXPECT_TRUE(writer->close().ok());
  return *read_whole_file(files, path);
}

TEST(JournalFormat, TheGoldenJournalIsReproducedAndRead) {
  const std::string name = "tests/golden/journal/reopened.journal";
  const std::string made = golden_journal();
  test::expect_golden(name, made);
  test::expect_golden("fuzz/corpus/journal_format_fuzz/records",
                      made.substr(kJournalHeaderBytes));  // Shown in FORMAT.md.
  JournalReader reader = *JournalReader::open(posix_file_system(), source_file(name), made.size());
  EXPECT_EQ(reader.header(), example_header());
  const std::vector<std::pair<std::string_view, std::uint64_t>> records = {
      {"put paris 2102650", kTime}, {"put lyon 522969", kTime + 5}, {"remove paris", kTime + 60'000}};
  for (const auto& [payload, time] : records) {
    const Result<std::optional<JournalRecord>> record = reader.next();
    ASSERT_TRUE(record.ok() && record->has_value());
    EXPECT_EQ(as_text((*record)->payload), payload);
    EXPECT_EQ((*record)->commit_time, time);
  }
  EXPECT_FALSE(reader.next()->has_value());
  EXPECT_TRUE(reader.end().is_closed);
  EXPECT_EQ(reader.end().next_sequence, 1'000'004U);
}

}  // namespace
}  // namespace tamis
