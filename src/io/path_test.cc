#include "io/path.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

TEST(Path, PlainPathsHaveOneSpelling) {
  const std::pair<const char*, const char*> pairs[] = {
      {"", ""},           {"a", "a"},   {"a/", "a"},     {"a//", "a"},      {"a//b", "a/b"},
      {"a/./b/.", "a/b"}, {"/", "/"},   {"//", "/"},     {"/a/", "/a"},     {"//a//b//", "/a/b"},
      {".", "."},         {"./", "."},  {"./x/", "./x"}, {"../a/", "../a"}, {"a/../b", "a/../b"},
      {"/.", "/"},        {".a/", ".a"}};
  for (const auto& [path, plain] : pairs) EXPECT_EQ(*plain_path(path), plain) << path;
}

TEST(Path, ParentAndJoin) {
  EXPECT_EQ(parent_directory("a/b"), "a");
  EXPECT_EQ(parent_directory("b"), ".");
  EXPECT_EQ(parent_directory("/b"), "/");
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
}

TEST(Path, AZeroByteIsRefusedAndSaid) {
  const Result<std::string> plain = plain_path(std::string_view("cities\0.old", 11));
  EXPECT_EQ(plain.status().to_text(),
            "invalid argument: the path 'cities' is followed by a zero byte, which file names cannot contain");
}

}  // namespace
}  // namespace tamis
