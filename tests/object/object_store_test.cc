// The contract of ObjectStore, for every implementation. With TAMIS_S3_TEST_URL=s3://bucket/prefix and the usual
// variables in the environment also on a real server (scripts/check-bucket).
#include "object/object_store.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <thread>

#include "io/posix_file_system.h"
#include "support/memory_object_store.h"
#if TAMIS_HAS_S3
#include "object/s3_object_store.h"
#include "object/s3_server.h"
#endif

namespace tamis {
namespace {

/// A store and whatever it needs.
struct Place {
  std::shared_ptr<void> server = {};
  std::unique_ptr<ObjectStore> objects = {};
};

struct Implementation {
  std::string name;
  std::function<Place()> make;

  friend void PrintTo(const Implementation& one, std::ostream* out) { *out << one.name; }
};

std::vector<Implementation> implementations() {
  std::vector<Implementation> list = {
      {"InMemory", [] { return Place{.objects = std::make_unique<test::MemoryObjectStore>()}; }}};
#if TAMIS_HAS_S3
  for (const auto etags : {test::S3Server::Etags::kQuoted, test::S3Server::Etags::kBare}) {
    list.push_back({etags == test::S3Server::Etags::kBare ? "BareEtags" : "QuotedEtags", [etags] {
                      auto server = std::make_shared<test::S3Server>(etags);
                      auto objects = S3ObjectStore::open(server->settings());
                      return Place{.server = server, .objects = objects.ok() ? std::move(*objects) : nullptr};
                    }});
  }
  if (const char* const url = std::getenv("TAMIS_S3_TEST_URL"); url != nullptr) {
    list.push_back({"Real", [url] {
                      static std::atomic<int> used = 0;
                      const std::string prefix = fmt::format("{}/{}-{}", url, ::getpid(), used++);
                      const auto settings = read_s3_settings(prefix, "", process_environment(), posix_file_system());
                      EXPECT_TRUE(settings.ok()) << settings.status().to_text();
                      auto objects = S3ObjectStore::open(*settings);
                      return Place{.objects = objects.ok() ? std::move(*objects) : nullptr};
                    }});
  }
#endif
  return list;
}

class ObjectStoreContract : public testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    if (!place_.objects) GTEST_SKIP() << "no libcurl";
  }
  void TearDown() override {
    if (!place_.objects) return;
    const Result<ObjectList> left = objects().list("", "");
    ASSERT_TRUE(left.ok()) << left.status().to_text();
    for (const ListedObject& object : left->objects) EXPECT_TRUE(objects().remove(object.name).ok());
  }
  ObjectStore& objects() { return *place_.objects; }

  /// The etag of what was written.
  std::string put(std::string_view name, std::string_view text) {
    const Result<ObjectWritten> written = objects().put(name, as_bytes(text));
    EXPECT_TRUE(written.ok()) << written.status().to_text();
    EXPECT_EQ(written->answer, ObjectAnswer::kDone) << written->why;
    return written->etag;
  }
  std::string get(std::string_view name) {
    const Result<ObjectRead> read = objects().get(name);
    if (!read.ok()) return read.status().to_text();
    return read->answer == ObjectAnswer::kDone ? read->bytes : std::string(to_string(read->answer));
  }
  ObjectRead get_range(std::string_view name, ObjectRange range) {
    const Result<ObjectRead> read = objects().get(name, range, {});
    EXPECT_TRUE(read.ok()) << read.status().to_text();
    EXPECT_EQ(read->answer, ObjectAnswer::kDone) << read->why;
    return *read;
  }
  ObjectAnswer put_new(std::string_view name, std::string_view text) {
    return answer_of(objects().put_new(name, as_bytes(text)));
  }
  ObjectAnswer put_if(std::string_view name, std::string_view text, std::string_view etag) {
    return answer_of(objects().put_if(name, as_bytes(text), etag));
  }
  std::vector<std::string> names(std::string_view prefix, std::string_view after = {}) {
    const Result<ObjectList> list = objects().list(prefix, after);
    EXPECT_TRUE(list.ok()) << list.status().to_text();
    std::vector<std::string> names;
    for (const ListedObject& object : list->objects) names.push_back(object.name);
    return names;
  }

 private:
  static ObjectAnswer answer_of(const Result<ObjectWritten>& written) {
    EXPECT_TRUE(written.ok()) << written.status().to_text();
    return written->answer;
  }

  Place place_ = GetParam().make();
};

using Names = std::vector<std::string>;

TEST_P(ObjectStoreContract, GivesBackWhatWasPut) {
  EXPECT_EQ(get("a"), "absent");
  const std::string first = put("a", "one");
  EXPECT_EQ(get("a"), "one");
  const std::string second = put("a", "other");
  EXPECT_EQ(get("a"), "other");
  EXPECT_NE(first, second);
  EXPECT_EQ(objects().get("a")->etag, second);
  put("empty", "");
  EXPECT_EQ(get("empty"), "");
  const std::string every_byte = [] {
    std::string bytes;
    for (int i = 0; i < 70'000; ++i) bytes += static_cast<char>(i * 7);
    return bytes;
  }();
  put("bytes", every_byte);
  EXPECT_EQ(get("bytes"), every_byte);
}

TEST_P(ObjectStoreContract, GivesRanges) {
  const std::string etag = put("a", "0123456789");
  const ObjectRead middle = get_range("a", {3, 4});
  EXPECT_EQ(middle.bytes, "3456");
  EXPECT_EQ(middle.object_bytes, 10U);
  EXPECT_EQ(middle.etag, etag);
  EXPECT_EQ(get_range("a", {8, 100}).bytes, "89");
  EXPECT_EQ(get_range("a", {10, 1}).bytes, "");
  EXPECT_EQ(get_range("a", {1000, 1}).bytes, "");
  EXPECT_EQ(objects().get("b", ObjectRange{0, 1}, {})->answer, ObjectAnswer::kAbsent);
}

TEST_P(ObjectStoreContract, SendsNothingThatTheReaderHas) {
  const std::string etag = put("a", "one");
  EXPECT_EQ(objects().get("a", std::nullopt, etag)->answer, ObjectAnswer::kRefused);
  put("a", "two");
  const Result<ObjectRead> read = objects().get("a", std::nullopt, etag);
  EXPECT_EQ(read->answer, ObjectAnswer::kDone);
  EXPECT_EQ(read->bytes, "two");
}

TEST_P(ObjectStoreContract, PutsANewObjectOnce) {
  EXPECT_EQ(put_new("a", "one"), ObjectAnswer::kDone);
  EXPECT_EQ(put_new("a", "two"), ObjectAnswer::kRefused);
  EXPECT_EQ(get("a"), "one");
}

TEST_P(ObjectStoreContract, ReplacesOnlyTheObjectThatHasTheEtag) {
  EXPECT_EQ(put_if("a", "none", "\"00000000000000000000000000000000\""), ObjectAnswer::kRefused);
  EXPECT_EQ(get("a"), "absent");
  const std::string first = put("a", "one");
  EXPECT_EQ(put_if("a", "two", first), ObjectAnswer::kDone);
  EXPECT_EQ(get("a"), "two");
  EXPECT_EQ(put_if("a", "three", first), ObjectAnswer::kRefused);
  EXPECT_EQ(get("a"), "two");
  EXPECT_EQ(put_if("a", "four", objects().get("a")->etag), ObjectAnswer::kDone);
  EXPECT_EQ(get("a"), "four");
}

TEST_P(ObjectStoreContract, OfWritersAtOnceOneIsDone) {
  constexpr int kWriters = 4;
  for (int round = 0; round < 5; ++round) {
    const std::string name = fmt::format("race {}", round);
    std::atomic<int> done = 0;
    std::atomic<int> unknown = 0;
    std::vector<std::thread> writers;
    for (int i = 0; i < kWriters; ++i) {
      writers.emplace_back([&, i] {
        const ObjectAnswer answer = put_new(name, fmt::format("writer {}", i));
        done += answer == ObjectAnswer::kDone ? 1 : 0;
        unknown += answer == ObjectAnswer::kUnknown ? 1 : 0;
      });
    }
    for (std::thread& writer : writers) writer.join();
    EXPECT_LE(done, 1);
    EXPECT_GE(done + unknown, 1);  // Losers of a race may get no verdict.
    EXPECT_EQ(get(name).substr(0, 7), "writer ");
  }
}

TEST_P(ObjectStoreContract, ListsWhatIsThereInOrder) {
  EXPECT_EQ(names(""), Names());
  for (const std::string_view name : {"b/2", "a", "b/10", "b/1", "c", "b/3", "b/4", "b/5"}) put(name, name);
  EXPECT_EQ(names(""), (Names{"a", "b/1", "b/10", "b/2", "b/3", "b/4", "b/5", "c"}));
  EXPECT_EQ(names("b/"), (Names{"b/1", "b/10", "b/2", "b/3", "b/4", "b/5"}));
  EXPECT_EQ(names("b/", "b/10"), (Names{"b/2", "b/3", "b/4", "b/5"}));
  EXPECT_EQ(names("b/", "b/105"), (Names{"b/2", "b/3", "b/4", "b/5"}));
  EXPECT_EQ(names("b/1"), (Names{"b/1", "b/10"}));
  EXPECT_EQ(names("d"), Names());
  const ListedObject first = objects().list("", "")->objects.front();
  EXPECT_EQ(first.bytes, 1U);
  EXPECT_EQ(first.etag, objects().get("a")->etag);
}

TEST_P(ObjectStoreContract, RemovesForGood) {
  put("a", "one");
  EXPECT_EQ(objects().remove("a")->answer, ObjectAnswer::kDone);
  EXPECT_EQ(get("a"), "absent");
  EXPECT_EQ(names(""), Names());
  EXPECT_EQ(objects().remove("a")->answer, ObjectAnswer::kDone);
  EXPECT_EQ(put_new("a", "two"), ObjectAnswer::kDone);
}

TEST_P(ObjectStoreContract, TakesNamesOfAnyCharacters) {
  const Names odd = {"!*'();:@,$&=+", "%41 %", "<a href=\"b\">&amp;</a>", "a  b", "~-._", "ä/€/😀"};
  for (const std::string& name : odd) {
    EXPECT_EQ(put_new(name, name), ObjectAnswer::kDone) << name;
    EXPECT_EQ(get(name), name);
    EXPECT_EQ(names(name), Names{name});
  }
  EXPECT_EQ(names(""), odd);
}

TEST_P(ObjectStoreContract, RefusesNamesThatServersChange) {
  for (const std::string_view name : {"", "/a", "a/", "a//b", "a/../b", "./a", "a\nb", "\xff"}) {
    EXPECT_EQ(objects().put_new(name, {}).status().code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(objects().get(name).status().code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(objects().remove(name).status().code(), StatusCode::kInvalidArgument) << name;
  }
  EXPECT_EQ(put_new(std::string(kMaxObjectName, 'a'), "long"), ObjectAnswer::kDone);
  EXPECT_FALSE(objects().put_new(std::string(kMaxObjectName + 1, 'a'), {}).ok());
}

INSTANTIATE_TEST_SUITE_P(Stores, ObjectStoreContract, testing::ValuesIn(implementations()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tamis
