#include "object/s3_settings.h"

#include <gtest/gtest.h>

#include <map>

#include "io/memory_file_system.h"
#include "support/files.h"

namespace tamis {
namespace {

class S3SettingsTest : public testing::Test {
 protected:
  S3SettingsTest() {
    for (const char* const folder : {"/home", "/home/.aws"}) EXPECT_TRUE(files_.make_directory(folder).ok());
  }
  void write(const std::string& path, std::string_view text) { test::put_file(files_, path, text); }
  Result<S3Settings> read(std::string_view url = "s3://bucket/a/prefix", std::string_view endpoint = "") {
    return read_s3_settings(
        url, endpoint,
        [this](const char* name) {
          const auto found = variables_.find(name);
          return found == variables_.end() ? std::nullopt : std::optional(found->second);
        },
        files_);
  }
  void expect_refused(const Result<S3Settings>& settings, StatusCode code, std::string_view text) {
    EXPECT_EQ(settings.status().code(), code);
    EXPECT_NE(settings.status().message().find(text), std::string_view::npos) << settings.status().to_text();
  }

  MemoryFileSystem files_;
  std::map<std::string, std::string> variables_ = {{"HOME", "/home"}};
};

TEST_F(S3SettingsTest, AreReadFromTheEnvironment) {
  variables_["AWS_ACCESS_KEY_ID"] = "id";
  variables_["AWS_SECRET_ACCESS_KEY"] = "secret";
  variables_["AWS_SESSION_TOKEN"] = "token";
  variables_["AWS_DEFAULT_REGION"] = "eu-north-1";
  const Result<S3Settings> settings = read();
  ASSERT_TRUE(settings.ok()) << settings.status().to_text();
  EXPECT_EQ(settings->bucket, "bucket");
  EXPECT_EQ(settings->prefix, "a/prefix");
  EXPECT_EQ(settings->access_key, "id");
  EXPECT_EQ(settings->secret_key, "secret");
  EXPECT_EQ(settings->session_token, "token");
  EXPECT_EQ(settings->bucket_url(), "https://bucket.s3.eu-north-1.amazonaws.com");
  variables_["AWS_REGION"] = "eu-west-1";
  EXPECT_EQ(read()->region, "eu-west-1");
}

TEST_F(S3SettingsTest, AreReadFromTheFilesOfAProfile) {
  write("/home/.aws/credentials",
        "[default]\naws_access_key_id = first\naws_secret_access_key=s1\n# [work]\n\n[work]\r\n"
        "aws_access_key_id = second\r\naws_secret_access_key = s=2 \r\n");
  write("/home/.aws/config",
        "[default]\nregion = here\n[profile work]\nregion = there\ns3 =\n  region = nested\nendpoint_url = "
        "https://host:1/\n");
  EXPECT_EQ(read()->access_key, "first");
  EXPECT_EQ(read()->region, "here");
  variables_["AWS_PROFILE"] = "work";
  const Result<S3Settings> settings = read();
  ASSERT_TRUE(settings.ok()) << settings.status().to_text();
  EXPECT_EQ(settings->access_key, "second");
  EXPECT_EQ(settings->secret_key, "s=2");
  EXPECT_EQ(settings->region, "there");
  EXPECT_EQ(settings->bucket_url(), "https://host:1/bucket");
  variables_["AWS_PROFILE"] = "none";
  expect_refused(read(), StatusCode::kInvalidArgument, "AWS_PROFILE is 'none'");
}

TEST_F(S3SettingsTest, OfTheEnvironmentGoFirst) {
  write("/elsewhere", "[default]\naws_access_key_id=file\naws_secret_access_key=f\naws_session_token=t\nregion=file\n");
  variables_["AWS_SHARED_CREDENTIALS_FILE"] = "/elsewhere";
  EXPECT_EQ(read()->access_key, "file");
  variables_["AWS_ACCESS_KEY_ID"] = "environment";
  expect_refused(read(), StatusCode::kInvalidArgument, "must both be set");
  variables_["AWS_SECRET_ACCESS_KEY"] = "e";
  EXPECT_EQ(read()->access_key, "environment");
  EXPECT_EQ(read()->session_token, "");
  variables_["AWS_ENDPOINT_URL"] = "http://general";
  EXPECT_EQ(read()->endpoint, "http://general");
  variables_["AWS_ENDPOINT_URL_S3"] = "http://special/";
  EXPECT_EQ(read()->endpoint, "http://special");
  EXPECT_EQ(read("s3://bucket", "https://given")->endpoint, "https://given");
}

TEST_F(S3SettingsTest, WithoutKeysSayWhereToPutThem) {
  expect_refused(read(), StatusCode::kInvalidArgument, "/home/.aws/credentials");
  write("/home/.aws/config", "[default]\nsso_session = work\n");
  expect_refused(read(), StatusCode::kNotSupported, "sso_session");
}

TEST_F(S3SettingsTest, RefuseAddressesThatAreNone) {
  variables_["AWS_ACCESS_KEY_ID"] = variables_["AWS_SECRET_ACCESS_KEY"] = "x";
  for (const std::string_view url :
       {"bucket/prefix", "s3://", "s3://a", "s3://bu cket", "s3://bucket/a//b", "s3://bucket/../b"}) {
    EXPECT_EQ(read(url).status().code(), StatusCode::kInvalidArgument) << url;
  }
  for (const std::string_view endpoint : {"host:1", "ftp://host", "https://", "https://host/path", "https://me@host"}) {
    EXPECT_EQ(read("s3://bucket", endpoint).status().code(), StatusCode::kInvalidArgument) << endpoint;
  }
  EXPECT_EQ(read("s3://bucket//a/b//")->prefix, "a/b");
  EXPECT_EQ(read("s3://my.bucket")->bucket_url(), "https://s3.us-east-1.amazonaws.com/my.bucket");
}

TEST(UriEscaped, LeavesOnlyWhatSignaturesLeave) {
  EXPECT_EQ(uri_escaped("aZ09-._~", false), "aZ09-._~");
  EXPECT_EQ(uri_escaped("a b/ä+%", true), "a%20b/%C3%A4%2B%25");
  EXPECT_EQ(uri_escaped("a/b", false), "a%2Fb");
}

}  // namespace
}  // namespace tamis
