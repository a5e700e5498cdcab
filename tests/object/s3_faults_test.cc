// What S3ObjectStore makes of servers and networks that fail while a request is under way.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "object/s3_object_store.h"
#include "object/s3_server.h"

namespace tamis {
namespace {

class S3Faults : public testing::Test {
 protected:
  void SetUp() override {
    if (!CurlLibrary::open().ok()) GTEST_SKIP() << "no libcurl";
    open(server_.settings());
  }
  void open(const S3Settings& settings) {
    Result<std::unique_ptr<S3ObjectStore>> opened = S3ObjectStore::open(settings);
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    objects_ = std::move(*opened);
  }
  void fault(const std::string& what) { EXPECT_EQ(server_.command("fault " + what), "ok"); }

  ObjectAnswer put_new(std::string_view name, std::string_view text) {
    const Result<ObjectWritten> written = objects_->put_new(name, as_bytes(text));
    EXPECT_TRUE(written.ok()) << written.status().to_text();
    EXPECT_EQ(written->answer == ObjectAnswer::kUnknown, !written->why.empty()) << written->why;
    return written->answer;
  }
  ObjectAnswer put(std::string_view name, std::string_view text) {
    const Result<ObjectWritten> written = objects_->put(name, as_bytes(text));
    EXPECT_TRUE(written.ok()) << written.status().to_text();
    return written->answer;
  }
  std::string get(std::string_view name) {
    const Result<ObjectRead> read = objects_->get(name);
    if (!read.ok()) return read.status().to_text();
    return read->answer == ObjectAnswer::kDone ? read->bytes : std::string(to_string(read->answer));
  }

  test::S3Server server_;
  std::unique_ptr<S3ObjectStore> objects_;
};

TEST_F(S3Faults, AFailedConditionalPutIsUnknownWhetherOrNotItWasDone) {
  fault("500-done PUT 1");
  EXPECT_EQ(put_new("a", "mine"), ObjectAnswer::kUnknown);
  EXPECT_EQ(get("a"), "mine");
  fault("500-not-done PUT 1");
  EXPECT_EQ(put_new("b", "mine"), ObjectAnswer::kUnknown);
  EXPECT_EQ(get("b"), "absent");
  const std::string etag = objects_->get("a")->etag;
  fault("500-done PUT 1");
  EXPECT_EQ(objects_->put_if("a", as_bytes("mine too"), etag)->answer, ObjectAnswer::kUnknown);
  EXPECT_EQ(get("a"), "mine too");
}

/// libcurl sends a request again when a kept connection ends without an answer, and that one would be refused by what
/// the first has done.
TEST_F(S3Faults, AConditionalPutIsNotRepeatedWhenAKeptConnectionEnds) {
  EXPECT_EQ(put_new("first", "opens the connection"), ObjectAnswer::kDone);
  fault("cut-done PUT 1");
  EXPECT_EQ(put_new("a", "mine"), ObjectAnswer::kUnknown);
  EXPECT_EQ(get("a"), "mine");
  fault("cut-done PUT 1");
  EXPECT_EQ(put_new("empty", ""), ObjectAnswer::kUnknown);
  EXPECT_EQ(get("empty"), "");
}

TEST_F(S3Faults, ATimeoutOfAConditionalPutIsUnknown) {
  S3Settings settings = server_.settings();
  settings.try_limit = std::chrono::milliseconds(100);
  open(settings);
  fault("slow PUT 1");
  EXPECT_EQ(put_new("a", "mine"), ObjectAnswer::kUnknown);
}

TEST_F(S3Faults, OtherRequestsAreRepeatedUntilAnswered) {
  fault("500-not-done PUT 1");
  fault("cut-not-done PUT 1");
  fault("cut-done PUT 1");
  EXPECT_EQ(put("a", "one"), ObjectAnswer::kDone);
  fault("500-not-done GET 2");
  EXPECT_EQ(get("a"), "one");
  fault("cut-done GET 2");
  EXPECT_EQ(objects_->list("", "")->objects.size(), 1U);
  fault("500-done DELETE 1");
  EXPECT_EQ(objects_->remove("a")->answer, ObjectAnswer::kDone);
  EXPECT_EQ(get("a"), "absent");
}

TEST_F(S3Faults, ATruncatedBodyIsReadAgain) {
  const std::string text(100'000, 'x');
  EXPECT_EQ(put("a", text), ObjectAnswer::kDone);
  fault("truncated GET 2");
  EXPECT_EQ(get("a"), text);
}

TEST_F(S3Faults, GivesUpAtTheDeadline) {
  S3Settings settings = server_.settings();
  settings.deadline = std::chrono::milliseconds(300);
  open(settings);
  fault("500-not-done GET 1000000");
  EXPECT_EQ(get("a"), "unknown");
  const Result<ObjectRead> read = objects_->get("a");
  EXPECT_NE(read->why.find("500 InternalError"), std::string::npos) << read->why;
}

TEST_F(S3Faults, AServerThatIsNotThereIsUnknownAndNamed) {
  S3Settings settings = server_.settings();
  settings.endpoint = "http://127.0.0.1:1";
  settings.deadline = std::chrono::milliseconds(200);
  open(settings);
  const Result<ObjectWritten> written = objects_->put_new("a", as_bytes("mine"));
  EXPECT_EQ(written->answer, ObjectAnswer::kUnknown);
  EXPECT_NE(written->why.find("127.0.0.1"), std::string::npos) << written->why;
}

TEST_F(S3Faults, KeepsItsConnection) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(put("a", "one"), ObjectAnswer::kDone);
  EXPECT_EQ(server_.command("connections"), "1");
  EXPECT_EQ(server_.command("requests"), "20");
}

class S3Parts : public S3Faults {
 protected:
  void SetUp() override {
    S3Faults::SetUp();
    S3Settings settings = server_.settings();
    settings.whole_put_bytes = settings.part_bytes = 1000;
    open(settings);
    for (int i = 0; i < 2500; ++i) text_ += static_cast<char>('a' + i % 23);
  }
  std::string text_;
};

TEST_F(S3Parts, MakeOneObject) {
  EXPECT_EQ(put("a", text_), ObjectAnswer::kDone);
  EXPECT_EQ(get("a"), text_);
  EXPECT_EQ(server_.command("uploads"), "0");
  const std::string etag = objects_->put("b", as_bytes(text_))->etag;
  EXPECT_EQ(etag, objects_->get("b")->etag);
}

TEST_F(S3Parts, AreRemovedIfOneCannotBePut) {
  S3Settings settings = server_.settings();
  settings.whole_put_bytes = settings.part_bytes = 1000;
  settings.deadline = std::chrono::milliseconds(200);
  open(settings);
  fault("500-not-done PUT 1000000");
  EXPECT_EQ(put("a", text_), ObjectAnswer::kUnknown);
  EXPECT_EQ(server_.command("uploads"), "0");
  EXPECT_EQ(get("a"), "absent");
}

TEST_F(S3Parts, CompletedBeforeTheAnswerWasLostAreDone) {
  EXPECT_EQ(put("first", text_), ObjectAnswer::kDone);
  fault("slow POST 1");  // Of the beginning: lets the next fault meet the completion.
  fault("cut-done POST 1");
  EXPECT_EQ(put("a", text_), ObjectAnswer::kDone);
  EXPECT_EQ(get("a"), text_);
}

class S3Refusals : public S3Faults {
 protected:
  /// What a put says, with settings that are changed.
  template <typename Change>
  Status refused(Change change) {
    S3Settings settings = server_.settings();
    change(settings);
    open(settings);
    return objects_->put("a", as_bytes("one")).status();
  }
  static void expect(const Status& status, StatusCode code, std::string_view text) {
    EXPECT_EQ(status.code(), code);
    EXPECT_NE(status.message().find(text), std::string_view::npos) << status.to_text();
  }
};

TEST_F(S3Refusals, SayWhatIsWrongAndWhatToDo) {
  expect(refused([](S3Settings& s) { s.access_key = "other"; }), StatusCode::kInvalidArgument, "access key 'other'");
  expect(refused([](S3Settings& s) { s.secret_key = "other"; }), StatusCode::kInvalidArgument, "secret key");
  expect(refused([](S3Settings& s) { s.region = "there"; }), StatusCode::kInvalidArgument, "set AWS_REGION=here");
  expect(refused([](S3Settings& s) { s.bucket = "other"; }), StatusCode::kIoError, "no such bucket");
  fault("skewed PUT 1");
  expect(refused([](S3Settings&) {}), StatusCode::kInvalidArgument, "behind the server's");
  server_.command("denied");
  expect(refused([](S3Settings&) {}), StatusCode::kIoError, "right");
}

TEST_F(S3Refusals, AFullBucketIsOutOfSpace) {
  server_.command("quota");
  expect(refused([](S3Settings&) {}), StatusCode::kOutOfSpace, "full");
}

TEST_F(S3Refusals, AVersionedBucketIsSeen) {
  EXPECT_EQ(*objects_->is_versioned(), false);
  server_.command("versioned");
  EXPECT_EQ(*objects_->is_versioned(), true);
}

}  // namespace
}  // namespace tamis
