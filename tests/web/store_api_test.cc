#include "web/store_api.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/scratch_folder.h"

namespace tamis::web {
namespace {

using Json = nlohmann::json;

/// A store that this process writes, and the answers about it.
class WebApi : public testing::Test {
 protected:
  void SetUp() override {
    writer = *DB::open(path);
    ASSERT_TRUE(writer.put("a", "1").ok() && writer.flush().ok() && writer.put("b", "2").ok());
  }
  Json ask(const std::string& what, const Parameters& parameters = {}, int status = 200) {
    const Answer answer = api().answer("/api/" + what, parameters);
    EXPECT_EQ(answer.status, status) << answer.body;
    return Json::parse(answer.body);
  }
  StoreApi& api() {
    if (!api_) api_ = std::make_unique<StoreApi>(*DB::open(path, {.read_only = true, .follows = true}), "cities");
    return *api_;
  }

  test::ScratchFolder folder;
  std::string path = folder.path();
  DB writer;

 private:
  std::unique_ptr<StoreApi> api_;
};

TEST_F(WebApi, AnswersWithTheStoreAsItIsNow) {
  EXPECT_EQ(ask("stats")["sequence"], 2);
  EXPECT_EQ(ask("explain", {{"key", "c"}})["found"], false);
  ASSERT_TRUE(writer.put("c", "3").ok());
  EXPECT_EQ(ask("stats")["sequence"], 3);
  EXPECT_EQ(ask("explain", {{"key", "c"}})["value"], "3");
  EXPECT_EQ(ask("tree")["tables"].size(), 1U);
  ASSERT_TRUE(writer.flush().ok());
  EXPECT_EQ(ask("tree")["tables"].size(), 2U);
}

TEST_F(WebApi, TheReportsAreThoseOfTheLibrary) {
  EXPECT_EQ(ask("plan", {{"filter_memory", "1K"}})["runs"], Json::parse(writer.plan(1024).to_json())["runs"]);
  EXPECT_EQ(ask("explain", {{"key", "61"}, {"hex", "1"}})["value_hex"], "31");
  const Json table = ask("tree")["tables"][0];
  EXPECT_EQ(table["smallest_key"], "a");
  EXPECT_EQ(table["bytes"], writer.stats().levels[0].bytes);
}

TEST_F(WebApi, SaysWhatIsWrong) {
  EXPECT_NE(ask("plan", {{"filter_memory", "x"}}, 400)["error"], "");
  EXPECT_NE(ask("explain", {{"key", "a"}, {"keyspace", "none"}}, 400)["error"], "");
  EXPECT_NE(ask("explain", {{"key", "6"}, {"hex", "1"}}, 400)["error"], "");
  EXPECT_NE(ask("none", {}, 404)["error"], "");
}

TEST_F(WebApi, ShowsTheBeginningOfLongKeys) {
  ASSERT_TRUE(writer.put(std::string(100'000, 'x'), "").ok() && writer.flush().ok());
  for (const Json& table : ask("tree")["tables"]) EXPECT_LE(table["largest_key"].get<std::string>().size(), 100U);
}

}  // namespace
}  // namespace tamis::web
