// The fates of requests in MemoryObjectStore, on which tests of protocols rely.
#include "support/memory_object_store.h"

#include <gtest/gtest.h>

#include <vector>

namespace tamis::test {
namespace {

class MemoryObjects : public testing::Test {
 protected:
  ObjectAnswer put_new(std::string_view name, std::string_view text) {
    return objects_.put_new(name, as_bytes(text))->answer;
  }
  ObjectAnswer put(std::string_view name, std::string_view text) { return objects_.put(name, as_bytes(text))->answer; }
  std::string get(std::string_view name) {
    const Result<ObjectRead> read = objects_.get(name);
    return read->answer == ObjectAnswer::kDone ? read->bytes : std::string(to_string(read->answer));
  }
  /// What befalls the next request; later ones are answered.
  RequestFate next_ = RequestFate::kAnswered;
  std::vector<ObjectRequest> seen_;
  MemoryObjectStore objects_{[this](const ObjectRequest& request) {
    seen_.push_back(request);
    return std::exchange(next_, RequestFate::kAnswered);
  }};
};

TEST_F(MemoryObjects, ALostRequestIsNeverDone) {
  next_ = RequestFate::kLostRequest;
  EXPECT_EQ(put_new("a", "one"), ObjectAnswer::kUnknown);
  EXPECT_EQ(get("a"), "absent");
  EXPECT_EQ(objects_.under_way(), 0U);
}

TEST_F(MemoryObjects, ALostAnswerIsDone) {
  next_ = RequestFate::kLostAnswer;
  EXPECT_EQ(put_new("a", "one"), ObjectAnswer::kUnknown);
  EXPECT_EQ(get("a"), "one");
}

TEST_F(MemoryObjects, ADelayedPutArrivesWithItsCondition) {
  next_ = RequestFate::kDelayed;
  EXPECT_EQ(put_new("a", "late"), ObjectAnswer::kUnknown);
  EXPECT_EQ(get("a"), "absent");
  EXPECT_EQ(put_new("a", "in time"), ObjectAnswer::kDone);
  objects_.arrive(0);
  EXPECT_EQ(get("a"), "in time");
  next_ = RequestFate::kDelayed;
  EXPECT_EQ(put("a", "late"), ObjectAnswer::kUnknown);
  objects_.arrive(0);
  EXPECT_EQ(get("a"), "late");
}

TEST_F(MemoryObjects, ADuplicateBringsBackWhatWasReplaced) {
  next_ = RequestFate::kDuplicated;
  EXPECT_EQ(put("a", "one"), ObjectAnswer::kDone);
  EXPECT_EQ(put("a", "two"), ObjectAnswer::kDone);
  objects_.arrive(0);
  EXPECT_EQ(get("a"), "one");
}

TEST_F(MemoryObjects, ATruncatedBodyTellsNothing) {
  EXPECT_EQ(put("a", "one"), ObjectAnswer::kDone);
  next_ = RequestFate::kTruncatedBody;
  EXPECT_EQ(get("a"), "unknown");
  EXPECT_EQ(get("a"), "one");
}

TEST_F(MemoryObjects, AnEtagReturnsWithItsContent) {
  const std::string etag = objects_.put("a", as_bytes("one"))->etag;
  EXPECT_EQ(put("a", "two"), ObjectAnswer::kDone);
  EXPECT_EQ(put("a", "one"), ObjectAnswer::kDone);
  EXPECT_EQ(objects_.put_if("a", as_bytes("three"), etag)->answer, ObjectAnswer::kDone);
}

TEST_F(MemoryObjects, TheSchedulerSeesEveryRequest) {
  EXPECT_EQ(put_new("a", "one"), ObjectAnswer::kDone);
  EXPECT_EQ(get("a"), "one");
  EXPECT_EQ(objects_.list("p", "")->answer, ObjectAnswer::kDone);
  ASSERT_EQ(seen_.size(), 3U);
  EXPECT_EQ(seen_[0].verb, ObjectVerb::kPutNew);
  EXPECT_EQ(seen_[1].verb, ObjectVerb::kGet);
  EXPECT_EQ(seen_[1].name, "a");
  EXPECT_EQ(seen_[2].name, "p");
  EXPECT_EQ(objects_.requests(), 3U);
}

/// The answers to a fixed series of requests, and what is there at the end.
std::string history(std::uint64_t seed) {
  MemoryObjectStore objects(
      {.lost_request = 15, .lost_answer = 15, .delayed = 15, .duplicated = 15, .truncated_body = 15}, seed);
  std::string history;
  for (int i = 0; i < 200; ++i) {
    const std::string name = std::to_string(i % 3);
    history += to_string(objects.put(name, as_bytes(std::to_string(i)))->answer);
    history += to_string(objects.get(name)->answer);
    if (i % 50 == 0) objects.let_all_arrive();
  }
  objects.let_all_arrive();
  objects.heal();
  for (const std::string name : {"0", "1", "2"}) history += objects.get(name)->bytes;
  return history;
}

TEST(MemoryObjectFates, FollowFromTheSeed) {
  EXPECT_EQ(history(1), history(1));
  EXPECT_NE(history(1), history(2));
}

}  // namespace
}  // namespace tamis::test
