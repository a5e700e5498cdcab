// The checks of tamis torture: stores that broke a promise are made by hand, and every one of them is caught.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>

#include "cli/torture/check.h"
#include "cli/torture/folder.h"
#include "cli/torture/look.h"
#include "cli/torture/plan.h"
#include "cli/torture/process.h"
#include "process/child_process.h"

namespace tamis::cli {
namespace {

using Kind = Finding::Kind;

const Options kOptions{.value_bytes_apart = 150, .merge_operator = std::string(TortureScript::kMergeOperator)};

/// A store to which writers 0 and 1 have committed 40 and 60 times, one after the other.
class TortureCheck : public testing::Test {
 protected:
  static constexpr std::uint64_t kFirst = 40;
  static constexpr std::uint64_t kSecond = 60;

  TortureCheck() {
    Result<DB> opened = DB::open(path_, kOptions);
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    db_.emplace(*std::move(opened));
    Result<Keyspace> second = db_->keyspace(TortureScript::kSecondKeyspace);
    EXPECT_TRUE(second.ok()) << second.status().to_text();
    second_ = *std::move(second);
    for (std::uint64_t commit = 1; commit <= kFirst; ++commit) write(0, commit, {commit - 1, 0});
    for (std::uint64_t commit = 1; commit <= kSecond; ++commit) write(1, commit, {kFirst, commit - 1});
  }

  void write(std::uint32_t writer, std::uint64_t commit, std::vector<std::uint64_t> after) {
    const Status written = db_->write(script_.batch(writer, {commit, std::move(after)}, second_));
    ASSERT_TRUE(written.ok()) << written.to_text();
  }
  /// Reads everything in every way: all answers agree.
  Kind look(const Moment& at_least, const Moment& at_most) {
    EXPECT_TRUE(db_->close().ok());
    db_.reset();
    Moment found;
    last_ = look_at_store(path_, kOptions, script_, {at_least, at_most}, counts_, found);
    const Finding quick = look_without_writing(path_, kOptions, script_, {at_least, at_most}, counts_);
    EXPECT_EQ(quick.kind == Kind::kRight, last_.kind == Kind::kRight) << quick.what << " / " << last_.what;
    return last_.kind;
  }
  /// A present key of the writer, in that keyspace.
  std::string present_key(std::uint32_t writer, std::uint64_t commits, bool is_second) {
    for (std::uint32_t index = is_second ? 1 : 0; index < script_.keys(); index += 2) {
      if (script_.value(writer, index, commits)) return script_.key(writer, index);
    }
    return "";
  }
  /// Where the key belongs.
  Keyspace keyspace_of(std::uint32_t index) {
    return TortureScript::is_in_second_keyspace(index) ? second_ : *db_->keyspace("default");
  }
  /// Writes the part of writer 0's next commit that goes to this keyspace, and its note. Whether a change is missing.
  bool write_part(std::uint64_t commit, std::uint32_t keyspace_id) {
    const Batch whole = script_.batch(0, {commit, {commit - 1, kSecond}}, second_);
    Batch part;
    for (const Batch::Operation& change : whole) {
      if (change.keyspace_id != keyspace_id && change.key != script_.note_key(0)) continue;
      if (change.keyspace_id == 0) {
        copy(change, part);
      } else {
        copy(change, part, second_);
      }
    }
    EXPECT_TRUE(db_->write(part).ok());
    for (std::uint32_t index = keyspace_id == 0 ? 1 : 0; index < script_.keys(); index += 2) {
      if (script_.value(0, index, commit) != script_.value(0, index, commit - 1)) return true;
    }
    return false;
  }
  template <typename... Into>
  static void copy(const Batch::Operation& change, Batch& to, const Into&... into) {
    using enum Batch::Operation::Kind;
    switch (change.kind) {
      case kPut:
        if (change.expires_at) return to.put(into..., change.key, change.value, *change.expires_at);
        return to.put(into..., change.key, change.value);
      case kRemove: return to.remove(into..., change.key);
      case kRemoveRange: return to.remove_range(into..., change.key, change.value);
      case kMerge: return to.merge(into..., change.key, change.value);
    }
  }

  const test::ScratchFolder scratch_;
  const std::string path_ = scratch_.path();
  const TortureScript script_{{.seed = 7, .writers = 2, .keys = 30}};
  std::optional<DB> db_;
  Keyspace second_;
  TortureCounts counts_;
  Finding last_;
};

TEST_F(TortureCheck, AStoreThatKeptItsPromisesIsRight) {
  EXPECT_EQ(look({kFirst, kSecond}, {kFirst, kSecond}), Kind::kRight) << last_.what;
  EXPECT_GT(counts_.reads, 300U);
}

TEST_F(TortureCheck, ACommitUnderWayMayBeThereOrNot) {
  EXPECT_EQ(look({kFirst - 1, kSecond - 1}, {kFirst, kSecond + 1}), Kind::kRight) << last_.what;
}

TEST_F(TortureCheck, AnAcknowledgedCommitThatIsMissingIsSeen) {
  EXPECT_EQ(look({kFirst + 1, kSecond}, {kFirst + 2, kSecond}), Kind::kWrong);
  EXPECT_NE(last_.what.find("41 commits acknowledged, but only 40 are there"), std::string::npos) << last_.what;
}

TEST_F(TortureCheck, ACommitThatNobodyBeganIsSeen) {
  EXPECT_EQ(look({kFirst, kSecond - 2}, {kFirst, kSecond - 1}), Kind::kWrong);
}

TEST_F(TortureCheck, ALostKeyIsSeen) {
  ASSERT_TRUE(db_->remove(present_key(1, kSecond, false)).ok());
  EXPECT_EQ(look({kFirst, kSecond}, {kFirst, kSecond}), Kind::kWrong);
}

TEST_F(TortureCheck, ALostKeyOfTheSecondKeyspaceIsSeen) {
  ASSERT_TRUE(second_.remove(present_key(1, kSecond, true)).ok());
  EXPECT_EQ(look({kFirst, kSecond}, {kFirst, kSecond}), Kind::kWrong);
}

TEST_F(TortureCheck, AKeyInTheOtherKeyspaceIsSeen) {
  ASSERT_TRUE(second_.put(script_.key(0, 0), "x").ok());
  Moment found;
  EXPECT_EQ(TortureReader(*db_, script_).multi_get({0}, nullptr, found).kind, Kind::kWrong);
  EXPECT_EQ(look({kFirst, kSecond}, {kFirst, kSecond}), Kind::kWrong);
}

TEST_F(TortureCheck, AMissingKeyspaceIsSeen) {
  ASSERT_TRUE(db_->drop_keyspace(TortureScript::kSecondKeyspace).ok());
  EXPECT_EQ(look({kFirst, kSecond}, {kFirst, kSecond}), Kind::kWrong);
}

/// A batch over keyspaces of which only one part has arrived.
TEST_F(TortureCheck, ABatchThatIsMissingInOneKeyspaceIsSeen) {
  std::uint64_t commit = kFirst;
  for (const std::uint32_t there : {0U, second_.id()}) {
    const std::uint64_t first = commit + 1;
    while (!write_part(++commit, there)) continue;
    Moment found;
    EXPECT_EQ(TortureReader(*db_, script_).scan(nullptr, found).kind, Kind::kWrong) << there;
    for (std::uint64_t again = first; again <= commit; ++again) write(0, again, {again - 1, kSecond});
    EXPECT_EQ(TortureReader(*db_, script_).scan(nullptr, found).kind, Kind::kRight) << there;
  }
}

TEST_F(TortureCheck, ARemovedKeyThatIsBackIsSeen) {
  for (std::uint32_t index = 0; index < script_.keys(); ++index) {
    if (script_.value(0, index, kFirst)) continue;
    ASSERT_TRUE(keyspace_of(index).put(script_.key(0, index), "").ok());
    EXPECT_EQ(look({kFirst, kSecond}, {kFirst, kSecond}), Kind::kWrong);
    return;
  }
  FAIL() << "no key is removed after this many commits";
}

TEST_F(TortureCheck, AnOldValueIsSeen) {
  for (std::uint32_t index = 0; index < script_.keys(); ++index) {
    const auto now = script_.value(0, index, kFirst);
    const auto old = script_.value(0, index, kFirst / 2);
    if (!old || now == old) continue;
    ASSERT_TRUE(keyspace_of(index).put(script_.key(0, index), *old).ok());
    EXPECT_EQ(look({kFirst, kSecond}, {kFirst, kSecond}), Kind::kWrong);
    return;
  }
  FAIL() << "no key was overwritten";
}

/// A merge that is missing, one that was applied twice, and one in the wrong place.
TEST_F(TortureCheck, AWrongFoldIsSeen) {
  int found = 0;
  for (std::uint32_t index = 0; index < script_.keys(); ++index) {
    const std::string value = script_.value(1, index, kSecond).value_or("");
    const std::size_t last = value.rfind("[+");
    if (last == std::string::npos) continue;
    ++found;
    Keyspace keyspace = keyspace_of(index);
    for (const std::string& wrong : {value.substr(0, last), value + value.substr(last), value.substr(last) + value}) {
      ASSERT_TRUE(keyspace.put(script_.key(1, index), wrong).ok());
      Moment moment;
      EXPECT_EQ(TortureReader(*db_, script_).scan(nullptr, moment).kind, Kind::kWrong) << wrong;
      EXPECT_TRUE(script_.may_be_left(1, index, value.substr(0, last), kSecond));
    }
    EXPECT_FALSE(script_.may_be_left(1, index, value + "x", kSecond));
    EXPECT_FALSE(script_.may_be_left(1, index, value + "[+1.fff]", kSecond));
    EXPECT_FALSE(script_.may_be_left(1, index, value, 0));
    EXPECT_TRUE(script_.may_be_left(1, index, value, kSecond));
    ASSERT_TRUE(keyspace.put(script_.key(1, index), value).ok());
  }
  EXPECT_GT(found, 0);
  EXPECT_EQ(look({kFirst, kSecond}, {kFirst, kSecond}), Kind::kRight) << last_.what;
}

/// As another process would, while this one writes.
TEST_F(TortureCheck, AFollowerShowsEverythingThatWasAcknowledged) {
  Options options = kOptions;
  options.read_only = options.follows = true;
  Result<DB> follower = DB::open(path_, options);
  ASSERT_TRUE(follower.ok()) << follower.status().to_text();
  Moment found;
  const auto follow = [&](const Moment& at_least) {
    return look_beside_writer(*follower, script_, at_least, counts_, found);
  };
  EXPECT_TRUE(follow({kFirst, kSecond}).is_right());
  for (std::uint64_t commit = kFirst + 1; commit <= kFirst + 20; ++commit) write(0, commit, {commit - 1, kSecond});
  const Finding right = follow({kFirst + 20, kSecond});
  EXPECT_TRUE(right.is_right()) << right.what;
  EXPECT_EQ(found, (Moment{kFirst + 20, kSecond}));
  EXPECT_EQ(follow({kFirst + 21, kSecond}).kind, Kind::kWrong) << "an acknowledged commit is missing";
  ASSERT_TRUE(db_->put("foreign", "x").ok());
  EXPECT_EQ(follow({kFirst, kSecond}).kind, Kind::kWrong) << "nobody wrote that";
  EXPECT_EQ(counts_.followed, 4U);
}

/// A batch of which only the note has arrived.
TEST_F(TortureCheck, HalfABatchIsSeen) {
  ASSERT_TRUE(db_->put(script_.note_key(1), fmt::format("{} {} {}", kSecond + 1, kFirst, kSecond)).ok());
  EXPECT_EQ(look({kFirst, kSecond}, {kFirst, kSecond + 1}), Kind::kWrong);
}

/// Writer 1 began its next commit after one of writer 0 was acknowledged, which is missing.
TEST_F(TortureCheck, ACommitWithoutOneThatCameBeforeItIsSeen) {
  write(1, kSecond + 1, {kFirst + 1, kSecond});
  EXPECT_EQ(look({kFirst, kSecond}, {kFirst + 1, kSecond + 1}), Kind::kWrong);
  EXPECT_NE(last_.what.find("of the 41 commits of writer 0"), std::string::npos) << last_.what;
}

TEST_F(TortureCheck, AKeyThatNobodyWroteIsSeen) {
  for (const char* key : {"", "foreign", "writer1:", "zzz"}) {
    ASSERT_TRUE(db_->put(key, "x").ok());
    Moment found;
    EXPECT_EQ(TortureReader(*db_, script_).scan(nullptr, found).kind, Kind::kWrong) << key;
    ASSERT_TRUE(db_->remove(key).ok());
  }
  EXPECT_EQ(look({kFirst, kSecond}, {kFirst, kSecond}), Kind::kRight) << last_.what;
}

TEST_F(TortureCheck, AFileThatIsNoPartOfTheStoreIsSeen) {
  std::filesystem::create_directory(path_ + "/lost");
  EXPECT_TRUE(db_->close().ok());
  db_.reset();
  Moment found;
  const Expected expected = {{kFirst, kSecond}, {kFirst, kSecond}};
  EXPECT_EQ(look_at_store(path_, kOptions, script_, expected, counts_, found).kind, Kind::kWrong);
  EXPECT_EQ(look_at_store(path_, kOptions, script_, expected, counts_, found, /*checks_files=*/false).kind,
            Kind::kRight);
}

TEST_F(TortureCheck, ValuesBetweenTwoMomentsAreThoseOfOneOfThem) {
  for (std::uint32_t index = 0; index < script_.keys(); ++index) {
    for (std::uint64_t commits = 30; commits <= 34; ++commits) {
      const auto value = script_.value(0, index, commits);
      EXPECT_EQ(check_value(script_, 0, index, value, 30, 34).kind, Kind::kRight);
    }
    EXPECT_EQ(check_value(script_, 0, index, "x", 30, 34).kind, Kind::kWrong);
  }
}

/// All flips of a small store, with a stride: none gives a wrong answer, so none is reported as wrong; and most are
/// noticed.
TEST_F(TortureCheck, ChangedBytesAreToldAndRepairedCopiesHoldOnlyWhatWasWritten) {
  ASSERT_TRUE(db_->flush().ok());
  write(0, kFirst + 1, {kFirst, kSecond});
  ASSERT_TRUE(db_->close().ok());
  db_.reset();
  const Moment moment = {kFirst + 1, kSecond};
  Draw draw(3);
  for (int i = 0; i < 30; ++i) {
    const std::optional<Flip> flip = draw_flip(path_, draw);
    ASSERT_TRUE(flip);
    const Finding flipped =
        look_at_flip(path_, scratch_.path("copy"), *flip, kOptions, script_, {moment, moment}, counts_);
    EXPECT_EQ(flipped.kind, Kind::kRight) << flipped.what;
    const Finding repaired = repair_damaged(path_, scratch_.path("copy"), *flip, kOptions, script_, moment, counts_);
    EXPECT_EQ(repaired.kind, Kind::kRight) << repaired.what;
  }
  EXPECT_GT(counts_.flips_refused + counts_.flips_told, 15U);
  const Finding sound = repair_sound(path_, scratch_.path("copy"), kOptions, script_, {moment, moment}, counts_);
  EXPECT_EQ(sound.kind, Kind::kRight) << sound.what;
}

/// As after a kill: the journal has no end mark, so a changed byte may cost the last commits, but no part of one.
TEST_F(TortureCheck, ChangedBytesOfAStoreThatWasLeftGiveAnEarlierMomentOrAreTold) {
  ASSERT_TRUE(db_->flush().ok());
  for (std::uint64_t commit = kFirst + 1; commit <= kFirst + 20; ++commit) write(0, commit, {commit - 1, kSecond});
  ASSERT_TRUE(db_->wait_idle().ok());  // A flush may remove or recycle a journal.
  copy_store(path_, scratch_.path("left"));
  const Expected expected = {{0, 0}, {kFirst + 20, kSecond}};
  Draw draw(4);
  for (int i = 0; i < 30; ++i) {
    const std::optional<Flip> flip = draw_flip(scratch_.path("left"), draw);
    ASSERT_TRUE(flip);
    const Finding flipped =
        look_at_flip(scratch_.path("left"), scratch_.path("copy"), *flip, kOptions, script_, expected, counts_);
    EXPECT_EQ(flipped.kind, Kind::kRight) << flipped.what;
  }
  EXPECT_GT(counts_.flips_refused + counts_.flips_told, 8U);
  EXPECT_LT(counts_.flips_refused + counts_.flips_told, 30U);
}

TEST(TortureScript, HasEveryKindOfChange) {
  const test::ScratchFolder scratch;
  Result<DB> db = DB::open(scratch.path(), kOptions);
  ASSERT_TRUE(db.ok());
  const Keyspace second = *db->keyspace(TortureScript::kSecondKeyspace);
  const TortureScript script({.seed = 3, .writers = 1, .keys = 40});
  std::map<Batch::Operation::Kind, int> kinds;
  int past = 0;
  int future = 0;
  for (std::uint64_t commit = 1; commit <= 1000; ++commit) {
    for (const Batch::Operation& change : script.batch(0, {commit, {commit - 1}}, second)) {
      ++kinds[change.kind];
      if (change.expires_at) ++(*change.expires_at < std::chrono::system_clock::now() ? past : future);
    }
  }
  EXPECT_EQ(kinds.size(), 4U);
  for (const auto& [kind, count] : kinds) EXPECT_GT(count, 10) << static_cast<int>(kind);
  EXPECT_GT(past, 100);
  EXPECT_GT(future, 100);
}

TEST(TortureScript, NoBatchIsLargerThanTheSmallestMemoryTakes) {
  const test::ScratchFolder scratch;
  Result<DB> db = DB::open(scratch.path(), {});
  ASSERT_TRUE(db.ok());
  const Keyspace second = *db->keyspace(TortureScript::kSecondKeyspace);
  const TortureScript script({.seed = 3, .writers = 1, .keys = 40});
  std::size_t largest = 0;
  for (std::uint64_t commit = 1; commit <= 20'000; ++commit) {
    largest = std::max(largest, script.batch(0, {commit, {commit - 1}}, second).byte_size());
  }
  EXPECT_LT(largest, 80U << 10);
  EXPECT_GT(largest, 20U << 10) << "larger than a memtable";
}

TEST(TorturePlan, TheSameSeedDrawsTheSameRounds) {
  for (std::uint64_t round = 0; round < 50; ++round) {
    const RoundPlan plan = plan_round(5, round);
    const RoundPlan again = plan_round(5, round);
    EXPECT_EQ(options_text(plan.options), options_text(again.options));
    EXPECT_EQ(plan.end, again.end);
    EXPECT_EQ(plan.commits, again.commits);
    EXPECT_TRUE(check_options(plan.options).ok() && check_options(plan.looking_options).ok());
    EXPECT_LE(plan.shape.writers, TortureScript::kMaxWriters);
  }
}

TEST(TortureChannel, MessagesArriveInWhateverPiecesTheyAreRead) {
  std::array<int, 2> ends = {-1, -1};
  ASSERT_EQ(::pipe(ends.data()), 0);
  tell(ends[1], {.kind = Message::Kind::kSynced, .writer = 3, .number = 1'000'000'000'000});
  tell(ends[1], {.kind = Message::Kind::kWrong, .text = std::string(10'000, 'x')});
  tell(ends[1], {.kind = Message::Kind::kClosed});
  ::close(ends[1]);
  MessageBuffer buffer;
  std::vector<Message> messages;
  for (char byte = 0; ::read(ends[0], &byte, 1) == 1;) {
    buffer.add({&byte, 1});
    while (auto message = buffer.next()) messages.push_back(*message);
  }
  ::close(ends[0]);
  EXPECT_TRUE(buffer.empty());
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[0].writer, 3);
  EXPECT_EQ(messages[0].number, 1'000'000'000'000U);
  EXPECT_EQ(messages[1].text, std::string(messages[1].text.size(), 'x')) << "cut, and whole";
  EXPECT_EQ(messages[2].kind, Message::Kind::kClosed);
}

}  // namespace
}  // namespace tamis::cli
