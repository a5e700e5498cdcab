// <tamis/tamis.h> in a C++ program, beside the C++ API.
#include <gtest/gtest.h>
#include <tamis/tamis.h>
#include <tamis/tamis.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/scratch_folder.h"
#include "support/source_file.h"

namespace tamis::test {
namespace {

TEST(CHeader, AStoreThatCWroteIsReadByCpp) {
  const ScratchFolder folder;
  char* error = nullptr;
  tamis_t* db = nullptr;
  ASSERT_EQ(tamis_open(folder.path().c_str(), nullptr, &db, &error), TAMIS_OK) << error;
  EXPECT_EQ(tamis_put(db, nullptr, nullptr, "key", 3, "value", 5, &error), TAMIS_OK) << error;
  tamis_db_free(db);
  const Result<DB> opened = DB::open(folder.path());
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  EXPECT_EQ(*opened->get("key"), "value");
}

TEST(CHeader, IncludesAll) {
  std::stringstream text;
  text << std::ifstream(source_file("include/tamis/tamis.h")).rdbuf();
  std::size_t headers = 0;
  for (const auto& file : std::filesystem::directory_iterator(source_file("include/tamis/c"))) {
    const std::string name = file.path().filename();
    EXPECT_NE(text.str().find("#include \"tamis/c/" + name + "\"\n"), std::string::npos) << name;
    ++headers;
  }
  EXPECT_GT(headers, 5U);
}

}  // namespace
}  // namespace tamis::test
