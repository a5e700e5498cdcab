#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tamis/keyspace.h"
#include "tamis/stats.h"

namespace tamis {
namespace {

using Json = nlohmann::json;

TEST(ReportJson, HasTheNumbersOfTheStore) {
  const Stats stats = {
      .levels = {{.level = 3, .tables = 7, .filter_kind = "line"}}, .gets = 5, .background_error = "\"\n"};
  const Json json = Json::parse(stats.to_json());
  EXPECT_EQ(json["levels"][0]["level"], 3);
  EXPECT_EQ(json["levels"][0]["tables"], 7);
  EXPECT_EQ(json["levels"][0]["filter_kind"], "line");
  EXPECT_EQ(json["gets"], 5);
  EXPECT_EQ(json["background_error"], "\"\n");
}

TEST(ReportJson, HasLatenciesBacklogAndCacheHitsByKind) {
  Stats stats = {.compaction_backlog = 77};
  stats.cache = {.hits = 10, .misses = 9, .index_hits = 4, .index_misses = 3};
  stats.stalls.longest_us = 12;
  stats.latencies.sync = {.count = 3, .sum_ns = 30, .p50_ns = 9, .p999_ns = 14, .max_ns = 15, .buckets = {2, 1}};
  const Json json = Json::parse(stats.to_json());
  EXPECT_EQ(json["compaction_backlog"], 77);
  EXPECT_EQ(json["cache"]["index_hits"], 4);
  EXPECT_EQ(json["cache"]["index_misses"], 3);
  EXPECT_EQ(json["stalls"]["longest_us"], 12);
  const Json& sync = json["latencies"]["sync"];
  EXPECT_EQ(sync["count"], 3);
  EXPECT_EQ(sync["sum_ns"], 30);
  EXPECT_EQ(sync["p50_ns"], 9);
  EXPECT_EQ(sync["p999_ns"], 14);
  EXPECT_EQ(sync["max_ns"], 15);
  EXPECT_EQ(sync["buckets"].size(), Stats::Latency::kBuckets);
  EXPECT_EQ(sync["buckets"][1], 1);
  for (const char* name : {"get", "put", "scan", "flush", "compaction"}) {
    EXPECT_EQ(json["latencies"][name]["count"], 0) << name;
  }
}

TEST(ReportJson, BytesThatAreNotTextAreHexadecimal) {
  Explanation explanation = {
      .key = "\xff", .value = "text", .steps = {{.where = "memtable", .outcome = "found", .reads = 2}}};
  Json json = Json::parse(explanation.to_json());
  EXPECT_EQ(json["key_hex"], "ff");
  EXPECT_EQ(json["value"], "text");
  EXPECT_TRUE(json["steps"][0]["filter"].is_null());
  EXPECT_EQ(json["steps"][0]["reads"], 2);
  explanation.steps[0].filter_verdict = "maybe";
  json = Json::parse(explanation.to_json(true));
  EXPECT_EQ(json["value_hex"], "74657874");
  EXPECT_EQ(json["steps"][0]["filter"]["verdict"], "maybe");
}

TEST(ReportJson, AnOptionOfAKeyspaceIsAField) {
  const KeyspaceInfo info = {.name = "users", .id = 2, .options = "fanout=4\nprefix_rule=until:=\n"};
  const Json json = Json::parse(info.to_json());
  EXPECT_EQ(json["options"], (Json{{"fanout", "4"}, {"prefix_rule", "until:="}}));
  EXPECT_EQ(json["name"], "users");
}

TEST(ReportJson, AProblemIsNamedWithItsPlace) {
  const VerifyReport report = {.problems = {{.file = "12.table", .offset = 4096, .what = "bad checksum"}}, .files = 1};
  const Json json = Json::parse(report.to_json());
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["problems"][0]["offset"], 4096);
  EXPECT_EQ(report.to_text(), "12.table at 4096: bad checksum\n1 problem: 1 table, 0 B, 0 entries read\n");
}

}  // namespace
}  // namespace tamis
