#include "base/hash.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

namespace tamis {
namespace {

std::vector<KeyHasher> all_modes() {
  KeyHasher::Key key = {};
  key[3] = std::byte{7};
  return {KeyHasher(), KeyHasher(42), KeyHasher(key)};
}

TEST(KeyHasher, GivesTheSameHashOneByOneAndTogether) {
  std::vector<std::string> texts;
  for (std::size_t length = 0; length < 300; ++length) texts.emplace_back(length, static_cast<char>('a' + length % 26));
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  for (const KeyHasher& hasher : all_modes()) {
    std::vector<std::uint64_t> hashes(keys.size());
    hasher.hash_many(keys, hashes.data());
    for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(hashes[i], hasher(keys[i])) << i << " bytes";
    EXPECT_EQ(std::set<std::uint64_t>(hashes.begin(), hashes.end()).size(), keys.size());
  }
}

TEST(KeyHasher, GivesOtherHashesUnderOtherSeedsAndKeys) {
  std::set<std::uint64_t> hashes;
  for (const KeyHasher& hasher : all_modes()) hashes.insert(hasher("a key of some length, longer than sixteen bytes"));
  EXPECT_EQ(hashes.size(), 3U);
}

TEST(Checksum, OfTwoPartsIsThatOfTheWhole) {
  const std::string whole = "the whole, cut somewhere in the middle";
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    const Bytes bytes = as_bytes(whole);
    ASSERT_EQ(checksum64(bytes.first(cut), bytes.subspan(cut)), checksum64(bytes));
  }
}

TEST(FastRange, CoversTheRangeEvenly) {
  std::array<int, 10> hits = {};
  for (std::uint64_t i = 0; i < 100'000; ++i) ++hits[fast_range(remix(i), hits.size())];
  for (const int hit : hits) EXPECT_NEAR(hit, 10'000, 500);
  EXPECT_EQ(fast_range(~std::uint64_t{0}, 7), 6U);
  EXPECT_EQ(fast_range32(~std::uint32_t{0}, 7), 6U);
}

}  // namespace
}  // namespace tamis
