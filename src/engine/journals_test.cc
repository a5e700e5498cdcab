#include "engine/journals.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random_source.h"
#include "journal/journal_stream.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"
#include "support/passing_file_system.h"

namespace tamis {
namespace {

/// Journals in the root folder.
Journals journals_on(FileSystem& files) {
  static const std::unique_ptr<RandomSource> random = make_random_source(1);
  return {files, "/", *random, 0};
}

/// While a flush prepares the file of a journal, that journal turns out to have failed a sync.
TEST(JournalFiles, Rule5_OneThatIsBeingPreparedWhileAJournalFailsIsNotRecycled) {
  CrashFileSystem beneath;
  test::HookedFileSystem files(beneath);
  Journals journals = journals_on(files);
  ASSERT_TRUE(journals.begin(1, Sequence{1}).ok());
  ASSERT_TRUE(journals.begin(2, Sequence{1}).ok());
  journals.release_before(2);
  ASSERT_EQ(journals.counts().recycled_files, 1U);
  files.after_rename = [&] { EXPECT_TRUE(journals.begin_after_failure(3, Sequence{1}).ok()); };
  journals.prepare_next();
  EXPECT_EQ(journals.counts().recycled_files, 0U);
  EXPECT_EQ(*beneath.file_size("/000001.journal.tmp"), std::nullopt);
}

/// The file system reports that a write failed, but the record is in the file. Then a new journal begins.
TEST(JournalFiles, Rule6_ARefusedRecordIsGoneBeforeTheNextJournalHasOne) {
  for (const FaultKind kind : {FaultKind::kNoSpaceAfterwards, FaultKind::kIoErrorAfterwards, FaultKind::kShortWrite}) {
    CrashFileSystem beneath;
    std::uint64_t calls = 0;
    {
      CrashFileSystem copy(beneath.disk());
      FaultyFileSystem dry(copy);
      Journals journals = journals_on(dry);
      ASSERT_TRUE(journals.begin(1, Sequence{1}).ok() && journals.append(as_bytes("first"), 1).ok());
      calls = dry.calls();
    }
    FaultyFileSystem files(beneath, {kind, calls + 1, false});
    Journals journals = journals_on(files);
    ASSERT_TRUE(journals.begin(1, Sequence{1}).ok() && journals.append(as_bytes("first"), 1).ok());
    ASSERT_FALSE(journals.append(as_bytes("refused"), 1).ok());
    ASSERT_TRUE(journals.begin(2, Sequence{2}).ok() && journals.append(as_bytes("second"), 1).ok());
    for (const MemoryDisk& disk : {beneath.disk(), beneath.disk().after_crash(Loss::kNothing, 1)}) {
      CrashFileSystem crashed(disk);
      JournalStreamSpec spec{.paths = {"/000001.journal", "/000002.journal"}, .first_sequence = 1};
      Result<JournalStream> stream = JournalStream::open(crashed, spec);
      ASSERT_TRUE(stream.ok()) << stream.status().to_text();
      for (const std::string_view expected : {"first", "second"}) {
        const Result<std::optional<JournalRecord>> record = stream->next();
        ASSERT_TRUE(record.ok()) << record.status().to_text();
        ASSERT_TRUE(record->has_value());
        EXPECT_EQ(as_text((*record)->payload), expected);
      }
    }
  }
}

/// Journals are created under another name; errors use the current one.
TEST(JournalFiles, AnErrorNamesTheFileAsItIsCalledNow) {
  CrashFileSystem beneath;
  FaultyFileSystem files(beneath, {FaultKind::kIoError, 7, true});
  Journals journals = journals_on(files);
  ASSERT_TRUE(journals.begin(1, Sequence{1}).ok());
  EXPECT_EQ(journals.append(as_bytes("record"), 1).message().find("/000001.journal: "), 0U);
}

TEST(JournalFiles, AllThatAreNeededCount) {
  CrashFileSystem files;
  Journals journals = journals_on(files);
  const std::string payload(1000, 'p');
  ASSERT_TRUE(journals.begin(1, Sequence{1}).ok());
  ASSERT_TRUE(journals.append(as_bytes(payload), 1).ok());
  const std::uint64_t one = journals.counts().bytes;
  EXPECT_GT(one, payload.size());
  ASSERT_TRUE(journals.begin(2, Sequence{2}).ok());
  ASSERT_TRUE(journals.append(as_bytes(payload), 1).ok());
  EXPECT_EQ(journals.counts().bytes, 2 * one);
  journals.release_before(2);
  EXPECT_EQ(journals.counts().bytes, one);
}

TEST(JournalFiles, OneThatIsPreparedBecomesTheNextJournal) {
  CrashFileSystem files;
  Journals journals = journals_on(files);
  ASSERT_TRUE(journals.begin(1, Sequence{1}).ok());
  ASSERT_TRUE(journals.begin(2, Sequence{1}).ok());
  journals.release_before(2);
  journals.prepare_next();
  EXPECT_TRUE(files.file_size("/000001.journal.tmp")->has_value());
  ASSERT_TRUE(journals.begin(4, Sequence{1}).ok());
  EXPECT_EQ(journals.newest(), 4U);
  EXPECT_EQ(*files.file_size("/000001.journal.tmp"), std::nullopt);
  EXPECT_TRUE(files.file_size("/000004.journal")->has_value());
}

}  // namespace
}  // namespace tamis
