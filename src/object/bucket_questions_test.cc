#include "object/bucket_questions.h"

#include <gtest/gtest.h>

#include "support/memory_object_store.h"

namespace tamis {
namespace {

using test::MemoryObjectStore;
using test::ObjectRequest;
using test::ObjectVerb;
using test::RequestFate;

std::string missing(const BucketReport& report) {
  std::string missing;
  for (const BucketReport::Answer& answer : report.answers) {
    if (!answer.is_yes) missing += answer.what + ";";
  }
  return missing;
}

TEST(BucketQuestions, AreAllAnsweredByASoundServerAndLeaveNothing) {
  MemoryObjectStore objects;
  const Result<BucketReport> report = ask_bucket(objects);
  ASSERT_TRUE(report.ok()) << report.status().to_text();
  EXPECT_EQ(missing(*report), "");
  EXPECT_TRUE(report->ok());
  EXPECT_EQ(report->latencies.size(), 4U);
  EXPECT_TRUE(objects.list("", "")->objects.empty());
}

/// A server that ignores conditions, as a versioned bucket does.
class WithoutConditions final : public ObjectStore {
 public:
  using ObjectStore::get;
  Result<ObjectRead> get(std::string_view name, std::optional<ObjectRange> range,
                         std::string_view if_changed) override {
    return beneath_.get(name, range, if_changed);
  }
  Result<ObjectWritten> put_new(std::string_view name, Bytes bytes) override { return beneath_.put(name, bytes); }
  Result<ObjectWritten> put_if(std::string_view name, Bytes bytes, std::string_view) override {
    return beneath_.put(name, bytes);
  }
  Result<ObjectWritten> put(std::string_view name, Bytes bytes) override { return beneath_.put(name, bytes); }
  Result<ObjectList> list(std::string_view prefix, std::string_view after) override {
    return beneath_.list(prefix, after);
  }
  Result<ObjectRemoved> remove(std::string_view name) override { return beneath_.remove(name); }

 private:
  MemoryObjectStore beneath_;
};

TEST(BucketQuestions, FindAServerThatIgnoresConditions) {
  WithoutConditions objects;
  const Result<BucketReport> report = ask_bucket(objects);
  ASSERT_TRUE(report.ok()) << report.status().to_text();
  EXPECT_FALSE(report->ok());
  const std::string text = missing(*report);
  for (const std::string_view what : {"leaves an existing object alone", "leaves an object with another ETag alone",
                                      "makes no object if one was to be replaced", "one of several writers make"}) {
    EXPECT_NE(text.find(what), std::string::npos) << what;
  }
  EXPECT_TRUE(report->latencies.empty());
}

TEST(BucketQuestions, ReportWhatHasNoAnswer) {
  MemoryObjectStore no_lists([](const ObjectRequest& request) {
    return request.verb == ObjectVerb::kList ? RequestFate::kLostRequest : RequestFate::kAnswered;
  });
  EXPECT_EQ(missing(*ask_bucket(no_lists)), "lists what was just written;");
  MemoryObjectStore no_answers([](const ObjectRequest&) { return RequestFate::kLostAnswer; });
  EXPECT_EQ(ask_bucket(no_answers).status().code(), StatusCode::kIoError);
}

}  // namespace
}  // namespace tamis
