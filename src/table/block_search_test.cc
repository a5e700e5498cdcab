// Every undamaged block is found without the index, at a counted cost.
#include "table/block_search.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "io/memory_file_system.h"
#include "support/faulty_file_system.h"
#include "support/files.h"
#include "table/codec.h"
#include "table/table_builder.h"
#include "table/table_sections.h"

namespace tamis {
namespace {

constexpr std::uint64_t kTable = 12;
/// The max cost per byte of the file: read, passed, looked up in Lz4Ends and hashed, and as much again for false
/// candidates.
constexpr std::uint64_t kMaxPerByte = 8;

using Random = std::mt19937_64;
using MakeValue = std::function<std::string(Random&)>;

std::string random_bytes(Random& random, std::size_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

/// A table's bytes, and the positions of its blocks.
struct Built {
  std::string bytes;
  std::vector<BlockPosition> blocks;
};

/// About `table_bytes` of entries.
Built build(const Codec* codec, std::uint32_t block_bytes, std::size_t table_bytes, const MakeValue& value) {
  MemoryFileSystem files;
  TableSpec spec{.path = "/t", .number = kTable, .block_bytes = block_bytes, .codec = codec};
  const std::unique_ptr<TableBuilder> builder = *TableBuilder::create(files, spec);
  const KeyHasher hasher(spec.identity.hash_key);
  Random random(7);
  std::size_t bytes = 0;
  for (std::uint64_t i = 0; bytes < table_bytes; ++i) {
    const std::string key = fmt::format("key{:08}", i);
    const std::string text = value(random);
    EXPECT_TRUE(builder->add({key, text, Sequence{random() % 5000}, EntryKind::kPut}, hasher(key)).ok());
    bytes += key.size() + text.size();
  }
  EXPECT_TRUE(builder->finish({.kind = "line", .bits_per_key = 10}).ok());
  const auto file = *files.open_readable("/t");
  const auto index = *read_index(*file, *read_properties(*file, "t"), "t");
  Built built{*read_whole_file(files, "/t"), {}};
  for (std::uint32_t i = 0; i < index->blocks(); ++i) built.blocks.push_back(index->position(i));
  return built;
}

struct Found {
  std::vector<BlockPosition> blocks;
  std::uint64_t looked_at = 0;
};
Found find_all(FileSystem& files, std::size_t file_bytes) {
  const auto file = *files.open_readable("/t");
  BlockSearch search(*file, kTable, kTableHeaderBytes, file_bytes);
  Found found;
  while (const std::optional<BlockPosition> block = search.next()) found.blocks.push_back(*block);
  found.looked_at = search.looked_at();
  return found;
}

/// The blocks whose bytes are unchanged.
std::vector<BlockPosition> undamaged(const Built& whole, std::string_view bytes) {
  std::vector<BlockPosition> blocks;
  for (const BlockPosition& block : whole.blocks) {
    const std::string_view now = bytes.substr(std::min<std::size_t>(block.offset, bytes.size()), block.bytes);
    if (now == std::string_view(whole.bytes).substr(block.offset, block.bytes)) blocks.push_back(block);
  }
  return blocks;
}

Found find_all(const std::string& bytes) {
  MemoryFileSystem files;
  test::put_file(files, "/t", bytes);
  return find_all(files, bytes.size());
}

void expect_linear(const Built& whole, const std::string& bytes) {
  const Found found = find_all(bytes);
  const std::vector<BlockPosition> wanted = undamaged(whole, bytes);
  EXPECT_EQ(found.blocks.size(), wanted.size());
  EXPECT_TRUE(found.blocks == wanted);
  EXPECT_LE(found.looked_at, kMaxPerByte * bytes.size());
}

void overwrite(std::string& bytes, std::size_t at, std::string_view with) {
  if (at < bytes.size()) std::ranges::copy(with.substr(0, bytes.size() - at), bytes.begin() + at);
}

struct Damage {
  std::string_view name;
  void (*apply)(const Built& whole, std::string& bytes, Random& random);
};
const Damage kDamages[] = {
    {"the last byte cut", [](const Built&, std::string& bytes, Random&) { bytes.pop_back(); }},
    {"the second half cut", [](const Built&, std::string& bytes, Random&) { bytes.resize(bytes.size() / 2); }},
    {"the beginning",
     [](const Built&, std::string& bytes, Random& random) { overwrite(bytes, 0, random_bytes(random, 5000)); }},
    {"zeros in the middle",
     [](const Built&, std::string& bytes, Random&) { overwrite(bytes, bytes.size() / 2, std::string(9000, '\0')); }},
    {"one byte in eight places",
     [](const Built&, std::string& bytes, Random& random) {
       for (int i = 0; i < 8; ++i) bytes[random() % bytes.size()] ^= 0x10;
     }},
    {"four random stretches",
     [](const Built&, std::string& bytes, Random& random) {
       for (int i = 0; i < 4; ++i) {
         const std::size_t at = random() % bytes.size();
         overwrite(bytes, at, random_bytes(random, random() % 6000));
       }
     }},
    {"every other block",
     [](const Built& whole, std::string& bytes, Random& random) {
       for (std::size_t i = 0; i < whole.blocks.size(); i += 2) {
         bytes[whole.blocks[i].offset + random() % whole.blocks[i].bytes] ^= 0x40;
       }
     }},
    {"trailers", [](const Built& whole, std::string& bytes, Random& random) {
       for (std::size_t i = 3; i < whole.blocks.size(); i += 5) {
         overwrite(bytes, whole.blocks[i].offset + whole.blocks[i].bytes - 13, random_bytes(random, 13));
       }
     }}};

void expect_all_damages_are_linear(const Built& whole) {
  for (const Damage& damage : kDamages) {
    SCOPED_TRACE(damage.name);
    Random random(11);
    std::string bytes = whole.bytes;
    damage.apply(whole, bytes, random);
    expect_linear(whole, bytes);
  }
}

struct Values {
  std::string_view name;
  MakeValue make;
};
const std::vector<Values>& ordinary_values() {
  static const std::vector<Values> all = {
      {"text",
       [](Random& random) { return fmt::format("{:06} people live here, {:03}", random() % 999983, random() % 40); }},
      {"a run", [](Random& random) { return fmt::format("{:08}{:*>200}", random() % 100000, ""); }},
      {"random", [](Random& random) { return random_bytes(random, 20 + random() % 300); }},
      {"zeros", [](Random& random) { return std::string(random() % 300, '\0'); }},
      {"0xff", [](Random& random) { return std::string(random() % 3000, '\xff'); }},
      {"numbers", [](Random& random) {
         std::string value;
         for (int i = 0; i < 20; ++i) append_le(value, random() % 4 == 0 ? random() % 4096 : std::uint64_t{0});
         return value;
       }}};
  return all;
}

TEST(BlockSearch, Rule22_EveryUndamagedBlockIsFoundInLinearWork) {
  for (const Codec& codec : codecs()) {
    for (const Values& values : ordinary_values()) {
      for (const std::uint32_t block_bytes : {1024U, 16U << 10}) {
        SCOPED_TRACE(fmt::format("{}, {}, blocks of {}", codec.name, values.name, block_bytes));
        expect_all_damages_are_linear(build(&codec, block_bytes, 4 * block_bytes + 30'000, values.make));
      }
    }
  }
}

TEST(BlockSearch, Rule22_WorkGrowsWithTheFileAndNoFaster) {
  for (const Codec& codec : codecs()) {
    for (const std::size_t table_bytes : {30'000U, 120'000U, 480'000U}) {
      SCOPED_TRACE(fmt::format("{}, {} bytes", codec.name, table_bytes));
      expect_all_damages_are_linear(build(&codec, 4096, table_bytes, ordinary_values()[0].make));
    }
  }
}

/// Values that are blocks themselves, with trailers, and blocks whose values are blocks.
TEST(BlockSearch, Rule22_CopiesOfBlocksInValuesAreNotTakenForBlocks) {
  for (const Codec& inner : codecs()) {
    Built whole = build(&inner, 1024, 30'000, ordinary_values()[0].make);
    for (int depth = 1; depth <= 2; ++depth) {
      for (const Codec& outer : codecs()) {
        SCOPED_TRACE(fmt::format("{} in {}, {} deep", inner.name, outer.name, depth));
        const Built from = whole;
        const auto copies = [&](Random& random) {
          const BlockPosition& block = from.blocks[random() % from.blocks.size()];
          return from.bytes.substr(block.offset, block.bytes);
        };
        expect_all_damages_are_linear(build(&outer, 8192, 60'000, copies));
      }
      const Built from = whole;
      whole = build(&inner, 4096, 60'000, [&](Random& random) {
        const BlockPosition& block = from.blocks[random() % from.blocks.size()];
        return from.bytes.substr(block.offset, block.bytes);
      });
    }
  }
}

/// Crafted with knowledge of the format: every few bytes a trailer that points back to a lookalike block header.
TEST(BlockSearch, Rule22_ValuesMadeToLookLikeBlocksDoNotMakeItSlow) {
  const auto hostile = [](Random& random) {
    std::string value;
    while (value.size() < 3000) {
      const std::size_t begin = value.size();
      append_le(value, std::uint16_t{1});
      append_le(value, std::uint16_t{0});
      append_le(value, std::uint64_t{5});
      value += std::string("abc\x11\0", 5);
      for (std::uint64_t i = random() % 60; i > 0; --i) {
        const std::size_t length = value.size() - begin;
        append_le(value, std::uint8_t{0});
        append_le(value, static_cast<std::uint32_t>(length));
      }
    }
    return value;
  };
  for (const Codec& codec : codecs()) {
    SCOPED_TRACE(codec.name);
    const Built whole = build(&codec, 16 << 10, 200'000, hostile);
    for (const Damage& damage : kDamages) {
      SCOPED_TRACE(damage.name);
      Random random(11);
      std::string bytes = whole.bytes;
      damage.apply(whole, bytes, random);
      const Found found = find_all(bytes);
      EXPECT_LE(found.looked_at,
                (kMaxPerByte + BlockSearch::kCreditPerByte) * bytes.size() + BlockSearch::kFirstCredit);
      for (const BlockPosition& block : found.blocks)
        EXPECT_NE(std::ranges::find(whole.blocks, block), whole.blocks.end());
    }
  }
}

/// Longer than Lz4Ends covers: one entry per block, of a mebibyte.
TEST(BlockSearch, LargeValuesAreFoundToo) {
  for (const Codec& codec : codecs()) {
    SCOPED_TRACE(codec.name);
    const auto large = [](Random& random) {
      std::string value = random_bytes(random, 200'000);
      while (value.size() < (std::size_t{1} << 20)) value += fmt::format("{:07} ", random() % 100000);
      return value;
    };
    const Built whole = build(&codec, 4096, std::size_t{5} << 19, large);
    ASSERT_GE(whole.blocks.size(), 3U);
    expect_linear(whole, whole.bytes);
    std::string bytes = whole.bytes;
    bytes[whole.blocks[0].offset + 100'000] ^= 1;  // Random bytes of the value; sequences and trailer stay.
    expect_linear(whole, bytes);
    bytes.pop_back();
    expect_linear(whole, bytes);
  }
}

TEST(BlockSearch, WhatTheDiskDoesNotGiveCostsTheBlocksThatLieThere) {
  const Built whole = build(nullptr, 4096, 300'000, ordinary_values()[0].make);
  MemoryFileSystem files;
  test::put_file(files, "/t", whole.bytes);
  FaultyFileSystem faulty(files, {.kind = FaultKind::kIoError, .at_call = 2, .sticky = false});
  EXPECT_TRUE(find_all(faulty, whole.bytes.size()).blocks == whole.blocks);  // Retried page by page.
}

}  // namespace
}  // namespace tamis
