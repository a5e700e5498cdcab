#include "entry/key_range.h"

#include <gtest/gtest.h>

#include <vector>

namespace tamis {
namespace {

/// Every key of up to three of these letters.
std::vector<std::string> all_keys() {
  const std::string_view letters("\x00\x61\xfe\xff", 4);
  std::vector<std::string> keys = {""};
  for (std::size_t i = 0; keys[i].size() < 3; ++i) {
    for (const char letter : letters) keys.push_back(keys[i] + letter);
  }
  return keys;
}

TEST(KeyRange, OfAPrefixHoldsWhatBeginsWithItAndNothingElse) {
  for (const std::string& prefix : all_keys()) {
    const KeyRange range = KeyRange::of_prefix(prefix);
    for (const std::string& key : all_keys()) ASSERT_EQ(range.contains(key), key.starts_with(prefix));
  }
  EXPECT_EQ(KeyRange::of_prefix("\xff\xff"), (KeyRange{.from = "\xff\xff"}));
  EXPECT_EQ(KeyRange::of_prefix("a\xff"), (KeyRange{.from = "a\xff", .to = "b"}));
}

TEST(KeyRange, IsNarrowedToTheKeysThatAreInBoth) {
  std::vector<KeyRange> ranges = {{}};
  for (const std::string from : {"", "a", "c"}) {
    ranges.push_back({.from = from});
    for (const std::string to : {"", "b", "c", "d"}) ranges.push_back({.from = from, .to = to});
  }
  for (const KeyRange& a : ranges) {
    for (const KeyRange& b : ranges) {
      KeyRange both = a;
      both.narrow(b.from, b.to);
      for (const std::string key : {"", "a", "aa", "b", "c", "cc", "d", "e"}) {
        ASSERT_EQ(both.contains(key), a.contains(key) && b.contains(key));
      }
    }
  }
}

}  // namespace
}  // namespace tamis
