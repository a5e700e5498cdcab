#include "web/guard.h"

#include <gtest/gtest.h>

#include <set>

namespace tamis::web {
namespace {

constexpr std::uint16_t kPort = 4711;

RequestHead get(std::string path, std::string host = "127.0.0.1:4711") {
  return {.method = "GET", .path = std::move(path), .hosts = {std::move(host)}};
}

TEST(WebGuard, LetsThroughWhoKnowsTheToken) {
  const Guard guard("secret", kPort);
  EXPECT_EQ(guard.judge(get("/secret/")).status, 200);
  EXPECT_EQ(guard.judge(get("/secret/")).path, "/");
  EXPECT_EQ(guard.judge(get("/secret/api/stats", "localhost:4711")).path, "/api/stats");
  RequestHead request = get("/secret/api/stats");
  request.origins = {"http://127.0.0.1:4711"};
  request.sites = {"same-origin"};
  EXPECT_EQ(guard.judge(request).status, 200);
}

TEST(WebGuard, RefusesEveryOtherPath) {
  const Guard guard("secret", kPort);
  for (const char* path :
       {"", "/", "secret/", "/secre", "/secre/", "/secret0/", "/secreT/", "//secret/", "/other/", "/0secret/"}) {
    EXPECT_EQ(guard.judge(get(path)).status, 403) << path;
  }
}

TEST(WebGuard, RefusesOtherHosts) {
  const Guard guard("secret", kPort);
  for (const char* host : {"", "127.0.0.1", "localhost", "evil.example:4711", "127.0.0.1:4712", "127.0.0.1:47110",
                           "0.0.0.0:4711", "[::1]:4711"}) {
    EXPECT_EQ(guard.judge(get("/secret/", host)).status, 403) << host;
  }
  RequestHead request = get("/secret/");
  request.hosts.emplace_back("evil.example");
  EXPECT_EQ(guard.judge(request).status, 403) << "two hosts";
  request.hosts.clear();
  EXPECT_EQ(guard.judge(request).status, 403) << "no host";
}

TEST(WebGuard, RefusesPagesOfOtherOrigins) {
  const Guard guard("secret", kPort);
  for (const char* origin :
       {"", "null", "http://evil.example", "https://127.0.0.1:4711", "http://127.0.0.1:4712", "http://127.0.0.1"}) {
    RequestHead request = get("/secret/");
    request.origins = {origin};
    EXPECT_EQ(guard.judge(request).status, 403) << origin;
  }
  for (const char* site : {"cross-site", "same-site", ""}) {
    RequestHead request = get("/secret/");
    request.sites = {site};
    EXPECT_EQ(guard.judge(request).status, 403) << site;
  }
}

TEST(WebGuard, AllowsGetOnlyAndSaysSoOnlyToThoseWhoKnowTheToken) {
  const Guard guard("secret", kPort);
  for (const char* method : {"HEAD", "POST", "PUT", "DELETE", "OPTIONS", "get"}) {
    RequestHead request = get("/secret/");
    request.method = method;
    EXPECT_EQ(guard.judge(request).status, 405) << method;
    request.path = "/";
    EXPECT_EQ(guard.judge(request).status, 403) << method;
  }
}

TEST(WebGuard, MakesNoTokenTwice) {
  std::set<std::string> tokens;
  for (int i = 0; i < 1000; ++i) tokens.insert(make_token());
  EXPECT_EQ(tokens.size(), 1000U);
  EXPECT_EQ(tokens.begin()->size(), 32U);
}

}  // namespace
}  // namespace tamis::web
