// How full blocks are, what check() refuses, and the frozen bytes.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/aligned_bytes.h"
#include "base/hash.h"
#include "entry/expiry.h"
#include "support/golden.h"
#include "table/block_file.h"
#include "table/data_block_format.h"

namespace tamis {
namespace {

const KeyHasher kHasher(KeyHasher::Key{std::byte{7}});

struct Owned {
  std::string key;
  std::string value;
  Sequence sequence;
  EntryKind kind = EntryKind::kPut;

  [[nodiscard]] Entry view() const { return {key, value, sequence, kind}; }
};

std::string block_of_entries(const std::vector<Owned>& entries, std::size_t target_bytes = 1 << 20) {
  DataBlockBuilder builder(target_bytes);
  for (const Owned& entry : entries) {
    EXPECT_TRUE(builder.fits(entry.view()));
    builder.add(entry.view(), kHasher(entry.key));
  }
  return std::string(builder.finish());
}

/// The cities of docs/FORMAT.md.
std::vector<Owned> cities() {
  return {{"city:lyon", "522969", Sequence{1002}, EntryKind::kPut},
          {"city:paris", "", Sequence{1003}, EntryKind::kDelete},
          {"city:paris", "2102650", Sequence{1000}, EntryKind::kPut},
          {"city:x", "", Sequence{1020}, EntryKind::kPut}};
}

Status checked(const std::string& bytes) {
  const AlignedBytes frame = AlignedBytes::copy_of(as_bytes(bytes + std::string(kBlockSlackBytes, '\0')));
  return DataBlock::check(block_of(frame.span()), "t", 77);
}
std::string refusal(const std::string& bytes) { return std::string(checked(bytes).message()); }
std::string changed(std::string bytes, std::size_t at, std::string_view to) { return bytes.replace(at, to.size(), to); }

/// Uses everything in a block that passed its check; returns its number of entries, 0 if it was refused.
std::size_t walk(const std::string& bytes) {
  const AlignedBytes frame = AlignedBytes::copy_of(as_bytes(bytes + std::string(kBlockSlackBytes, '\0')));
  if (!DataBlock::check(block_of(frame.span()), "t", 0).ok()) return 0;
  const DataBlock block(block_of(frame.span()));
  std::string key;
  Entry entry;
  for (std::size_t i = 0; i < block.size(); ++i) {
    block.load(i, key, entry);
    EXPECT_EQ(block.lower_bound(entry.position()), i);
    EXPECT_EQ(block.find({key, 0, entry.sequence}, false), (FoundEntry{entry.kind, entry.sequence, entry.value}));
    (void)block.find({key, kHasher(key), entry.sequence}, true);
  }
  EXPECT_TRUE(block.ends_with_key(key));
  return block.size();
}

TEST(DataBlockBuilder, FillsBlocksUpToTheTargetAndNotBeyond) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::size_t target = std::vector<std::size_t>{100, 512, 4096, 60'000, 1 << 20}[seed % 5];
    const std::size_t most = std::min<std::size_t>(target, 65'536 + kBlockTrailerBytes);
    const std::uint64_t span = std::uint64_t{1} << (random() % 60);
    std::vector<Owned> entries;
    DataBlockBuilder builder(target);
    std::string key = "shared beginning of a key 000000";
    for (int number = 0; number < 3000; ++number) {
      if (random() % 3 != 0) {  // Sometimes another version, one per sequence below.
        for (std::size_t at = key.size(); key[--at]++ == '9';) key[at] = '0';
      } else if (!entries.empty() && number_of(entries.back().sequence) == 0) {
        continue;
      }
      const bool is_version = !entries.empty() && entries.back().key == key;
      const std::uint64_t sequence = random() % (is_version ? number_of(entries.back().sequence) : span + 1);
      const Owned next{key, std::string(random() % 30, 'v'), Sequence{sequence}};
      if (builder.fits(next.view())) {
        builder.add(next.view(), kHasher(key));
        entries.push_back(next);
        continue;
      }
      ASSERT_EQ(builder.entries(), entries.size());
      const std::size_t bytes = builder.finish().size() + kBlockTrailerBytes;
      EXPECT_TRUE(entries.size() == 1 || bytes <= most) << bytes;
      // One more would be too many, as computed for a larger target.
      std::vector<Owned> more = entries;
      more.push_back(next);
      EXPECT_TRUE(target >= 60'000 || block_of_entries(more).size() + kBlockTrailerBytes > target);
      EXPECT_TRUE(builder.empty());
      entries = {next};
      builder.add(next.view(), kHasher(key));
    }
  }
}

TEST(DataBlockBuilder, PutsWhatIsLargerThanTheTargetIntoABlockOfItsOwn) {
  DataBlockBuilder builder(4096);
  const std::string large(10'000, 'v');
  builder.add({"a", "small", Sequence{1}, EntryKind::kPut}, 1);
  EXPECT_FALSE(builder.fits({"b", large, Sequence{1}, EntryKind::kPut}));
  builder.finish();
  EXPECT_TRUE(builder.fits({"b", large, Sequence{1}, EntryKind::kPut}));
  builder.add({"b", large, Sequence{1}, EntryKind::kPut}, 1);
  EXPECT_FALSE(builder.fits({"c", "", Sequence{1}, EntryKind::kPut}));
  EXPECT_GT(builder.finish().size(), large.size());
}

TEST(DataBlock, TakesTheBytesPerEntryThatWereDecided) {
  std::mt19937_64 random(1);
  std::set<std::string> keys;
  while (keys.size() < 100'000) {
    std::string key(16, '\0');
    for (char& byte : key) byte = static_cast<char>(random());
    keys.insert(key);
  }
  const std::string value(100, 'v');
  DataBlockBuilder builder(4096);
  std::size_t bytes = 0;
  for (const std::string& key : keys) {
    const Entry entry{key, value, Sequence{0}, EntryKind::kPut};
    if (!builder.fits(entry)) bytes += builder.finish().size() + kBlockTrailerBytes;
    builder.add(entry, kHasher(key));
  }
  bytes += builder.finish().size() + kBlockTrailerBytes;
  // Decision 0007 has 120.2 for 5 million; fewer keys share one byte less.
  EXPECT_LT(static_cast<double>(bytes) / 100'000, 121.3);
}

TEST(DataBlock, RefusesEveryTruncation) {
  const std::string bytes = block_of_entries(cities());
  EXPECT_EQ(refusal(bytes), "");
  EXPECT_EQ(walk(bytes), 4U);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_NE(refusal(bytes.substr(0, size)), "") << size;
}

TEST(DataBlock, SurvivesEveryValueOfEveryByteAndOfEveryPair) {
  const std::string bytes = block_of_entries(cities());
  std::mt19937_64 random(9);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(value);
      walk(damaged);
      damaged[random() % damaged.size()] = static_cast<char>(random());
      walk(damaged);
    }
  }
}

TEST(DataBlock, SaysWhatIsWrongWithItsBytes) {
  using namespace std::string_literals;
  const std::string bytes = block_of_entries(cities());
  // n 4 at 0, p 5 at 2, base 1000 at 4, tags at 12, heads at 16, offsets at 24, prefix at 32, entries at 37.
  const std::string begin = "t: block at offset 77: ";
  EXPECT_EQ(refusal(""), begin + "0 bytes are too few for a block");
  EXPECT_EQ(refusal(changed(bytes, 0, "\0"s)), begin + "it has no entries");
  EXPECT_EQ(refusal(changed(bytes, 1, "\x10"s)),
            begin + "4100 entries and a prefix of 5 bytes do not fit into " + std::to_string(bytes.size()) + " bytes");
  EXPECT_EQ(refusal(changed(bytes, 2, "\4"s)), begin + "its padding is not zero");
  EXPECT_EQ(refusal(changed(bytes, 2, "\6"s)), begin + "its first entry begins at 37, its prefix ends at 38");
  EXPECT_EQ(refusal(changed(bytes, 25, "\x10"s)), begin + "its first entry begins at 4133, its prefix ends at 37");
  EXPECT_EQ(refusal(changed(bytes, 4, std::string(8, '\xff'))),
            begin + "entry 0 of 4: sequence 18446744073709551615 + 2");
  // The newer version of Paris would not be found, and the older one would.
  EXPECT_EQ(refusal(changed(bytes, 13, std::string(1, static_cast<char>(~bytes[13])))),
            begin + "entry 2 of 4: its tag is not that of a newer version");
  EXPECT_EQ(refusal(changed(bytes, 16, "\0z"s)), begin + "entry 1 of 4: it does not come after the one before");
  EXPECT_EQ(refusal(changed(bytes, 22, "\1x"s)), begin + "entry 3 of 4: a head of more than 1 bytes");
  EXPECT_EQ(refusal(changed(bytes, 26, "\x25"s)), begin + "entry 0 of 4: it lies from 37 to 37");
  EXPECT_EQ(refusal(changed(bytes, 26, "\0\1"s)), begin + "entry 0 of 4: it lies from 37 to 256");
  EXPECT_EQ(refusal(changed(bytes, 37, std::string(9, '\xff'))), begin + "entry 0 of 4: its key's length does not end");
  EXPECT_EQ(refusal(changed(bytes, 38, std::string(9, '\xff'))), begin + "entry 0 of 4: its sequence does not end");
  EXPECT_EQ(refusal(changed(bytes, 37, "\xff\xff\x03"s)),
            begin + "entry 0 of 4: a key of 5 + 65535 bytes, 65535 allowed");
  EXPECT_EQ(refusal(changed(bytes, 37, "\x0b"s)), begin + "entry 0 of 4: its key needs 11 bytes, 8 are left");
  EXPECT_EQ(refusal(changed(bytes, 38, "\x15"s)),
            begin + "entry 0 of 4: entry kind 5, which this build does not know; use a newer tamis");
  EXPECT_EQ(refusal(changed(bytes, 38, "\x12"s)), begin + "entry 0 of 4: a delete with a value");
  EXPECT_EQ(refusal(block_of_entries({{"a", "", Sequence{1}}}).replace(2, 1, "\1")),
            begin + "a single entry shares a prefix");
  std::string twice = block_of_entries({{"ab", "", Sequence{2}}, {"ab", "", Sequence{1}}});
  twice[twice.size() - 3] = twice.back();  // Both have sequence 1 now.
  EXPECT_EQ(refusal(twice), begin + "entry 1 of 2: it does not come after the one before");
}

TEST(DataBlock, OfAKindThatThisBuildDoesNotKnowIsNotDamaged) {
  using namespace std::string_literals;
  const std::string bytes = block_of_entries(cities());
  for (int kind = 0; kind < 7; ++kind) {  // The stamp of the first entry, at 38.
    const Status status = checked(changed(bytes, 38, std::string(1, static_cast<char>(0x10 | kind))));
    // The entry has a value, so it is no delete.
    EXPECT_EQ(status.code(), kind == 1 || kind == 3 ? StatusCode::kOk
                             : kind == 2            ? StatusCode::kCorruption
                                                    : StatusCode::kNotSupported)
        << kind;
  }
  for (int kind = 0; kind < 256; ++kind) {  // After the escape, the kind is the first byte of the value.
    const std::string escaped = changed(changed(bytes, 38, "\x17"s), 41, std::string(1, static_cast<char>(kind)));
    // The value is too short for one that expires, and no pointer.
    const bool is_known = kind == 1 || kind == 2 || kind == 3 || kind == 9 || kind == 17 || kind == 25;
    EXPECT_EQ(checked(escaped).code(), is_known ? StatusCode::kCorruption : StatusCode::kNotSupported) << kind;
  }
  EXPECT_EQ(
      checked(changed(changed(bytes, 38, "\x17"s), 41, "\x0b"s)).message(),
      "t: block at offset 77: entry 0 of 4: entry kind 11: a merge operand that expires, which this build does not "
      "know; use a newer tamis");
  std::string cut = block_of_entries({{"a", "", Sequence{1}}});
  cut.back() = 7;
  EXPECT_EQ(checked(cut).message(), "t: block at offset 77: entry 0 of 1: its kind is cut off");
  EXPECT_EQ(checked(cut).code(), StatusCode::kCorruption);
}

TEST(DataBlock, Rule38_OnlyAKeyThatIsAloneMayBeLong) {
  const std::string bytes = block_of_entries({{std::string(kMaxNarrowKeyBytes + 1, 'k'), "v", Sequence{1}}});
  EXPECT_TRUE(checked(bytes).ok());
  const std::string alone = block_of_entries({{"k", "v", Sequence{1}}});
  const std::string too_long = alone.substr(0, 17) + "\x81\x80\x80\x08\x01" + "v";
  EXPECT_EQ(checked(too_long).message(),
            "t: block at offset 77: entry 0 of 1: a key of 0 + 16777217 bytes, 16777216 allowed");
}

/// The cities with three zeros of padding, at 37.
std::string padded_block() {
  DataBlockBuilder builder(1 << 20);
  for (const Owned& entry : cities()) builder.add(entry.view(), kHasher(entry.key));
  builder.finish();
  return std::string(builder.pad(3));
}

TEST(DataBlock, OfTheGoldenFileWithPaddingIsReproducedAndRead) {
  const std::string bytes = padded_block();
  test::expect_golden("fuzz/corpus/data_block_format_fuzz/padded", bytes);
  EXPECT_EQ(walk(bytes), 4U);
  for (std::size_t at = 37; at < 40; ++at) {
    EXPECT_EQ(refusal(changed(bytes, at, "x")), "t: block at offset 77: its padding is not zero") << at;
  }
}

/// Two versions, of which the newer one expires.
std::string expiring_block() {
  std::string value;
  append_expiring(value, {1'700'000'000'123, "522969"});
  return block_of_entries(
      {{"city:lyon", value, Sequence{1002}, EntryKind::kExpiringPut}, {"city:lyon", "1", Sequence{1001}}});
}

TEST(DataBlock, OfTheGoldenFileWithAPutThatExpiresIsReproducedAndRead) {
  std::string made;
  append_block(made, as_bytes(expiring_block()), nullptr, 12, 4096);
  test::expect_golden("fuzz/corpus/data_block_format_fuzz/expiring", expiring_block());
  const std::string golden = test::golden_file("tests/golden/blocks/expiring.block", made);
  EXPECT_TRUE(golden == made) << "this build writes other bytes than version 2 did";
  const Result<BlockBuffer> frame = open_block(as_bytes(golden), 12, 4096, "t");
  ASSERT_TRUE(frame.ok()) << frame.status().to_text();
  EXPECT_EQ(walk(std::string(as_text(block_of(frame->span())))), 2U);
}

TEST(DataBlock, WithAnExpiringValueWithoutAValidTimeIsDamaged) {
  const std::string block = expiring_block();
  const std::size_t value = block.find("522969") - 8;
  EXPECT_EQ(block[value - 1], 9);
  const std::string begin = "t: block at offset 77: entry 0 of 2: ";
  EXPECT_EQ(refusal(changed(block, value + 7, "\x80")), begin + "a value that expires without a valid time");
  EXPECT_EQ(checked(changed(block, value + 7, "\x80")).code(), StatusCode::kCorruption);
}

TEST(DataBlock, OfTheGoldenFileWithAnUnknownKindIsNotSupported) {
  std::string block = expiring_block();
  block[block.find("522969") - 9] = 33;
  std::string made;
  append_block(made, as_bytes(block), nullptr, 12, 4096);
  const std::string golden = test::golden_file("tests/golden/blocks/unknown-kind.block", made);
  const Result<BlockBuffer> frame = open_block(as_bytes(golden), 12, 4096, "t");
  ASSERT_TRUE(frame.ok()) << frame.status().to_text();
  const Status status = DataBlock::check(block_of(frame->span()), "t", 0);
  EXPECT_EQ(status.code(), StatusCode::kNotSupported) << status.to_text();
}

TEST(DataBlock, Rule38_OfTheGoldenFileWithALongKeyIsRead) {
  const std::string key(kMaxNarrowKeyBytes + 1, 'k');
  const std::string block = block_of_entries({{key, "value", Sequence{1000}}});
  std::string made;
  append_block(made, as_bytes(block), find_codec("zstd"), 12, 4096);
  const std::string golden = test::golden_file("tests/golden/blocks/long-key-zstd.block", made);
  const Result<BlockBuffer> frame = open_block(as_bytes(golden), 12, 4096, "t");
  ASSERT_TRUE(frame.ok()) << frame.status().to_text();
  const std::string read(as_text(block_of(frame->span())));
  EXPECT_TRUE(read == block) << "this build writes other bytes than version 2 did";
  EXPECT_EQ(walk(read), 1U);
}

TEST(DataBlock, OfTheGoldenFileIsReproducedAndRead) {
  for (const Codec& codec : codecs()) {
    const std::string name = "tests/golden/blocks/cities-" + std::string(codec.name) + ".block";
    SCOPED_TRACE(name);
    std::vector<Owned> entries = cities();
    if (codec.id != 0) entries.back().value = std::string(200, 'x');  // Something to compress.
    std::string made;
    append_block(made, as_bytes(block_of_entries(entries)), &codec, 12, 4096);
    const std::string golden = test::golden_file(name, made);
    // A codec's output may change with its library; it must remain readable.
    EXPECT_TRUE(codec.id != 0 || golden == made) << "this build writes other bytes than version 1 did";
    const Result<BlockBuffer> frame = open_block(as_bytes(golden), 12, 4096, name);
    ASSERT_TRUE(frame.ok()) << frame.status().to_text();
    const std::string block(as_text(block_of(frame->span())));
    EXPECT_EQ(walk(block), 4U);
    EXPECT_EQ(block, block_of_entries(entries));
  }
}

}  // namespace
}  // namespace tamis
