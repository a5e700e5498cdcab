#include "table/data_block_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "base/hash.h"
#include "support/block_frame.h"
#include "table/block_trailer_format.h"

namespace tamis {
namespace {

using test::BlockFrame;

const KeyHasher kHasher(KeyHasher::Key{std::byte{7}});

/// Entries that own their text, in order.
class OwnedEntries {
 public:
  void add(std::string key, std::uint64_t sequence, std::string value, EntryKind kind = EntryKind::kPut) {
    if (kind == EntryKind::kExpiringPut) value.insert(0, "12345678");
    entries_[{std::move(key), ~sequence}] = {kind == EntryKind::kDelete ? "" : std::move(value), kind};
  }
  [[nodiscard]] std::vector<Entry> views() const {
    std::vector<Entry> all;
    for (const auto& [position, content] : entries_) {
      all.push_back({position.first, content.first, Sequence{~position.second}, content.second});
    }
    return all;
  }

 private:
  std::map<std::pair<std::string, std::uint64_t>, std::pair<std::string, EntryKind>> entries_;
};

/// All blocks built from the entries.
std::vector<std::string> build(const std::vector<Entry>& entries, std::size_t target_bytes) {
  std::vector<std::string> blocks;
  DataBlockBuilder builder(target_bytes);
  for (const Entry& entry : entries) {
    if (!builder.fits(entry)) blocks.emplace_back(builder.finish());
    builder.add(entry, kHasher(entry.key));
  }
  if (!builder.empty()) blocks.emplace_back(builder.finish());
  return blocks;
}

std::string build_one(const std::vector<Entry>& entries) {
  const std::vector<std::string> blocks = build(entries, 1 << 20);
  EXPECT_EQ(blocks.size(), 1U);
  return blocks.front();
}

std::vector<Entry> loaded(const DataBlock& block, std::vector<std::string>& keys) {
  keys.resize(block.size());
  std::vector<Entry> all(block.size());
  for (std::size_t i = 0; i < block.size(); ++i) block.load(i, keys[i], all[i]);
  return all;
}

/// The newest visible version of a key, by brute force.
std::optional<FoundEntry> oracle_find(const std::vector<Entry>& entries, std::string_view key, Sequence sequence) {
  for (const Entry& entry : entries) {
    if (entry.key == key && entry.sequence <= sequence) return FoundEntry{entry.kind, entry.sequence, entry.value};
  }
  return std::nullopt;
}
std::size_t oracle_lower_bound(const std::vector<Entry>& entries, EntryPosition position) {
  return static_cast<std::size_t>(
      std::ranges::count_if(entries, [&](const Entry& e) { return e.position() < position; }));
}

void expect_answers(const DataBlock& block, const std::vector<Entry>& entries, std::string_view key,
                    Sequence sequence) {
  const std::optional<FoundEntry> expected = oracle_find(entries, key, sequence);
  EXPECT_EQ(block.find({key, kHasher(key), sequence}, true), expected);
  EXPECT_EQ(block.find({key, ~kHasher(key), sequence}, false), expected) << "without tags";
  const Lookup lookup{key, kHasher(key), sequence};
  EXPECT_EQ(block.find_prefetched(lookup, block.prefetch_entry(lookup)), expected) << "prefetched";
  EXPECT_EQ(block.lower_bound(EntryPosition{key, sequence}), oracle_lower_bound(entries, {key, sequence}));
  EXPECT_EQ(block.ends_with_key(key), entries.back().key == key);
}

/// Every entry's key and its immediate neighbours, at and around every sequence of the block.
void expect_equal_to_oracle(const std::string& bytes, const std::vector<Entry>& entries) {
  const BlockFrame frame(bytes);
  const DataBlock block = frame.block();
  ASSERT_EQ(block.size(), entries.size());
  std::vector<std::string> keys;
  ASSERT_EQ(loaded(block, keys), entries);
  std::vector<char> buffer((std::size_t{1} << 20) + DataBlock::kKeySlackBytes);
  std::vector<Entry> several(entries.size());
  several.resize(block.load_some(0, entries.size(), buffer, several.data()));
  for (std::size_t i = 0; i < several.size(); ++i) ASSERT_EQ(several[i].plain(), entries[i]);
  std::set<std::string> asked = {"", std::string(1, '\0'), "\xff\xff\xff"};
  std::set<std::uint64_t> sequences = {0, number_of(kMaxSequence)};
  for (const Entry& entry : entries) {
    const std::string key(entry.key);
    asked.insert(key);
    asked.insert(key + '\0');
    asked.insert(key + "\xff");
    if (!key.empty()) asked.insert(key.substr(0, key.size() - 1));
    asked.insert(key.substr(0, key.size() / 2));
    const std::uint64_t sequence = number_of(entry.sequence);
    sequences.insert({sequence, sequence + 1, sequence - (sequence > 0 ? 1 : 0)});
  }
  for (const std::string& key : asked) {
    for (const std::uint64_t sequence : sequences) {
      expect_answers(block, entries, key, Sequence{sequence});
      if (testing::Test::HasFailure()) FAIL() << "key of " << key.size() << " bytes at " << sequence;
    }
  }
}

/// Keys that are hard on prefixes and heads: few letters, zero bytes, shared beginnings of several lengths.
std::string some_key(std::mt19937_64& random, std::size_t shared) {
  std::string key(shared, 'p');
  if (random() % 3 == 0) key.append("0123456789abcdef");
  for (std::uint64_t left = random() % 6; left > 0; --left) key.push_back("\x00\x01\x61\xff"[random() % 4]);
  return key;
}

TEST(DataBlock, AnswersAsALinearSearchDoesForRandomEntries) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    OwnedEntries entries;
    const std::size_t shared = std::size_t{0x4020'1000'0001} >> (8 * (random() % 6)) & 0x7f;
    const std::uint64_t span = seed % 2 == 0 ? 8 : 100'000;
    const std::uint64_t base = seed % 5 == 0 ? 0 : random() >> 1;
    for (std::uint64_t left = 1 + random() % (1 + seed); left > 0; --left) {
      entries.add(some_key(random, shared), base + random() % span, std::string(random() % 20, 'v'),
                  std::vector{EntryKind::kDelete, EntryKind::kExpiringPut, EntryKind::kPut}[random() % 3]);
    }
    const std::vector<Entry> all = entries.views();
    ASSERT_NO_FATAL_FAILURE(expect_equal_to_oracle(build_one(all), all));
  }
}

TEST(DataBlock, AnswersForMoreEntriesThanOneVectorOfTags) {
  OwnedEntries entries;
  std::mt19937_64 random(5);
  for (int i = 0; i < 150; ++i) entries.add(std::to_string(random() % 100'000), random() % 5, "v");
  const std::vector<Entry> all = entries.views();
  const BlockFrame frame(build_one(all));
  for (const Entry& entry : all) expect_answers(frame.block(), all, entry.key, entry.sequence);
}

TEST(DataBlock, HoldsASingleEntryOfAnySize) {
  for (const std::size_t key_bytes : {0, 1, 2, 3, 127, 128, 129, 130, 65'535, 65'536, 300'000}) {
    for (const std::size_t value_bytes : {0, 1, 200, 100'000}) {
      OwnedEntries entries;
      entries.add(std::string(key_bytes, 'k'), 7, std::string(value_bytes, 'v'));
      const std::vector<Entry> all = entries.views();
      const std::vector<std::string> blocks = build(all, 4096);
      ASSERT_EQ(blocks.size(), 1U);
      ASSERT_NO_FATAL_FAILURE(expect_equal_to_oracle(blocks.front(), all)) << key_bytes << " + " << value_bytes;
    }
  }
}

TEST(DataBlock, HoldsLongKeysThatDifferInTheLastByte) {
  OwnedEntries entries;
  for (const char last : {'a', 'b', 'c'}) entries.add(std::string(15'000, 'k') + last, 3, "value");
  const std::vector<Entry> all = entries.views();
  const std::string bytes = build_one(all);
  EXPECT_LT(bytes.size(), 15'200U) << "the prefix is there once";
  ASSERT_NO_FATAL_FAILURE(expect_equal_to_oracle(bytes, all));
}

TEST(DataBlock, Rule38_ALongKeyIsAloneInItsBlock) {
  const std::string longest(kMaxNarrowKeyBytes, 'k');
  for (const std::size_t target : {std::size_t{4096}, std::size_t{1} << 30}) {
    OwnedEntries entries;
    entries.add("a", 1, "v");
    entries.add(longest, 9, "");
    for (const std::uint64_t sequence : {5, 4, 3}) entries.add(longest + "k", sequence, "v", EntryKind::kDelete);
    entries.add(longest + "kl", 4, "");
    entries.add("z", 2, "v");
    for (const std::string& bytes : build(entries.views(), target)) {
      const BlockFrame frame(bytes);
      std::vector<std::string> keys;
      const std::vector<Entry> all = loaded(frame.block(), keys);
      for (const Entry& entry : all) EXPECT_TRUE(entry.key.size() <= kMaxNarrowKeyBytes || all.size() == 1);
      ASSERT_NO_FATAL_FAILURE(expect_equal_to_oracle(bytes, all));
    }
  }
}

TEST(DataBlock, HoldsTheEmptyKeyAndKeysOfZeros) {
  OwnedEntries entries;
  for (std::size_t zeros = 0; zeros < 6; ++zeros) {
    for (std::uint64_t sequence = 1; sequence < 4; ++sequence) entries.add(std::string(zeros, '\0'), sequence, "v");
  }
  const std::vector<Entry> all = entries.views();
  ASSERT_NO_FATAL_FAILURE(expect_equal_to_oracle(build_one(all), all));
}

TEST(DataBlock, FindsAnyOfThousandsOfVersionsOfOneKey) {
  for (const std::string_view key : {"", "k", "one key with sixteen bytes"}) {
    OwnedEntries entries;
    for (std::uint64_t sequence = 0; sequence < 5000; ++sequence) {
      entries.add(std::string(key), 3 * sequence, "", sequence % 7 == 0 ? EntryKind::kDelete : EntryKind::kPut);
    }
    const std::vector<Entry> all = entries.views();
    const BlockFrame frame(build_one(all));
    for (std::uint64_t sequence = 0; sequence < 15'002; ++sequence) {
      const std::uint64_t seen = std::min<std::uint64_t>(sequence / 3, 4999);
      const FoundEntry expected{seen % 7 == 0 ? EntryKind::kDelete : EntryKind::kPut, Sequence{3 * seen}, ""};
      for (const bool use_tags : {true, false}) {
        ASSERT_EQ(DataBlock(frame.bytes()).find({key, kHasher(key), Sequence{sequence}}, use_tags), expected)
            << sequence;
      }
    }
  }
}

TEST(DataBlock, KeepsSequencesFarApart) {
  OwnedEntries entries;
  const std::uint64_t far = (std::uint64_t{1} << 61) - 1;
  entries.add("a", 5, "old");
  entries.add("a", 5 + far, "new");
  entries.add("b", 5, "b");
  std::vector<Entry> all = entries.views();
  ASSERT_NO_FATAL_FAILURE(expect_equal_to_oracle(build_one(all), all));
  entries.add("c", 6 + far, "too far");
  EXPECT_EQ(build(entries.views(), 4096).size(), 2U);
  OwnedEntries last;
  last.add("a", number_of(kMaxSequence) - 1, "last");
  all = last.views();
  ASSERT_NO_FATAL_FAILURE(expect_equal_to_oracle(build_one(all), all));
}

TEST(DataBlock, TakesASecondLookWhenTagsCollide) {
  OwnedEntries entries;
  std::map<std::uint8_t, std::vector<std::string>> by_tag;
  for (int i = 0; i < 600; ++i) {
    const std::string key = "key" + std::to_string(i);
    by_tag[tag_of(kHasher(key))].push_back(key);
  }
  const std::vector<std::string> same =
      std::ranges::max_element(by_tag, {}, [](const auto& tag) { return tag.second.size(); })->second;
  ASSERT_GE(same.size(), 3U);
  for (const std::string& key : same) entries.add(key, 1, key);
  const std::vector<Entry> all = entries.views();
  ASSERT_NO_FATAL_FAILURE(expect_equal_to_oracle(build_one(all), all));
}

/// The single tag is followed by the head, then the offset 17, which as a head would belong to a key of 0, 17. The
/// bytes in place of its offset are the entry's lengths, and point into the value, where an entry is forged.
TEST(DataBlock, DoesNotTakeTheBytesBehindTheTagsForTags) {
  std::string forged;
  for (int i = 0; forged.empty() || tag_of(kHasher(forged)) != 'Z'; ++i)
    forged = std::string("\0\x11", 2) + std::to_string(i);
  const std::string_view rest = std::string_view(forged).substr(2);
  std::string value(400, 'v');
  // The entry begins at 17 with 5 and 1; so its value is at 22, and they point to 0x105.
  value.replace(0x105 - 22, 2 + rest.size(), std::string{static_cast<char>(forged.size()), '\x01'} + std::string(rest));
  OwnedEntries entries;
  entries.add("ZZabc", 5, value);
  const std::vector<Entry> all = entries.views();
  const BlockFrame frame(build_one(all));
  EXPECT_EQ(frame.block().find({forged, kHasher(forged), kMaxSequence}, true), std::nullopt);
}

TEST(DataBlock, EndsWhereOffsetsEndHoweverLargeTheTarget) {
  OwnedEntries entries;
  for (int i = 100'000; i < 120'000; ++i) entries.add(std::to_string(i), 1, "value");
  const std::vector<Entry> all = entries.views();
  std::size_t read = 0;
  for (const std::string& bytes : build(all, 1 << 20)) {
    EXPECT_LE(bytes.size(), 65'536U);
    const BlockFrame frame(bytes);
    std::vector<std::string> keys;
    for (const Entry& entry : loaded(frame.block(), keys)) ASSERT_EQ(entry, all[read++]);
  }
  EXPECT_EQ(read, all.size());
}

TEST(DataBlock, PaddingChangesNoAnswer) {
  OwnedEntries owned;
  for (int i = 0; i < 20; ++i) owned.add("city:" + std::to_string(i), 1000 + static_cast<std::uint64_t>(i), "value");
  const std::vector<Entry> entries = owned.views();
  const std::string packed = build_one(entries);
  for (const std::size_t zeros : {1U, 200U, 4095U}) {
    SCOPED_TRACE(zeros);
    DataBlockBuilder builder(1 << 20);
    for (const Entry& entry : entries) builder.add(entry, kHasher(entry.key));
    EXPECT_EQ(builder.finish(), packed);
    const std::string padded(builder.pad(zeros));
    EXPECT_EQ(padded.size(), packed.size() + zeros);
    expect_equal_to_oracle(padded, entries);
    builder.add(entries[0], kHasher(entries[0].key));
    expect_equal_to_oracle(std::string(builder.finish()), {entries[0]});
  }
}

TEST(DataBlock, ComparesBytesOfEveryLengthAsMemcmpDoes) {
  for (std::size_t count = 0; count <= 40; ++count) {
    const std::string a = std::string(count, 'a') + 'x';  // What follows does not count.
    std::string b = std::string(count, 'a') + 'y';
    EXPECT_TRUE(data_block::equal_bytes(a.data(), b.data(), count)) << count;
    for (std::size_t i = 0; i < count; ++i) {
      b[i] = 'b';
      EXPECT_FALSE(data_block::equal_bytes(a.data(), b.data(), count)) << i << " of " << count;
      b[i] = 'a';
    }
  }
}

TEST(DataBlock, ReadsVarintsOfEveryLengthAsTheLoopDoes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t value =
        i < 200 ? (std::uint64_t{1} << (i % 64)) - static_cast<std::uint64_t>(i % 3) : random() >> (random() % 64);
    std::string bytes;
    append_varint(bytes, value);
    const std::size_t length = bytes.size();
    bytes.append(8, i % 2 == 0 ? '\xff' : '\0');
    const char* at = bytes.data();
    ASSERT_EQ(data_block::load_varint_with_slack(at), value);
    ASSERT_EQ(at, bytes.data() + length) << value;
  }
}

/// Keys with prefixes and suffixes of all short lengths, in buffers that hold all, some or none of them.
TEST(DataBlock, LoadsSeveralEntriesAsItLoadsOne) {
  for (const std::size_t prefix_bytes : {0, 1, 15, 16, 17, 100}) {
    for (const std::size_t longest : {0, 1, 2, 17, 19, 40}) {
      DataBlockBuilder builder(8192);
      std::vector<std::string> keys;
      for (std::size_t bytes = 0; bytes <= longest; ++bytes) {
        keys.push_back(std::string(prefix_bytes, 'p') + std::string(bytes, 'k'));
        builder.add({keys.back(), std::string(bytes, 'v'), Sequence{7 + bytes * 1000}, EntryKind::kPut}, bytes);
      }
      const BlockFrame frame(builder.finish());
      const DataBlock block = frame.block();
      for (const std::size_t room : {0, 1, 20, 130, 4000}) {
        std::vector<char> buffer(room + DataBlock::kKeySlackBytes);
        std::vector<Entry> entries(block.size());
        const std::size_t first = block.size() / 3;
        const std::size_t loaded = block.load_some(first, block.size() - first, buffer, entries.data());
        ASSERT_TRUE(room < 4000 || loaded == block.size() - first);
        std::size_t used = 0;
        for (std::size_t i = 0; i < loaded; ++i) {
          std::string key;
          Entry wanted;
          block.load(first + i, key, wanted);
          ASSERT_EQ(entries[i], wanted) << "prefix " << prefix_bytes << ", key " << first + i << ", room " << room;
          used += key.size();
        }
        ASSERT_LE(used, room);
        if (first + loaded < block.size()) {
          ASSERT_GT(used + keys[first + loaded].size(), room) << "there was room for more";
        }
      }
    }
  }
}

}  // namespace
}  // namespace tamis
