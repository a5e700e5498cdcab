// One journal: what is written is read back; a torn tail is cut, damage is reported.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "journal/journal_reader.h"
#include "journal/journal_writer.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"
#include "support/files.h"

namespace tamis {
namespace {

constexpr std::uint64_t kFirst = 100;
const std::string kPath = "/12.journal";

JournalSpec spec(std::string path = kPath, std::uint64_t number = 12, std::uint64_t salt = 0x5a17) {
  JournalSpec made;
  made.path = std::move(path);
  made.header.number = number;
  made.header.salt = salt;
  made.header.first_sequence = kFirst;
  return made;
}

/// How many calls create() makes.
std::uint64_t calls_to_create(FileSystem& files) {
  FaultyFileSystem counting(files);
  EXPECT_TRUE(JournalWriter::create(counting, spec()).ok());
  return counting.calls();
}

/// Everything a reader returns: the payloads, then how it ended.
struct Read {
  std::vector<std::string> payloads;
  std::vector<std::uint64_t> offsets;
  JournalEnd end;
  Status status;
};

Read read(FileSystem& files, const std::string& path = kPath, std::uint64_t known_durable_offset = 0) {
  Read all;
  Result<JournalReader> reader = JournalReader::open(files, path, known_durable_offset);
  all.status = reader.status();
  while (all.status.ok()) {
    const Result<std::optional<JournalRecord>> record = reader->next();
    all.status = record.status();
    if (!record.ok()) break;
    if (!record->has_value()) {
      all.end = reader->end();
      break;
    }
    all.payloads.emplace_back(as_text((*record)->payload));
    all.offsets.push_back((*record)->offset);
  }
  return all;
}

void overwrite(FileSystem& files, const std::string& path, std::string_view bytes) {
  test::put_file(files, path, bytes);
}

class Journal : public testing::Test {
 protected:
  std::unique_ptr<JournalWriter> create(const JournalSpec& made = spec()) {
    Result<std::unique_ptr<JournalWriter>> writer = JournalWriter::create(files_, made);
    EXPECT_TRUE(writer.ok()) << writer.status().to_text();
    return *std::move(writer);
  }
  /// Reuses the file of another journal.
  std::unique_ptr<JournalWriter> recycle(const std::string& old, const JournalSpec& made) {
    Result<TemporaryFile> file = JournalWriter::recycle(files_, old);
    EXPECT_TRUE(file.ok()) << file.status().to_text();
    Result<std::unique_ptr<JournalWriter>> writer = JournalWriter::create(files_, made, *std::move(file));
    EXPECT_TRUE(writer.ok()) << writer.status().to_text();
    return *std::move(writer);
  }
  void append(JournalWriter& writer, std::string_view payload, std::uint32_t count = 1) {
    ASSERT_TRUE(writer.append(as_bytes(payload), count).ok());
  }
  /// Three records and a clean close; returns the bytes.
  std::string closed_journal() {
    const auto writer = create();
    append(*writer, "one");
    append(*writer, "");
    append(*writer, std::string(700, 'x'), 5);
    EXPECT_TRUE(writer->close().ok());
    return *read_whole_file(files_, kPath);
  }

  CrashFileSystem files_;
};

TEST_F(Journal, RecordsComeBackInOrder) {
  const auto writer = create();
  std::vector<std::string> payloads;
  for (std::size_t i = 0; i < 300; ++i) {
    append(*writer, payloads.emplace_back(i * i * 7 % 5000, static_cast<char>('a' + i % 26)), 2);
  }
  append(*writer, payloads.emplace_back(1 << 20, 'z'));
  const Read all = read(files_);
  EXPECT_TRUE(all.status.ok()) << all.status.to_text();
  EXPECT_EQ(all.payloads, payloads);
  EXPECT_EQ(all.end.next_sequence, kFirst + 601);
  EXPECT_EQ(all.end.offset, writer->end_offset());
  EXPECT_FALSE(all.end.is_closed);
  EXPECT_FALSE(all.end.was_synced);
}

TEST_F(Journal, AnEmptyJournalEndsWhereItBegins) {
  JournalSpec made = spec();
  made.preallocate_bytes = 100'000;
  create(made);
  const Read all = read(files_);
  EXPECT_TRUE(all.status.ok());
  EXPECT_EQ(all.end.offset, kJournalHeaderBytes);
  EXPECT_EQ(all.end.next_sequence, kFirst);
}

TEST_F(Journal, ACloseIsSeenAndTheJournalCanBeContinued) {
  closed_journal();
  const Read first = read(files_);
  EXPECT_TRUE(first.end.is_closed);
  EXPECT_EQ(first.end.next_sequence, kFirst + 7);
  auto writer = JournalWriter::reopen(files_, kPath, spec().header, first.end);
  ASSERT_TRUE(writer.ok()) << writer.status().to_text();
  EXPECT_FALSE(read(files_).end.is_closed);
  append(**writer, "four");
  EXPECT_TRUE((*writer)->close().ok());
  const Read second = read(files_);
  EXPECT_TRUE(second.status.ok()) << second.status.to_text();
  EXPECT_EQ(second.payloads.size(), 4U);
  EXPECT_EQ(second.payloads.back(), "four");
  EXPECT_TRUE(second.end.is_closed);
}

TEST_F(Journal, ThatAJournalIsOpenAgainIsDurableBeforeAnythingFollows) {
  closed_journal();
  const auto writer = *JournalWriter::reopen(files_, kPath, spec().header, read(files_).end);
  CrashFileSystem rebooted(files_.disk().after_crash(Loss::kEverything, 1));
  EXPECT_FALSE(read(rebooted).end.is_closed);
}

TEST_F(Journal, ACloseWithRecordsBeyondItsEndIsNotOneToContinueFrom) {
  const std::string closed = closed_journal();
  const auto writer = *JournalWriter::reopen(files_, kPath, spec().header, read(files_).end);
  append(*writer, "after");
  std::string bytes = *read_whole_file(files_, kPath);
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(closed.size()), kRecordHeaderBytes, '\0');
  // Made by hand: a record that claims nothing, after a reopening that never reached the disk.
  const RecordHeader stranded{RecordKind::kData, 5, kFirst + 7, 1, kJournalHeaderBytes, 0};
  const std::uint64_t offset = closed.size() + kRecordHeaderBytes;
  bytes.replace(offset, kRecordHeaderBytes,
                as_text(encode_record_header(stranded, as_bytes("after"), spec().header, offset)));
  overwrite(files_, kPath, bytes);
  const Read all = read(files_);
  ASSERT_TRUE(all.status.ok()) << all.status.to_text();
  EXPECT_EQ(all.payloads.size(), 3U);
  EXPECT_FALSE(all.end.is_closed);
  EXPECT_TRUE(all.end.has_stranded_records);
}

TEST_F(Journal, Rule4_AnUnclosedJournalCutAnywhereIsATornTail) {
  const auto writer = create();
  for (const char* payload : {"one", "second", "the third"}) append(*writer, payload);
  const std::string bytes = *read_whole_file(files_, kPath);
  const Read whole = read(files_);
  for (std::size_t size = kJournalHeaderBytes; size <= bytes.size(); ++size) {
    overwrite(files_, kPath, std::string_view(bytes).substr(0, size));
    const Read all = read(files_);
    ASSERT_TRUE(all.status.ok()) << size << ": " << all.status.to_text();
    std::size_t expected = 0;
    while (expected < 3 && whole.offsets[expected] + kRecordHeaderBytes + whole.payloads[expected].size() <= size)
      ++expected;
    ASSERT_EQ(all.payloads.size(), expected) << size;
    ASSERT_FALSE(all.end.is_closed);
  }
  overwrite(files_, kPath, std::string_view(bytes).substr(0, kJournalHeaderBytes - 1));
  EXPECT_EQ(read(files_).status.code(), StatusCode::kCorruption) << "a header is durable before its file has a name";
}

TEST_F(Journal, EveryFlippedByteOfAClosedJournalIsReportedWithFileAndOffset) {
  const std::string bytes = closed_journal();
  const Read whole = read(files_);
  const std::uint64_t close_record = whole.end.offset - kRecordHeaderBytes;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    overwrite(files_, kPath, damaged);
    std::uint64_t expected = close_record;
    if (at < kJournalHeaderBytes) expected = 0;
    for (const std::uint64_t offset : whole.offsets) {
      if (at >= offset && at < close_record) expected = offset;
    }
    const Read known = read(files_, kPath, whole.end.offset);
    ASSERT_EQ(known.status.code(), StatusCode::kCorruption) << at;
    ASSERT_EQ(known.status.message().find(fmt::format("{}: at offset {}: ", kPath, expected)), 0U)
        << at << " " << known.status.to_text();
    // Without a known end, a lost close costs no record and looks like a crash.
    const Read alone = read(files_);
    if (at < close_record) {
      ASSERT_EQ(alone.status.code(), StatusCode::kCorruption) << at;
    } else {
      ASSERT_TRUE(alone.status.ok()) << at;
      ASSERT_EQ(alone.payloads, whole.payloads);
      ASSERT_FALSE(alone.end.is_closed);
    }
  }
}

TEST_F(Journal, AClosedJournalThatWasCutIsDamageWhenItsEndIsKnown) {
  const std::string bytes = closed_journal();
  for (std::size_t size = 0; size < bytes.size(); size += 3) {
    overwrite(files_, kPath, std::string_view(bytes).substr(0, size));
    ASSERT_EQ(read(files_, kPath, bytes.size()).status.code(), StatusCode::kCorruption) << size;
  }
}

TEST_F(Journal, Rule4_ALaterRecordProvesThatAnEarlierPlaceWasDurable) {
  for (const bool synced : {false, true}) {
    const auto writer = create(spec(synced ? "/a" : "/b"));
    append(*writer, "one");
    const std::uint64_t second = writer->end_offset();
    append(*writer, "two");
    if (synced) {
      ASSERT_TRUE(writer->sync().ok());
    }
    append(*writer, "three");
    std::string bytes = *read_whole_file(files_, synced ? "/a" : "/b");
    bytes[second + kRecordHeaderBytes] ^= 1;
    overwrite(files_, kPath, bytes);
    const Read all = read(files_);
    if (synced) {
      EXPECT_EQ(all.status.code(), StatusCode::kCorruption);
    } else {
      EXPECT_TRUE(all.status.ok()) << all.status.to_text();
      EXPECT_EQ(all.payloads, std::vector<std::string>{"one"});
      EXPECT_TRUE(all.end.has_stranded_records) << "the bytes beyond are worth keeping";
    }
  }
}

TEST_F(Journal, Rule3_RecordsOfAFilesEarlierLifeAreNeverTakenForNewOnes) {
  auto old = create(spec("/7.journal", 7, 1));
  for (int i = 0; i < 20; ++i) append(*old, "the same payload");
  ASSERT_TRUE(old->close().ok());
  const auto writer = recycle("/7.journal", spec(kPath, 12, 2));
  EXPECT_EQ(*files_.file_size("/7.journal"), std::nullopt);
  for (std::size_t records = 0; records < 20; ++records) {
    const Read all = read(files_);
    ASSERT_TRUE(all.status.ok()) << all.status.to_text();
    ASSERT_EQ(all.payloads.size(), records);
    ASSERT_FALSE(all.end.has_stranded_records);
    append(*writer, "the same payload");
  }
}

TEST_F(Journal, WithoutANewSaltOldRecordsWouldComeBack) {
  auto old = create(spec("/7.journal", 7, 1));
  for (int i = 0; i < 20; ++i) append(*old, "the same payload");
  const auto writer = recycle("/7.journal", spec(kPath, 12, 1));
  EXPECT_EQ(read(files_).payloads.size(), 20U);
}

TEST_F(Journal, APayloadThatHoldsARecordIsNotOne) {
  const auto inner = create(spec("/inner"));
  append(*inner, "inner");
  const std::string record = read_whole_file(files_, "/inner")->substr(kJournalHeaderBytes);
  const auto writer = create();
  append(*writer, std::string(100, 'x') + record + record);
  append(*writer, record);
  std::string bytes = *read_whole_file(files_, kPath);
  bytes[kJournalHeaderBytes] ^= 1;
  overwrite(files_, kPath, bytes.substr(0, bytes.size() - record.size() - kRecordHeaderBytes));
  const Read all = read(files_);
  EXPECT_TRUE(all.status.ok());
  EXPECT_TRUE(all.payloads.empty());
  EXPECT_FALSE(all.end.has_stranded_records);
}

TEST_F(Journal, Rule6_AFailedAppendIsOverwrittenByTheNext) {
  for (const FaultKind kind :
       {FaultKind::kIoError, FaultKind::kIoErrorAfterwards, FaultKind::kNoSpace, FaultKind::kShortWrite}) {
    CrashFileSystem memory;
    FaultyFileSystem faulty(memory, {kind, calls_to_create(memory) + 2, false});
    const auto writer = *JournalWriter::create(faulty, spec());
    append(*writer, "one");
    EXPECT_FALSE(writer->append(as_bytes("a long one that fails"), 3).ok());
    EXPECT_EQ(writer->next_sequence(), kFirst + 1);
    append(*writer, "two");
    ASSERT_TRUE(writer->sync().ok());
    const Read all = read(memory);
    EXPECT_TRUE(all.status.ok()) << all.status.to_text();
    EXPECT_EQ(all.payloads, (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(all.end.next_sequence, kFirst + 2);
    EXPECT_FALSE(all.end.has_stranded_records);
  }
}

/// Each record fills a sector, so that a crash can leave the failed one in place and still keep later ones.
TEST_F(Journal, AFailedRecordNeverStandsBeforeALaterOne) {
  FaultyFileSystem faulty(files_, {FaultKind::kIoErrorAfterwards, calls_to_create(files_) + 1, false});
  const auto writer = *JournalWriter::create(faulty, spec());
  const auto sector = [](char byte) { return std::string(512 - kRecordHeaderBytes, byte); };
  int crashes_with_the_failed_one = 0;
  files_.after_each_call([&](const MemoryDisk& disk, std::string_view) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      CrashFileSystem rebooted(disk.after_crash(Loss::kSectors, seed));
      const Read all = read(rebooted);
      ASSERT_TRUE(all.status.ok()) << all.status.to_text();
      if (all.payloads.empty() || all.payloads[0] != sector('f')) continue;
      ++crashes_with_the_failed_one;
      ASSERT_EQ(all.payloads.size(), 1U);
    }
  });
  EXPECT_FALSE(writer->append(as_bytes(sector('f')), 1).ok());
  append(*writer, sector('g'));
  append(*writer, sector('h'));
  EXPECT_GT(crashes_with_the_failed_one, 10);
}

TEST_F(Journal, Rule5_AFailedSyncIsTheEndOfTheWriter) {
  FaultyFileSystem faulty(files_, {FaultKind::kIoError, calls_to_create(files_) + 2, false});
  const auto writer = *JournalWriter::create(faulty, spec());
  append(*writer, "one");
  const Status failed = writer->sync();
  EXPECT_EQ(failed.code(), StatusCode::kIoError);
  EXPECT_EQ(writer->sync().to_text(), failed.to_text());
  EXPECT_EQ(writer->append(as_bytes("two"), 1).to_text(), failed.to_text());
  EXPECT_EQ(writer->close().to_text(), failed.to_text());
  EXPECT_EQ(writer->durable_offset(), kJournalHeaderBytes);
  EXPECT_EQ(faulty.fired(), 1U);
}

TEST_F(Journal, AReadErrorIsNeitherTheEndNorDamage) {
  closed_journal();
  FaultyFileSystem counting(files_);
  ASSERT_TRUE(read(counting).status.ok());
  for (std::uint64_t call = 1; call <= counting.calls(); ++call) {
    FaultyFileSystem faulty(files_, {FaultKind::kIoError, call, true});
    EXPECT_EQ(read(faulty).status.code(), StatusCode::kIoError) << call;
  }
}

TEST_F(Journal, AValidRecordOutOfOrderIsCorruption) {
  const auto writer = create();
  append(*writer, "one");
  std::string bytes = *read_whole_file(files_, kPath);
  for (const RecordHeader& wrong : {RecordHeader{RecordKind::kData, 0, kFirst + 2, 1, kJournalHeaderBytes, 0},
                                    RecordHeader{RecordKind::kReopened, 0, kFirst + 1, 0, kJournalHeaderBytes, 0}}) {
    const RecordHeaderBytes record = encode_record_header(wrong, {}, spec().header, bytes.size());
    overwrite(files_, kPath, bytes + std::string(as_text(record)));
    EXPECT_EQ(read(files_).status.code(), StatusCode::kCorruption);
  }
}

/// What a newer tamis may write. It is not the torn end of the journal, nor damage that repair may pass over.
TEST_F(Journal, ARecordOfAnUnknownKindIsNotSupported) {
  const auto writer = create();
  append(*writer, "one");
  const std::string bytes = *read_whole_file(files_, kPath);
  for (const int kind : {4, 5, 15, 200}) {
    for (const std::uint32_t count : {0U, 3U}) {
      const RecordHeader unknown{static_cast<RecordKind>(kind), 3, kFirst + 1, count, kJournalHeaderBytes, 0};
      const RecordHeaderBytes record = encode_record_header(unknown, as_bytes("new"), spec().header, bytes.size());
      overwrite(files_, kPath, bytes + std::string(as_text(record)) + "new");
      const Read all = read(files_);
      EXPECT_EQ(
          all.status.to_text(),
          fmt::format("not supported: {}: at offset {}: record kind {} is not known to this build; use a newer tamis",
                      kPath, bytes.size(), kind));
      EXPECT_EQ(all.payloads.size(), 1U);
    }
  }
}

/// Behind a hole, such a record is still one.
TEST_F(Journal, ARecordOfAnUnknownKindBehindAHoleIsStranded) {
  const auto writer = create();
  append(*writer, "one");
  const std::string bytes = *read_whole_file(files_, kPath) + std::string(100, '\0');
  const RecordHeader unknown{RecordKind::kTables, 3, kFirst + 9, 1, kJournalHeaderBytes, 0};
  const RecordHeaderBytes record = encode_record_header(unknown, as_bytes("new"), spec().header, bytes.size());
  overwrite(files_, kPath, bytes + std::string(as_text(record)) + "new");
  const Read all = read(files_);
  ASSERT_TRUE(all.status.ok()) << all.status.to_text();
  EXPECT_TRUE(all.end.has_stranded_records);
}

}  // namespace
}  // namespace tamis
