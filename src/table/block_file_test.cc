#include "table/block_file.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/hash.h"
#include "io/memory_file_system.h"
#include "support/files.h"

namespace tamis {
namespace {

constexpr std::uint64_t kTable = 12;
constexpr std::uint64_t kOffset = 4096;

/// Thirty entries that compress well.
std::string example_block() {
  const KeyHasher hasher;
  DataBlockBuilder builder(4096);
  for (int i = 100; i < 130; ++i) {
    const std::string key = "user:" + std::to_string(i);
    builder.add({key, std::string(100, static_cast<char>('a' + i % 3)), Sequence{7}, EntryKind::kPut}, hasher(key));
  }
  return std::string(builder.finish());
}

std::string stored(std::string_view block, const Codec* codec, std::uint64_t offset = kOffset) {
  std::string bytes;
  append_block(bytes, as_bytes(block), codec, kTable, offset);
  return bytes;
}

void expect_frame(const Result<BlockBuffer>& frame, std::string_view block) {
  ASSERT_TRUE(frame.ok()) << frame.status().to_text();
  ASSERT_EQ(frame->size(), block.size() + kBlockSlackBytes);
  EXPECT_EQ(as_text(block_of(frame->span())), block);
  EXPECT_EQ(as_text(frame->span().last(kBlockSlackBytes)), std::string(kBlockSlackBytes, '\0'));
}

/// A file with these bytes from kOffset on.
class OneFile {
 public:
  explicit OneFile(std::string_view bytes) {
    test::put_file(files_, "/t", std::string(kOffset, '\0').append(bytes));
    file_ = *files_.open_readable("/t");
  }
  [[nodiscard]] Result<BlockBuffer> read(std::size_t bytes, std::uint64_t offset = kOffset) const {
    return read_block(*file_, {offset, static_cast<std::uint32_t>(bytes)}, kTable, "t");
  }

 private:
  MemoryFileSystem files_;
  std::unique_ptr<ReadableFile> file_;
};

TEST(BlockFile, GivesBackBlocksOfEveryCodec) {
  const std::string block = example_block();
  for (const Codec& codec : codecs()) {
    SCOPED_TRACE(codec.name);
    const std::string bytes = stored(block, &codec);
    EXPECT_EQ(bytes.size() < block.size(), codec.id != 0);
    expect_frame(open_block(as_bytes(bytes), kTable, kOffset, "t"), block);
    expect_frame(OneFile(bytes).read(bytes.size()), block);
  }
  EXPECT_EQ(stored(block, nullptr), stored(block, find_codec("none")));
}

TEST(BlockFile, StoresWhatDoesNotCompressAsItIs) {
  std::mt19937_64 random(1);
  std::string block(1000, '\0');
  for (char& byte : block) byte = static_cast<char>(random());
  for (const Codec& codec : codecs()) EXPECT_EQ(stored(block, &codec), stored(block, nullptr)) << codec.name;
  expect_frame(open_block(as_bytes(stored(block, nullptr)), kTable, kOffset, "t"), block);
}

TEST(BlockFile, AppendsOneBlockAfterTheOther) {
  const std::string block = example_block();
  std::string bytes = stored(block, nullptr);
  const std::size_t first = bytes.size();
  append_block(bytes, as_bytes(block), find_codec("lz4"), kTable, kOffset + first);
  const OneFile file(bytes);
  expect_frame(file.read(first), block);
  expect_frame(file.read(bytes.size() - first, kOffset + first), block);
}

TEST(BlockFile, NoticesEveryChangedBit) {
  for (const Codec& codec : codecs()) {
    std::string bytes = stored(example_block(), &codec);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
      const Result<BlockBuffer> frame = open_block(as_bytes(bytes), kTable, kOffset, "t");
      ASSERT_EQ(frame.status().code(), StatusCode::kCorruption) << codec.name << ", bit " << bit;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    }
  }
}

TEST(BlockFile, NoticesABlockInAnotherPlace) {
  const std::string bytes = stored(example_block(), nullptr);
  EXPECT_TRUE(open_block(as_bytes(bytes), kTable, kOffset, "t").ok());
  EXPECT_FALSE(open_block(as_bytes(bytes), kTable, kOffset + 1, "t").ok());
  EXPECT_FALSE(open_block(as_bytes(bytes), kTable + 1, kOffset, "t").ok());
  std::set<std::uint64_t> seeds;
  for (std::uint64_t table = 0; table < 100; ++table) {
    for (std::uint64_t offset = 0; offset < 100; ++offset) seeds.insert(block_checksum_seed(table, offset));
  }
  EXPECT_EQ(seeds.size(), 10'000U);
}

TEST(BlockFile, NoticesWhenBytesAreMissing) {
  const std::string bytes = stored(example_block(), nullptr);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(open_block(as_bytes(bytes).first(size), kTable, kOffset, "t").ok()) << size;
    ASSERT_FALSE(OneFile(bytes).read(size).ok()) << size;
  }
  const OneFile shorter(std::string_view(bytes).substr(0, 100));
  EXPECT_EQ(shorter.read(bytes.size()).status().message(),
            "t: block at offset 4096: the file ends after 100 of its " + std::to_string(bytes.size()) + " bytes");
}

/// Stored bytes with an arbitrary trailer and a valid checksum.
std::string with_trailer(std::string bytes, BlockTrailer trailer) {
  append_block_trailer(bytes, 0, trailer, block_checksum_seed(kTable, kOffset));
  return bytes;
}

TEST(BlockFile, RefusesTrailersThatDoNotFitTheirBlock) {
  const auto refusal = [](const std::string& bytes) {
    const Result<BlockBuffer> frame = open_block(as_bytes(bytes), kTable, kOffset, "t");
    EXPECT_EQ(OneFile(bytes).read(bytes.size()).status().to_text(), frame.status().to_text());
    return frame.status().to_text();
  };
  EXPECT_EQ(refusal(with_trailer("12345", {0, 6})), "corruption: t: block at offset 4096: 6 bytes, 5 are there");
  EXPECT_EQ(refusal(with_trailer("12345", {1, 6})),
            "corruption: t: block at offset 4096: 5 bytes of lz4 do not become 6 bytes");
  EXPECT_EQ(refusal(with_trailer("12345", {2, 0})),
            "corruption: t: block at offset 4096: 5 bytes of zstd do not become 0 bytes");
  EXPECT_EQ(refusal(with_trailer("12345", {99, 5})),
            "not supported: t: block at offset 4096: codec 99 is not known to this build; use a newer tamis");
}

TEST(BlockFile, ChecksWhatItReads) {
  const std::string bytes = stored("not a block at all", nullptr);
  EXPECT_TRUE(open_block(as_bytes(bytes), kTable, kOffset, "t").ok());
  EXPECT_EQ(OneFile(bytes).read(bytes.size()).status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace tamis
