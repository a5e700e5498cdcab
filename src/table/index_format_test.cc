#include "table/index_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/hash.h"
#include "support/golden.h"
#include "table/index_part.h"

namespace tamis {
namespace {

constexpr std::uint64_t kSeed = 77;

/// Blocks of keys as a table would have them, and the block in which each key begins, by linear search.
struct Blocks {
  std::vector<std::vector<std::string>> keys;  // Of each block, ascending; the last may continue in the next block.

  [[nodiscard]] IndexBuilder builder(std::uint32_t block_bytes = 100) const {
    IndexBuilder builder;
    std::uint64_t offset = 64;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto second = std::find_if(keys[i].begin(), keys[i].end(), [&](auto& key) { return key != keys[i][0]; });
      builder.add(i == 0 ? "" : keys[i - 1].back(), keys[i][0], second == keys[i].end() ? "" : *second,
                  {offset, block_bytes + static_cast<std::uint32_t>(i)});
      offset += block_bytes + i;
    }
    return builder;
  }
  /// The first block with the key; nullopt for an absent key.
  [[nodiscard]] std::optional<std::uint32_t> begin_of(std::string_view key) const {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (std::ranges::find(keys[i], key) != keys[i].end()) return static_cast<std::uint32_t>(i);
    }
    return {};
  }
};

std::unique_ptr<const Index> opened(const IndexSection& section) {
  Result<std::unique_ptr<const Index>> index =
      Index::open_whole(as_bytes(section.bytes), section.top_bytes, kSeed, "t", 1000);
  EXPECT_TRUE(index.ok()) << index.status().to_text();
  return index.ok() ? *std::move(index) : nullptr;
}

/// The parts of a section, each opened alone.
class Parts {
 public:
  explicit Parts(const IndexSection& section) {
    const std::size_t top_at = section.bytes.size() - section.top_bytes;
    top_ = opened_at(section, top_at, section.top_bytes);
    for (std::uint32_t i = 0; i < top_->blocks(); ++i) {
      const BlockPosition at = top_->position(i);
      parts_.push_back({opened_at(section, at.offset, at.bytes), top_, i});
    }
    EXPECT_TRUE(top_->is_top_of(parts_.back().end_block(), top_at));
  }
  [[nodiscard]] const IndexPart& part_of(std::string_view key) const { return parts_[top_->locate(key)]; }

  void expect_is(const Index& whole) const {
    std::uint32_t block = 0;
    for (const IndexPart& part : parts_) {
      ASSERT_EQ(part.first_block(), block);
      for (; block < part.end_block(); ++block) {
        ASSERT_TRUE(part.holds(block));
        ASSERT_EQ(part.position(block), whole.position(block));
        const bool is_last = block + 1 == whole.blocks();
        ASSERT_EQ(part.is_continued(block), !is_last && whole.continues(block + 1)) << block;
      }
      ASSERT_FALSE(part.holds(block));
    }
    ASSERT_EQ(block, whole.blocks());
  }

 private:
  static std::shared_ptr<const Index> opened_at(const IndexSection& section, std::size_t at, std::size_t bytes) {
    const Bytes part = as_bytes(section.bytes).subspan(at, bytes);
    Result<std::unique_ptr<const Index>> index = Index::open(part, kSeed + at, "t", 0);
    EXPECT_TRUE(index.ok()) << index.status().to_text();
    index = Index::open_again(part, "t", 0);
    EXPECT_TRUE(index.ok()) << index.status().to_text();
    return *std::move(index);
  }

  std::shared_ptr<const Index> top_;
  std::vector<IndexPart> parts_;
};

void expect_promises(const Blocks& blocks, const std::vector<std::string>& probes) {
  const IndexBuilder builder = blocks.builder();
  const IndexSection section = builder.finish(kSeed);
  const auto index = opened(section);
  ASSERT_NE(index, nullptr);
  ASSERT_EQ(index->blocks(), blocks.keys.size());
  ASSERT_EQ(section.top_bytes != 0, index->blocks() > kIndexGroupBlocks);
  EXPECT_LE(index->memory_bytes(), Index::memory_bytes_for(section.bytes.size()));
  std::optional<Parts> parts;
  if (section.top_bytes != 0) parts.emplace(section);
  if (parts) parts->expect_is(*index);
  std::uint64_t offset = 64;
  for (std::uint32_t i = 0; i < index->blocks(); ++i) {
    const std::string separator = index->separator(i);
    ASSERT_LE(separator, blocks.keys[i][0]);
    const bool continues = i > 0 && blocks.keys[i - 1].back() == blocks.keys[i][0];
    ASSERT_EQ(index->continues(i), continues) << "block " << i;
    if (i > 0 && !continues) {
      ASSERT_GT(separator, blocks.keys[i - 1].back());
    }
    if (continues) {
      ASSERT_EQ(separator, blocks.keys[i][0]);
    }
    ASSERT_EQ(index->position(i), (BlockPosition{offset, 100 + i}));
    offset += 100 + i;
    for (const std::string& key : blocks.keys[i]) {
      ASSERT_EQ(index->locate(key), *blocks.begin_of(key)) << key;
      if (parts) {
        ASSERT_EQ(parts->part_of(key).locate(key), index->locate(key)) << key;
      }
    }
  }
  for (const std::string& probe : probes) {
    const std::uint32_t block = index->locate(probe);
    ASSERT_LT(block, index->blocks());
    if (parts) {
      ASSERT_EQ(parts->part_of(probe).locate(probe), block);
    }
    if (const auto begin = blocks.begin_of(probe)) {
      ASSERT_EQ(block, *begin);
      continue;
    }
    // Where it would have to be: no later key in the blocks before, no earlier key in the blocks after.
    if (block > 0) {
      ASSERT_LT(blocks.keys[block - 1].back(), probe);
    }
    if (block + 1 < index->blocks()) {
      ASSERT_GT(blocks.keys[block + 1][0], probe);
    }
  }
}

std::string random_key(std::mt19937_64& random, int style) {
  std::string key;
  switch (style) {
    case 0:
      for (int i = 0; i < 16; ++i) key.push_back(static_cast<char>(random()));
      return key;
    case 1: key = "user:0000000000/"; break;
    case 2: key = random() % 2 == 0 ? "" : "the same sixteen"; break;
    default: key = std::string(random() % 3 * 40, 'x'); break;
  }
  for (std::uint64_t left = random() % 12; left > 0; --left) {
    key.push_back(std::string_view("\x00\x00\x01\x61\xff", 5)[random() % 5]);
  }
  return key;
}

Blocks random_blocks(std::mt19937_64& random, int style, std::size_t wanted, bool versions) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < wanted * 3; ++i) keys.push_back(random_key(random, style));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  Blocks blocks;
  blocks.keys.emplace_back();
  for (const std::string& key : keys) {
    if (!blocks.keys.back().empty() && random() % 3 == 0) blocks.keys.emplace_back();
    blocks.keys.back().push_back(key);
    for (std::uint64_t more = versions && random() % 5 == 0 ? random() % 4 : 0; more > 0; --more) {
      blocks.keys.push_back({key});
    }
  }
  return blocks;
}

TEST(IndexFormat, EveryKeyLeadsToTheBlockItBeginsIn) {
  for (int style = 0; style < 4; ++style) {
    for (const std::size_t wanted : {1, 2, 127, 128, 129, 600}) {
      for (const bool versions : {false, true}) {
        const std::uint64_t seed = static_cast<std::uint64_t>(style) * 1000 + wanted + (versions ? 7 : 0);
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const Blocks blocks = random_blocks(random, style, wanted, versions);
        std::vector<std::string> probes = {"", std::string(1, '\0'), std::string(70, '\xff')};
        for (int i = 0; i < 500; ++i) {
          probes.push_back(random_key(random, style));
          std::string near = blocks.keys[random() % blocks.keys.size()][0];
          if (!near.empty() && random() % 2 == 0) {
            near.pop_back();
          } else {
            near.push_back('\0');
          }
          probes.push_back(near);
        }
        expect_promises(blocks, probes);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(IndexFormat, LongKeysAndTheEmptyKeyAreFound) {
  const std::string longest(65'535, 'k');
  std::string almost = longest;
  almost.back() = 'j';
  expect_promises({{{""}, {"", "a"}, {"b"}}}, {"", "a", "aa", "z"});
  expect_promises({{{almost, longest}}}, {"", almost, "z"});
  expect_promises({{{almost}, {longest}, {longest}, {longest, "z"}}}, {"k", almost, longest, "y"});
  expect_promises({{{std::string(65'535, '\0')}}}, {""});
}

/// 1 to 4 for the groups' flags: lengths, continuations, wide.
unsigned flags_of_group(const std::string& section, std::size_t group) {
  return static_cast<unsigned char>(section[kIndexHeaderBytes + kIndexRowBytes * group + 16]);
}

TEST(IndexFormat, Rule38_OnlyGroupsThatNeedItAreWide) {
  constexpr unsigned kWide = 4;
  const std::string narrow(65'535, 'k');
  const auto flags = [](const Blocks& blocks) { return flags_of_group(blocks.builder().finish(kSeed).bytes, 0); };
  EXPECT_EQ(flags({{{narrow}, {narrow}}}) & kWide, 0U) << "p is 65,535";
  EXPECT_EQ(flags({{{narrow + "k"}, {narrow + "k"}}}) & kWide, kWide) << "p is 65,536";
  EXPECT_EQ(flags({{{"a"}, {narrow}, {narrow}}}) & kWide, 0U) << "a length is 65,535";
  EXPECT_EQ(flags({{{"a"}, {narrow + "k"}, {narrow + "k"}}}) & kWide, kWide) << "a length is 65,536";
  Blocks blocks;
  for (int i = 1000; i < 1000 + 3 * 128; ++i) blocks.keys.push_back({std::to_string(i)});
  blocks.keys[200] = {blocks.keys[199][0] + narrow + "a"};
  blocks.keys[201] = {blocks.keys[199][0] + narrow + "b"};
  const IndexSection section = blocks.builder().finish(kSeed);
  const auto top = *Index::open(as_bytes(section.bytes).last(section.top_bytes),
                                kSeed + section.bytes.size() - section.top_bytes, "t", 0);
  const auto flags_of_part = [&](std::uint32_t i) {
    return flags_of_group(section.bytes.substr(top->position(i).offset), 0);
  };
  EXPECT_EQ(flags_of_part(0) & kWide, 0U);
  EXPECT_EQ(flags_of_part(1) & kWide, kWide);
  EXPECT_EQ(flags_of_part(2) & kWide, 0U);
  expect_promises(blocks, {"", "1199", "1199k", blocks.keys[200][0] + "z", "1201", "2"});
}

TEST(IndexFormat, Rule38_LongKeysThatShareLongPrefixesAreFound) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::size_t lengths[] = {0, 8, 65'527, 65'535, 65'536, 65'543, 140'000};
    const auto some_key = [&] {
      std::string key(lengths[random() % std::size(lengths)], 'k');
      for (std::uint64_t left = random() % 10; left > 0; --left) key.push_back("\x00\x01k\xff"[random() % 4]);
      return key;
    };
    std::vector<std::string> keys;
    for (int i = 0; i < 60; ++i) keys.push_back(some_key());
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    Blocks blocks;
    for (const std::string& key : keys) {
      for (std::uint64_t more = 1 + random() % 4 / 3 * (random() % 3); more > 0; --more) blocks.keys.push_back({key});
    }
    std::vector<std::string> probes = {"", "z"};
    for (int i = 0; i < 60; ++i) probes.push_back(some_key());
    expect_promises(blocks, probes);
    if (HasFatalFailure()) return;
  }
}

TEST(IndexFormat, Rule38_AWideOneIsTheBytesOfTheGoldenFile) {
  const std::string shared(65'539, 'k');
  const Blocks blocks{
      {{shared + "a"}, {shared + "b with a tail 1"}, {shared + "b with a tail 2", shared + "m"}, {shared + "m"}}};
  const std::string made = blocks.builder().finish(kSeed).bytes;
  test::expect_golden("tests/golden/indexes/wide.index", made);
  expect_promises(blocks, {shared, shared + "b", shared + "n"});
}

TEST(IndexFormat, Rule38_TheHighHalfOfAPrefixIsForWideGroupsOnly) {
  std::string section = Blocks{{{"a"}, {"b"}}}.builder().finish(kSeed).bytes;
  const auto refused_with = [&](std::size_t at, char byte) {
    std::string damaged = section.substr(0, section.size() - 8);
    damaged[kIndexHeaderBytes + at] = byte;
    append_le(damaged, seeded_checksum64(as_bytes(damaged), kSeed));
    return std::string(Index::open(as_bytes(damaged), kSeed, "t", 0).status().message());
  };
  for (std::size_t at = 17; at < 24; ++at) EXPECT_NE(refused_with(at, 1), "") << at;
  EXPECT_NE(refused_with(16, 8), "");
  EXPECT_EQ(refused_with(16, 4), "") << "wide without need";
}

TEST(IndexFormat, AKeyOverHundredsOfBlocksLeadsToItsFirst) {
  Blocks blocks{{{"a", "b"}, {"c", "hot"}}};
  for (int i = 0; i < 700; ++i) blocks.keys.push_back({"hot"});
  blocks.keys.push_back({"hot", "zero"});
  blocks.keys.push_back({"zero"});
  expect_promises(blocks, {"hot", "hota", "ho", "zero", "zz"});
  EXPECT_EQ(opened(blocks.builder().finish(kSeed))->locate("zero"), 702U);
}

TEST(IndexFormat, RandomKeysTakeTwelveBytesABlock) {
  std::mt19937_64 random(5);
  const Blocks blocks = random_blocks(random, 0, 6000, false);
  const IndexBuilder builder = blocks.builder();
  const IndexSection section = builder.finish(kSeed);
  EXPECT_LT(static_cast<double>(section.bytes.size()) / static_cast<double>(builder.blocks()), 12.6);
  EXPECT_NEAR(static_cast<double>(builder.estimated_bytes()), static_cast<double>(section.bytes.size()), 300);
  EXPECT_LT(opened(section)->memory_bytes(), section.bytes.size() * 11 / 10);
}

TEST(IndexFormat, AGroupEndsBeforeItsBlocksPassFourGigabytes) {
  Blocks blocks;
  for (int i = 0; i < 9; ++i) blocks.keys.push_back({std::string(1, static_cast<char>('a' + i))});
  const std::uint32_t large = 0x7fff'0000;
  const auto index = opened(blocks.builder(large).finish(kSeed));
  ASSERT_NE(index, nullptr);
  for (std::uint32_t i = 0; i < 9; ++i) {
    EXPECT_EQ(index->position(i).bytes, large + i);
    EXPECT_EQ(index->position(i).offset, 64 + std::uint64_t{large} * i + i * (i - std::uint64_t{i != 0}) / 2);
    EXPECT_EQ(index->locate(blocks.keys[i][0]), i);
  }
}

TEST(IndexFormat, EveryFlippedBitAndEveryShorterSectionIsRefused) {
  std::mt19937_64 random(9);
  std::string section = random_blocks(random, 3, 10, true).builder().finish(kSeed).bytes;
  for (std::size_t bit = 0; bit < 8 * section.size(); ++bit) {
    section[bit / 8] = static_cast<char>(section[bit / 8] ^ 1 << (bit % 8));
    ASSERT_EQ(Index::open(as_bytes(section), kSeed, "t", 0).status().code(), StatusCode::kCorruption) << bit;
    section[bit / 8] = static_cast<char>(section[bit / 8] ^ 1 << (bit % 8));
  }
  for (std::size_t size = 0; size < section.size(); ++size) {
    ASSERT_EQ(Index::open(as_bytes(section).first(size), kSeed, "t", 0).status().code(), StatusCode::kCorruption);
  }
  EXPECT_EQ(Index::open(as_bytes(section), kSeed + 1, "t", 0).status().code(), StatusCode::kCorruption)
      << "of another table or place";
}

/// With its checksum corrected.
Status refusal(std::string section, std::size_t at, std::uint8_t value) {
  section[at] = static_cast<char>(value);
  section.resize(section.size() - 8);
  append_le(section, seeded_checksum64(as_bytes(section), kSeed));
  return Index::open(as_bytes(section), kSeed, "t", 1000).status();
}

TEST(IndexFormat, NumbersThatCannotBeAreNamed) {
  const std::string section = Blocks{{{"a"}, {"b"}, {"b", "c"}}}.builder().finish(kSeed).bytes;
  EXPECT_EQ(refusal(section, 0, 2).to_text(),
            "not supported: t: an index of 2 parts is not known to this build; use a newer tamis");
  for (const std::size_t at : {4, 5, 8, 9, 12, 24, 28, 30, 32, 33}) {
    EXPECT_EQ(refusal(section, at, 200).code(), StatusCode::kCorruption) << "byte " << at;
  }
  EXPECT_EQ(refusal(section, 40, 'c').to_text(),
            "corruption: t: index at offset 1000: byte 92: the separator of block 1 does not ascend");
}

TEST(IndexFormat, SeparatorsWithTheSameHeadAreInTheOrderOfTheirTails) {
  const std::string section =
      Blocks{{{"a"}, {"bcdefghij1"}, {"bcdefghij2"}, {"bcdefghij3"}}}.builder().finish(kSeed).bytes;
  ASSERT_NE(opened({section, 0}), nullptr);
  const std::size_t tails = section.find("j2j3");
  ASSERT_NE(tails, std::string::npos);
  ASSERT_EQ(refusal(section, tails + 3, '9').code(), StatusCode::kOk);
  for (const std::uint8_t digit : {'1', '2'}) {
    const Status status = refusal(section, tails + 3, digit);
    EXPECT_EQ(status.code(), StatusCode::kCorruption);
    EXPECT_NE(status.message().find("the separator of block 3 does not ascend"), std::string_view::npos)
        << status.to_text();
  }
}

/// Every group is in order, and the second one comes before the first.
TEST(IndexFormat, TheFirstSeparatorOfAGroupIsAfterTheGroupBefore) {
  const Blocks blocks{{{"m101"}, {"middle"}, {"middlf1"}, {"middlf2"}}};
  const std::string section = blocks.builder(0x7fff'0000).finish(kSeed).bytes;
  const std::size_t prefix_of_second = section.find("middlf");
  ASSERT_NE(prefix_of_second, std::string::npos);
  ASSERT_EQ(refusal(section, prefix_of_second, 'n').code(), StatusCode::kOk);
  const Status status = refusal(section, prefix_of_second, 'a');
  EXPECT_EQ(status.code(), StatusCode::kCorruption);
  EXPECT_NE(status.message().find("does not ascend"), std::string_view::npos) << status.to_text();
}

/// 300 blocks in three parts.
Blocks three_parts() {
  Blocks blocks;
  for (int i = 1000; i < 1300; ++i) blocks.keys.push_back({"key " + std::to_string(i)});
  blocks.keys[128] = {blocks.keys[127].back()};  // The second part continues the first.
  return blocks;
}

TEST(IndexParts, EveryFlippedBitIsRefused) {
  IndexSection section = three_parts().builder().finish(kSeed);
  const auto code = [&] {
    return Index::open_whole(as_bytes(section.bytes), section.top_bytes, kSeed, "t", 0).status().code();
  };
  ASSERT_EQ(code(), StatusCode::kOk);
  for (std::size_t at = 0; at < section.bytes.size(); ++at) {
    const char bit = static_cast<char>(1 << (at % 8));
    section.bytes[at] = static_cast<char>(section.bytes[at] ^ bit);
    ASSERT_EQ(code(), StatusCode::kCorruption) << at;
    section.bytes[at] = static_cast<char>(section.bytes[at] ^ bit);
  }
}

TEST(IndexParts, AreTheBytesOfTheGoldenFile) {
  Blocks blocks = three_parts();
  blocks.keys.resize(kIndexGroupBlocks + 2);
  test::expect_golden("tests/golden/indexes/parts.index", blocks.builder().finish(kSeed).bytes);
  expect_promises(blocks, {"", "key 1127!", "key 1128", "z"});
}

/// The status of an index whose parts have so many blocks. The top speaks of `top_parts` of them, and its separators
/// after the first are `change` keys away.
Status status_of(const std::vector<std::size_t>& sizes, std::size_t top_parts, int change = 0) {
  std::string bytes;
  IndexBuilder top;
  int key = 1000;
  std::uint64_t offset = 64;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    IndexBuilder part;
    const std::size_t begin = bytes.size();
    const int first = key + (i > 0 ? change : 0);
    for (std::size_t block = 0; block < sizes[i]; ++block, ++key, offset += 100) {
      part.add("key " + std::to_string(key - 1), "key " + std::to_string(key), "", {offset, 100});
    }
    bytes += part.finish(kSeed + begin).bytes;
    if (i >= top_parts) continue;
    top.add("key " + std::to_string(first - 1), "key " + std::to_string(first), "key " + std::to_string(first + 1),
            {begin, static_cast<std::uint32_t>(bytes.size() - begin)});
  }
  const std::string end = top.finish(kSeed + bytes.size()).bytes;
  return Index::open_whole(as_bytes(bytes + end), static_cast<std::uint32_t>(end.size()), kSeed, "t", 0).status();
}

TEST(IndexParts, ATopOfOtherPartsIsNamed) {
  ASSERT_EQ(status_of({128, 128, 44}, 3).to_text(), "ok");
  const auto is_of_others = [](const Status& status) {
    return status.code() == StatusCode::kCorruption && status.message().ends_with("a top of other parts");
  };
  EXPECT_TRUE(is_of_others(status_of({128, 128, 44}, 2))) << "one more than it speaks of";
  EXPECT_TRUE(is_of_others(status_of({100, 128, 72}, 3))) << "one is not full";
  EXPECT_TRUE(status_of({128, 128, 44}, 3, 1).message().ends_with("the top has another separator"));
}

}  // namespace
}  // namespace tamis
