#include "base/nearest_word.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

TEST(NearestWord, IsOneThatMayHaveBeenMeant) {
  const std::string_view words[] = {"fanout", "filter", "cache"};
  EXPECT_EQ(nearest_word("fanuot", words), "fanout");
  EXPECT_EQ(nearest_word("filters", words), "filter");
  EXPECT_EQ(nearest_word("cahce", words), "cache");
}

TEST(NearestWord, IsNoneWhenNoneIsNear) {
  const std::string_view words[] = {"fanout", "filter", "cache"};
  EXPECT_EQ(nearest_word("completely_else", words), std::nullopt);
  EXPECT_EQ(nearest_word("milk", words), std::nullopt);
  EXPECT_EQ(nearest_word("", words), std::nullopt);
  EXPECT_EQ(nearest_word("cache", {}), std::nullopt);
}

}  // namespace
}  // namespace tamis
