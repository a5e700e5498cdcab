#include "base/nearest_word.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

TEST(NearestWord, IsOneThatMayHaveBeenMeantIfAnyIsNear) {
  const std::string_view words[] = {"fanout", "filter", "cache"};
  EXPECT_EQ(nearest_word("fanuot", words), "fanout");
  EXPECT_EQ(nearest_word("filters", words), "filter");
  EXPECT_EQ(nearest_word("cahce", words), "cache");
  for (const std::string_view word : {"completely_else", "milk", ""})
    EXPECT_EQ(nearest_word(word, words), std::nullopt);
  EXPECT_EQ(nearest_word("cache", {}), std::nullopt);
}

}  // namespace
}  // namespace tamis
