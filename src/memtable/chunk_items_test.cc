#include "memtable/chunk_items.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "memtable/version_chain.h"

namespace tamis {
namespace {

/// Entries with these keys; heads are those of the whole keys.
class Items {
 public:
  explicit Items(const std::vector<std::string>& keys) : arena_(memory_), items_(memory_, keys.size()) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      EXPECT_TRUE(arena_.reserve(kMaxVersionBytes + keys[i].size() + Arena::kUnitBytes));
      const Entry entry{keys[i], {}, Sequence{i + 1}, EntryKind::kPut};
      items_.items()[i] = {key_head(keys[i]), add_version(arena_, entry, {}, {})};
    }
  }
  /// Sorts; returns whether the result is correct and the memory for it is free again.
  bool sorts() {
    const std::size_t memory = memory_;
    std::vector<EntryPosition> expected = positions();
    std::sort(expected.begin(), expected.end());
    sort_items(items_, ItemOrder(arena_), memory_);
    return positions() == expected && memory_ == memory;
  }

 private:
  [[nodiscard]] std::vector<EntryPosition> positions() const {
    std::vector<EntryPosition> all;
    for (const ChunkItem& item : items_.items()) all.push_back(EntryRecord::at(arena_, item.place).position());
    return all;
  }

  MemoryCount memory_;
  Arena arena_;
  ItemArray items_;
};

std::string random_bytes(std::mt19937_64& random, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(random()));
  return bytes;
}

/// Random keys whose first `equal` bytes are equal, with few or all values for the other bytes.
std::vector<std::string> some_keys(std::mt19937_64& random, std::size_t count, std::size_t equal, bool few) {
  const std::string start(equal, 'k');
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) {
    std::string rest = random_bytes(random, random() % 12);
    for (char& byte : rest) byte = few ? static_cast<char>(byte & 1) : byte;
    keys.push_back(start + rest);
  }
  return keys;
}

TEST(ChunkItems, AreSortedWhateverTheirNumberAndHeads) {
  for (const std::size_t count : {0, 1, 2, 100, 1999, 2000, 2001, 20'000}) {
    for (const std::size_t equal : {0, 4, 7, 8, 16, 64}) {
      for (const bool few : {false, true}) {
        std::mt19937_64 random(count * 100 + equal);
        EXPECT_TRUE(Items(some_keys(random, count, equal, few)).sorts()) << count << " " << equal << " " << few;
      }
    }
  }
}

TEST(ChunkItems, OfOneKeyAreSortedNewestFirst) {
  EXPECT_TRUE(Items(std::vector<std::string>(5000, "")).sorts());
  EXPECT_TRUE(Items(std::vector<std::string>(5000, "the same key")).sorts());
}

}  // namespace
}  // namespace tamis
