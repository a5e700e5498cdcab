// Several journals form one stream.
#include "journal/journal_stream.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "journal/journal_writer.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"
#include "support/files.h"

namespace tamis {
namespace {

class JournalStreams : public testing::Test {
 protected:
  static std::string path(std::uint64_t number) { return fmt::format("/{}.journal", number); }
  std::unique_ptr<JournalWriter> create(std::uint64_t number, std::uint64_t first_sequence) {
    return *JournalWriter::create(files_,
                                  {path(number), {JournalKind::kWrites, {}, number, remix(number), first_sequence}, 0});
  }
  static void append(JournalWriter& writer, std::uint32_t records, std::uint32_t count = 1) {
    for (std::uint32_t i = 0; i < records; ++i) {
      ASSERT_TRUE(writer.append(as_bytes(std::to_string(writer.next_sequence())), count).ok());
    }
  }
  /// The payloads from a sequence on, then "end SEQUENCE", with " stranded" if there were more, or the error.
  std::string stream(const std::vector<std::uint64_t>& numbers, std::uint64_t first_sequence) {
    JournalStreamSpec spec;
    for (const std::uint64_t number : numbers) spec.paths.push_back(path(number));
    spec.first_sequence = first_sequence;
    Result<JournalStream> journals = JournalStream::open(files_, spec);
    if (!journals.ok()) return journals.status().to_text();
    std::string text;
    for (;;) {
      const Result<std::optional<JournalRecord>> record = journals->next();
      if (!record.ok()) return record.status().to_text();
      if (!record->has_value()) break;
      text += fmt::format("{} ", as_text((*record)->payload));
    }
    return text +
           fmt::format("end {}{}", journals->end().next_sequence, journals->end().first_stranded ? " stranded" : "");
  }
  /// Truncates a journal by this many bytes.
  void cut(std::uint64_t number, std::uint64_t bytes) {
    const auto file = *files_.open_writable(path(number), OpenMode::kExisting);
    ASSERT_TRUE(file->truncate(*file->size() - bytes).ok());
  }

  CrashFileSystem files_;
};

TEST_F(JournalStreams, GoOverAllJournalsFromAnySequence) {
  append(*create(1, 10), 3);
  append(*create(4, 13), 2, 5);
  create(5, 23);
  append(*create(6, 23), 1);
  EXPECT_EQ(stream({1, 4, 5, 6}, 10), "10 11 12 13 18 23 end 24");
  EXPECT_EQ(stream({1, 4, 5, 6}, 12), "12 13 18 23 end 24");
  EXPECT_EQ(stream({4, 5, 6}, 18), "18 23 end 24");
  EXPECT_EQ(stream({1, 4, 5, 6}, 24), "end 24");
  EXPECT_EQ(stream({1}, 30), "end 30");
  EXPECT_EQ(stream({}, 7), "end 7");
}

TEST_F(JournalStreams, Rule1_EndAtAGapThatNobodyKnewToBeDurable) {
  append(*create(1, 10), 3);
  append(*create(2, 13), 2);
  cut(1, 1);
  EXPECT_EQ(stream({1, 2}, 10), "10 11 end 12 stranded");
  EXPECT_EQ(stream({1, 2}, 13), "13 14 end 15") << "a gap among what is in tables already costs nothing";
}

/// An interrupted recovery created another journal, which continues at the gap.
TEST_F(JournalStreams, Rule4_RecordsBehindAHoleAreNotForgottenForAJournalThatFollows) {
  append(*create(1, 10), 3);
  test::overwrite(files_, path(1), kJournalHeaderBytes + kRecordHeaderBytes + 2, std::string(1, '\0'));
  EXPECT_EQ(stream({1}, 10), "10 end 11 stranded");
  create(2, 11);
  EXPECT_EQ(stream({1, 2}, 10), "10 end 11 stranded");
}

TEST_F(JournalStreams, AGapBeforeASyncedJournalIsDamage) {
  auto first = create(1, 10);
  append(*first, 3);
  auto second = create(2, 13);
  second->follow(std::move(first));
  append(*second, 1);
  EXPECT_TRUE(second->sync().ok());
  append(*second, 1);
  cut(1, 1);
  const std::string text = stream({1, 2}, 10);
  EXPECT_EQ(text.find("corruption: /1.journal: at offset "), 0U) << text;
}

TEST_F(JournalStreams, Rule1_AMissingJournalIsDamageNotAnEmptyStream) {
  append(*create(2, 13), 2);
  EXPECT_EQ(stream({2}, 10),
            "corruption: /2.journal: at offset 64: the oldest journal begins with sequence 13, 10 is due: a journal is "
            "missing");
}

TEST_F(JournalStreams, AJournalThatCouldNotBeMadeIsPassedOverWhenItIsEmpty) {
  const auto first = create(1, 10);
  append(*first, 2);
  create(2, 12);
  append(*first, 1);
  append(*create(3, 13), 1);
  EXPECT_EQ(stream({1, 2, 3}, 10), "10 11 12 13 end 14");
  append(*create(4, 12), 1);
  EXPECT_EQ(stream({1, 4}, 10),
            "corruption: /4.journal: at offset 64: begins with sequence 12, which /1.journal holds as well");
}

TEST_F(JournalStreams, ForeignAndMisorderedJournalsAreRefused) {
  append(*create(1, 10), 1);
  append(*create(2, 11), 1);
  EXPECT_EQ(stream({2, 1}, 11).find("corruption: /1.journal: at offset 48: "), 0U);
  JournalStreamSpec spec{.paths = {path(1)}, .store_id = {std::byte{1}}, .first_sequence = 10};
  EXPECT_EQ(JournalStream::open(files_, spec).status().to_text(),
            "corruption: /1.journal: at offset 32: the journal of another store");
}

TEST_F(JournalStreams, Rule3_AnotherJournalUnderTheNameIsRefused) {
  append(*create(1, 10), 2);
  append(*create(2, 12), 1);
  JournalStreamSpec spec{.paths = {path(1), path(2)}, .first_sequence = 10, .numbers = {1, 3}};
  EXPECT_EQ(JournalStream::open(files_, spec).status().to_text(),
            "corruption: /2.journal: at offset 48: this is journal 2, under the name of journal 3");
  spec.numbers = {1, 2};
  spec.known = {.number = 1, .salt = 5, .durable_offset = 0};
  EXPECT_EQ(JournalStream::open(files_, spec).status().to_text().find("corruption: /1.journal: at offset 56: "), 0U);
  spec.known = {.number = 1, .salt = remix(1), .durable_offset = 1 << 20};
  Result<JournalStream> stream = JournalStream::open(files_, spec);
  ASSERT_TRUE(stream.ok());
  EXPECT_TRUE(stream->next().ok() && stream->next().ok());
  EXPECT_EQ(stream->next().status().code(), StatusCode::kCorruption) << "what is known holds for any of the journals";
}

TEST_F(JournalStreams, Rule1_ASyncMakesThePredecessorsDurableFirst) {
  auto first = create(1, 10);
  append(*first, 1);
  auto second = create(2, 11);
  second->follow(std::move(first));
  append(*second, 1);
  auto third = create(3, 12);
  third->follow(std::move(second));
  append(*third, 1);
  EXPECT_TRUE(third->sync().ok());
  const std::vector<std::string> log = files_.call_log();
  EXPECT_EQ(std::vector<std::string>(log.end() - 3, log.end()),
            (std::vector<std::string>{"sync /1.journal.tmp", "sync /2.journal.tmp", "sync /3.journal.tmp"}));
}

TEST_F(JournalStreams, APredecessorThatCannotBeSyncedStopsItsSuccessor) {
  FaultyFileSystem faulty(files_, {FaultKind::kNoSpace, 15, false});
  const auto make = [&](std::uint64_t number, std::uint64_t first) {
    return *JournalWriter::create(faulty, {path(number), {JournalKind::kWrites, {}, number, remix(number), first}, 0});
  };
  auto first = make(1, 10);
  append(*first, 1);
  auto second = make(2, 11);
  second->follow(std::move(first));
  append(*second, 1);
  ASSERT_EQ(faulty.calls(), 14U);
  EXPECT_EQ(second->sync().code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(second->sync().code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(second->append({}, 1).code(), StatusCode::kOutOfSpace);
}

}  // namespace
}  // namespace tamis
