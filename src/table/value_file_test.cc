// Value files: written, read, damaged, frozen.
#include "table/value_file.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>

#include "io/file_names.h"
#include "io/memory_file_system.h"
#include "support/golden.h"
#include "support/table_world.h"
#include "table/value_file_builder.h"

namespace tamis {
namespace {

constexpr std::uint64_t kNumber = 17;

/// A file of four values on an in-memory disk, and what points into it.
struct ValueWorld {
  explicit ValueWorld(const Codec* codec = nullptr) {
    EXPECT_TRUE(disk.make_directory("/v").ok());
    ValueFileSpec spec{.path = path(), .number = kNumber, .store_id = test::example_identity().store_id};
    spec.features = Features::of(Feature::kKeyspaces);
    spec.codec = codec;
    spec.created_unix_seconds = 1'700'000'000;
    const auto builder = *ValueFileBuilder::create(disk, spec);
    for (const auto& [key, value] : values) pointers[key] = *builder->add(key, value);
    facts = *builder->finish();
  }
  static std::string path() { return value_file_path("/v", kNumber); }
  [[nodiscard]] std::string bytes() { return *read_whole_file(disk, path()); }
  void replace(std::string_view bytes) {
    handles.close(kNumber);
    const auto file = *disk.open_writable(path(), OpenMode::kReplace);
    const Bytes piece = as_bytes(bytes);
    EXPECT_TRUE(file->write_at(0, std::span(&piece, 1)).ok());
  }
  Result<std::string> read(const std::string& key, const ValuePointer& pointer) {
    const ValueFile file(facts, context);
    std::string value;
    if (Status read = file.read(pointer, key, value); !read.ok()) return read;
    return value;
  }
  Result<std::string> read(const std::string& key) { return read(key, pointers.at(key)); }

  const std::map<std::string, std::string> values = {{"amiens", std::string(300, 'a')},
                                                     {"brest", "not compressible"},
                                                     {"caen", std::string(600'000, 'c') + "end"},
                                                     {"dijon", ""}};
  std::map<std::string, ValuePointer> pointers;
  MemoryFileSystem disk;
  FileHandles handles{disk, 10};
  TableContext context{.directory = "/v", .identity = test::example_identity(), .handles = &handles};
  ValueFileFacts facts;
};

TEST(ValueFile, GivesBackWhatWasAddedWithEveryCodec) {
  for (const Codec& codec : codecs()) {
    SCOPED_TRACE(codec.name);
    ValueWorld world(&codec);
    EXPECT_EQ(world.facts.file_bytes, world.bytes().size());
    for (const auto& [key, value] : world.values) {
      const Result<std::string> read = world.read(key);
      ASSERT_TRUE(read.ok()) << read.status().to_text();
      EXPECT_TRUE(*read == value) << key;
    }
    EXPECT_EQ(world.pointers["brest"].codec, 0) << "compression saves nothing";
    EXPECT_EQ(world.pointers["caen"].codec, codec.id);
    EXPECT_TRUE(ValueFile(world.facts, world.context).verify_header().ok());
  }
}

TEST(ValueFile, SendsManyReadsTogether) {
  ValueWorld world;
  const ValueFile file(world.facts, world.context);
  std::map<std::string, std::string> got;
  std::vector<ValueRead> reads;
  for (const auto& [key, pointer] : world.pointers) reads.push_back({&file, pointer, key, &got[key]});
  reads[1].pointer.checksum ^= 1;
  ValueFile::read_many(reads);
  EXPECT_EQ(reads[1].status.code(), StatusCode::kCorruption);
  for (const std::size_t i : {0U, 2U, 3U}) {
    EXPECT_TRUE(reads[i].status.ok()) << reads[i].status.to_text();
    EXPECT_TRUE(*reads[i].to == world.values.at(std::string(reads[i].key)));
  }
}

/// A value is valid for its key, in its place, in its file.
TEST(ValueFile, Rule41_TheChecksumIsSeededWithFileOffsetAndKey) {
  ValueWorld world;
  const ValuePointer right = world.pointers["amiens"];
  const std::string whole = world.bytes();
  EXPECT_EQ(world.read("amienz", right).status().code(), StatusCode::kCorruption) << "another key";
  ValuePointer moved = right;
  moved.offset += 10;
  world.replace(whole.substr(0, right.offset) + std::string(10, 'x') + whole.substr(right.offset));
  EXPECT_EQ(world.read("amiens", moved).status().code(), StatusCode::kCorruption) << "the same bytes elsewhere";
  world.replace(whole);
  ValuePointer other = right;
  other.file = kNumber + 1;
  EXPECT_EQ(world.read("amiens", other).status().code(), StatusCode::kCorruption) << "the same bytes in another file";
  EXPECT_TRUE(world.read("amiens", right).ok());
}

TEST(ValueFile, Rule41_P3_EveryFlippedByteIsFoundByItsReaderAlone) {
  ValueWorld world(find_codec("lz4"));
  const std::string whole = world.bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x20);
    world.replace(flipped);
    const ValueFile file(world.facts, world.context);
    EXPECT_EQ(file.verify_header().ok(), at >= kValueFileHeaderBytes) << at;
    for (const auto& [key, pointer] : world.pointers) {
      const bool is_hit = at >= pointer.offset && at < pointer.offset + pointer.stored_bytes;
      const Result<std::string> read = world.read(key);
      ASSERT_EQ(read.ok(), !is_hit) << key << " after a flip at " << at;
      if (!is_hit) continue;
      EXPECT_EQ(read.status().code(), StatusCode::kCorruption);
      EXPECT_NE(read.status().message().find(fmt::format("000017.values: value at offset {}", pointer.offset)),
                std::string_view::npos)
          << read.status().to_text();
    }
  }
}

TEST(ValueFile, Rule41_AShortOrMissingFileIsCorruption) {
  ValueWorld world;
  const ValuePointer last = world.pointers["caen"];
  world.replace(world.bytes().substr(0, last.offset + 5));
  EXPECT_EQ(world.read("caen").status().code(), StatusCode::kCorruption);
  EXPECT_EQ(ValueFile(world.facts, world.context).verify_header().code(), StatusCode::kCorruption);
  EXPECT_TRUE(world.read("amiens").ok());
  world.handles.close(kNumber);
  ASSERT_TRUE(world.disk.remove(ValueWorld::path()).ok());
  const Status missing = world.read("amiens").status();
  EXPECT_EQ(missing.code(), StatusCode::kCorruption);
  EXPECT_NE(missing.message().find("000017.values: value at offset 64: the file is missing"), std::string_view::npos)
      << missing.to_text();
}

TEST(ValueFile, AHeaderOfAnotherStoreOrNumberIsRefused) {
  ValueWorld world;
  ValueFileFacts other = world.facts;
  TableContext context = world.context;
  context.identity.store_id.fill(std::byte{1});
  EXPECT_EQ(ValueFile(world.facts, context).verify_header().code(), StatusCode::kCorruption);
  const auto header = encode_value_file_header({test::example_identity().store_id, kNumber + 1, {}});
  world.replace(std::string(as_text(header)) + world.bytes().substr(header.size()));
  EXPECT_EQ(ValueFile(other, world.context).verify_header().code(), StatusCode::kCorruption);
}

TEST(ValuePointer, ImpossibleOnesAreCorruption) {
  const ValuePointer right{.file = 17, .offset = 64, .stored_bytes = 80, .value_bytes = 100, .codec = 1, .checksum = 7};
  EXPECT_EQ(*decode_value_pointer(encode_value_pointer(right), "p"), right);
  const auto refused = [&](auto change) {
    ValuePointer wrong = right;
    change(wrong);
    return decode_value_pointer(encode_value_pointer(wrong), "p").status().code() == StatusCode::kCorruption;
  };
  EXPECT_TRUE(refused([](ValuePointer& wrong) { wrong.file = 0; }));
  EXPECT_TRUE(refused([](ValuePointer& wrong) { wrong.offset = 63; }));
  EXPECT_TRUE(refused([](ValuePointer& wrong) { wrong.offset = ~std::uint64_t{0}; }));
  EXPECT_TRUE(refused([](ValuePointer& wrong) { wrong.stored_bytes = 101; }));
  EXPECT_TRUE(refused([](ValuePointer& wrong) { wrong.stored_bytes = 100; }));
  EXPECT_TRUE(refused([](ValuePointer& wrong) { wrong.codec = 0; }));
  EXPECT_TRUE(refused([](ValuePointer& wrong) { wrong.value_bytes = (std::uint64_t{1} << 30) + 1; }));
  EXPECT_FALSE(decode_value_pointer(encode_value_pointer(right) + "x", "p").ok());
  EXPECT_FALSE(decode_value_pointer(encode_value_pointer(right).substr(1), "p").ok());
}

/// Shown in docs/FORMAT.md.
TEST(ValueFileGolden, FilesAndPointersAreReproduced) {
  MemoryFileSystem disk;
  ASSERT_TRUE(disk.make_directory("/v").ok());
  ValueFileSpec spec{.path = ValueWorld::path(), .number = kNumber, .store_id = test::example_identity().store_id};
  spec.codec = find_codec("lz4");
  const auto builder = *ValueFileBuilder::create(disk, spec);
  (void)*builder->add("lyon", "522969");
  const ValuePointer pointer = *builder->add("paris", std::string(100, '2') + std::string(100, 'x'));
  ASSERT_TRUE(builder->finish().ok());
  test::expect_golden("tests/golden/values/cities.values", *read_whole_file(disk, spec.path));
  test::expect_golden("fuzz/corpus/value_file_format_fuzz/pointer", encode_value_pointer(pointer));
}

}  // namespace
}  // namespace tamis
