// Tests what the headers say about themselves.
#include <gtest/gtest.h>
#include <tamis/tamis.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/source_file.h"

namespace tamis::test {
namespace {

TEST(Headers, TheLibraryHasTheVersionOfItsHeaders) {
  EXPECT_EQ(version(), TAMIS_VERSION_STRING);
  EXPECT_EQ(version(), std::to_string(TAMIS_VERSION_MAJOR) + "." + std::to_string(TAMIS_VERSION_MINOR) + "." +
                           std::to_string(TAMIS_VERSION_PATCH));
}

TEST(Headers, TheVersionIsThatOfTheProject) { EXPECT_EQ(version(), TAMIS_TEST_PROJECT_VERSION); }

TEST(Headers, TamisIncludesAll) {
  std::stringstream text;
  text << std::ifstream(source_file("include/tamis/tamis.hpp")).rdbuf();
  std::size_t headers = 0;
  for (const auto& file : std::filesystem::directory_iterator(source_file("include/tamis"))) {
    const std::string name = file.path().filename();
    if (name == "tamis.hpp" || name == "tamis.h" || name == "c") continue;  // The latter two are the C API.
    EXPECT_NE(text.str().find("#include \"tamis/" + name + "\"\n"), std::string::npos) << name;
    ++headers;
  }
  EXPECT_GT(headers, 10U);
}

TEST(Results, ValueOrGivesTheValueOrTheFallback) {
  const Result<std::string> found = std::string("value");
  const Result<std::string> failed = Status::io_error("no such disk");
  EXPECT_EQ(found.value_or("fallback"), "value");
  EXPECT_EQ(failed.value_or("fallback"), "fallback");
  EXPECT_EQ(failed.value_or({}), "");
  EXPECT_EQ(Result<int>(Status::busy("later")).value_or(7), 7);
  Result<std::unique_ptr<int>> moved = std::make_unique<int>(5);
  EXPECT_EQ(*std::move(moved).value_or(nullptr), 5);
}

}  // namespace
}  // namespace tamis::test
