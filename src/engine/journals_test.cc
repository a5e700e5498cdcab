#include "engine/journals.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "engine/random_source.h"
#include "io/memory_file_system.h"
#include "support/passing_file_system.h"

namespace tamis {
namespace {

/// Does something else, once, after a file was renamed.
class InterruptedRename final : public test::PassingFileSystem {
 public:
  using PassingFileSystem::PassingFileSystem;
  Status rename(const std::string& from, const std::string& to) override {
    Status renamed = PassingFileSystem::rename(from, to);
    if (const auto now = std::exchange(interrupt, nullptr)) now();
    return renamed;
  }

  std::function<void()> interrupt;
};

/// While whoever flushes prepares the file of a journal, that journal turns out to be one that could not be synced.
TEST(JournalFiles, Rule5_OneThatIsBeingPreparedWhileAJournalFailsIsNotRecycled) {
  MemoryFileSystem beneath;
  ASSERT_TRUE(beneath.make_directory("/store").ok());
  InterruptedRename files(beneath);
  const auto random = make_random_source(1);
  Journals journals(files, "/store", {}, *random, 0);
  ASSERT_TRUE(journals.begin(1, Sequence{1}).ok());
  ASSERT_TRUE(journals.begin(2, Sequence{1}).ok());
  journals.release_before(2);
  ASSERT_EQ(journals.counts().recycled_files, 1U);
  files.interrupt = [&] { EXPECT_TRUE(journals.begin_after_failure(3, Sequence{1}).ok()); };
  journals.prepare_next();
  EXPECT_EQ(journals.counts().recycled_files, 0U);
  EXPECT_EQ(*beneath.file_size("/store/000001.journal.tmp"), std::nullopt);
}

TEST(JournalFiles, AllThatAreNeededCount) {
  MemoryFileSystem files;
  ASSERT_TRUE(files.make_directory("/store").ok());
  const auto random = make_random_source(1);
  Journals journals(files, "/store", {}, *random, 0);
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
  MemoryFileSystem files;
  ASSERT_TRUE(files.make_directory("/store").ok());
  const auto random = make_random_source(1);
  Journals journals(files, "/store", {}, *random, 0);
  ASSERT_TRUE(journals.begin(1, Sequence{1}).ok());
  ASSERT_TRUE(journals.begin(2, Sequence{1}).ok());
  journals.release_before(2);
  journals.prepare_next();
  EXPECT_TRUE(files.file_size("/store/000001.journal.tmp")->has_value());
  ASSERT_TRUE(journals.begin(4, Sequence{1}).ok());
  EXPECT_EQ(journals.newest(), 4U);
  EXPECT_EQ(*files.file_size("/store/000001.journal.tmp"), std::nullopt);
  EXPECT_TRUE(files.file_size("/store/000004.journal")->has_value());
}

}  // namespace
}  // namespace tamis
