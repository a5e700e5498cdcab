// Hashes and positions that other systems compute for keys of 0 … 1025 bytes: tests/golden/foreign/vectors.json.
#include <fmt/core.h>
#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "filter/formats/foreign_hash.h"
#include "filter/formats/go_json_format.h"
#include "support/golden_files.h"
#include "tamis/foreign.h"

namespace tamis::foreign {
namespace {

using nlohmann::json;

std::string hex16(std::uint64_t value) { return fmt::format("{:016x}", value); }
std::string hex8(std::uint32_t value) { return fmt::format("{:08x}", value); }

const json& vectors() {
  static const json all = golden_json("vectors.json");
  return all;
}

/// Calls `check(key, row)` for every row of hashes.
template <typename Check>
void for_each_key(Check check) {
  const json& rows = vectors()["hashes"];
  ASSERT_GE(rows.size(), 35U);
  for (const json& row : rows) {
    SCOPED_TRACE(row["key"].get<std::string>());
    check(from_hex(row["key"].get<std::string>()), row);
  }
}

TEST(ForeignHash, EveryHashIsThatOfItsSystem) {
  for_each_key([](const std::string& key, const json& row) {
    const Hash128 cassandra = murmur3_x64_128(key, 0, TailBytes::kSignExtended);
    EXPECT_EQ(hex16(cassandra.low), row["cassandra_murmur3_h1"]);
    EXPECT_EQ(hex16(cassandra.high), row["cassandra_murmur3_h2"]);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const Hash128 hash = murmur3_x64_128(key, seed, TailBytes::kUnsigned);
      const json& expected = row[fmt::format("murmur3_128_seed{}", seed)];
      EXPECT_EQ(hex16(hash.low), expected[0]);
      EXPECT_EQ(hex16(hash.high), expected[1]);
    }
    EXPECT_EQ(hex16(fnv1a64(key)), row["fnv1a64"]);
    EXPECT_EQ(hex16(splitmix64(fnv1a64(key))), row["lab_splitmix64_of_fnv"]);
    EXPECT_EQ(hex16(load_be<std::uint64_t>(md5(key).data())), row["md5_a"]);
    EXPECT_EQ(hex16(load_be<std::uint64_t>(md5(key).data() + 8)), row["md5_b"]);
    EXPECT_EQ(hex8(leveldb_hash32(key, TailBytes::kUnsigned)), row["leveldb_hash32"]);
    EXPECT_EQ(hex8(leveldb_hash32(key, TailBytes::kSignExtended)), row["rocksdb_legacy_hash32"]);
    EXPECT_EQ(hex8(spark_murmur3_32(key, 0)), row["spark_murmur3_32_seed0"]);
    EXPECT_EQ(hex8(spark_murmur3_32(key, spark_murmur3_32(key, 0))), row["spark_murmur3_32_h2"]);
    EXPECT_EQ(hex16(XXH64(key.data(), key.size(), 0)), row["xxh64_seed0"]);
    EXPECT_EQ(hex16(xxph3_64(key)), row["rocksdb_xxph3_64"]);
    EXPECT_NE(xxph3_64(key), XXH3_64bits(key.data(), key.size())) << "the preview, not the release";
  });
}

TEST(ForeignHash, TheLongerKeyIsHashedAsIfItStoodThere) {
  for_each_key([](const std::string& key, const json&) {
    const auto [first, second] = murmur3_x64_128_and_longer(key);
    EXPECT_EQ(first, murmur3_x64_128(key, 0, TailBytes::kUnsigned));
    EXPECT_EQ(second, murmur3_x64_128(key + '\x01', 0, TailBytes::kUnsigned));
  });
}

TEST(ForeignHash, SipHashIsThatOfRustForASliceAndATuple) {
  for_each_key([](const std::string& key, const json& row) {
    std::string length;
    append_le<std::uint64_t>(length, key.size());
    SipHasher13 hasher;
    hasher.update(length);
    hasher.update(key);
    EXPECT_EQ(hex16(hasher.finish()), row["lesson_sip13_h1"]);
    hasher.update("\xef\xbe\xad\xde");
    EXPECT_EQ(hex16(hasher.finish()), row["lesson_sip13_h2"]);
  });
}

TEST(ForeignHash, LabVectorsOfItsOwnPages) {
  EXPECT_EQ(fnv1a64("foobar"), 0x85944171f73967e8U);
  EXPECT_EQ(splitmix64(0), 0xe220a8397b1dcdafU);
  EXPECT_EQ(splitmix64(0xdeadbeef), 0x4adfb90f68c9eb9bU);
}

TEST(Crc32c, KnowsTheCheckValueAndContinues) {
  EXPECT_EQ(crc32c(as_bytes("123456789")), 0xe3069283U);
  EXPECT_EQ(crc32c(as_bytes("6789"), crc32c(as_bytes("12345"))), 0xe3069283U);
}

TEST(Base64, RoundTripsEveryLengthAndReadsBothAlphabets) {
  std::string bytes;
  for (int i = 0; i < 70; ++i) {
    EXPECT_EQ(base64_decode(base64url_encode(bytes)), bytes);
    bytes.push_back(static_cast<char>(37 * i + 251));
  }
  EXPECT_EQ(base64url_encode("\xfb\xff"), "-_8=");
  EXPECT_EQ(base64_decode("-_8="), "\xfb\xff");
  EXPECT_EQ(base64_decode("+/8="), "\xfb\xff");
}

TEST(Base64, RefusesWhatIsNotExactlyOneEncoding) {
  for (const char* text : {"A", "AA", "AAA", "A===", "====", "AB==", "AAB=", "A*==", "+_8=", "AA=A", "AAAAA"}) {
    EXPECT_FALSE(base64_decode(text).has_value()) << text;
  }
}

/// How to read the bits of one format: their offset, and whether they are in big-endian words.
struct BitArray {
  std::string_view format;
  std::size_t begins_at;
  bool in_words;
};
constexpr BitArray kBitArrays[] = {
    {"cassandra-new", 8, false}, {"cassandra-old-h1h2", 8, true}, {"lab", 12, false},    {"lesson", 8, false},
    {"pychapter", 0, false},     {"go-article", 8, true},         {"go-bloom", 24, true}};

/// The bits set in a filter built for this key alone.
std::set<std::uint64_t> set_bits(const BitArray& array, BuildOptions options, const std::string& key) {
  options.format = array.format;
  const std::vector<std::string> keys = {key};
  const Result<std::string> file = build(keys, options);
  EXPECT_TRUE(file.ok()) << file.status().to_text();
  std::set<std::uint64_t> positions;
  if (!file.ok()) return positions;
  const std::uint64_t bits = (file->size() - array.begins_at) * 8;
  for (std::uint64_t i = 0; i < bits; ++i) {
    const std::uint64_t byte = array.in_words ? i / 8 ^ 7 : i / 8;
    if ((static_cast<unsigned char>((*file)[array.begins_at + byte]) >> (i % 8) & 1) != 0) positions.insert(i);
  }
  return positions;
}

/// Titles look like "lab k=7 m=9586" or "cassandra k=5 cap=1024".
TEST(Positions, AreThoseOfTheOriginals) {
  std::size_t compared = 0;
  for (const auto& [title, keys] : vectors()["positions"].items()) {
    const std::string format = title.starts_with("cassandra ") ? "cassandra-new" : title.substr(0, title.find(' '));
    const auto* const array = std::find_if(std::begin(kBitArrays), std::end(kBitArrays),
                                           [&](const BitArray& one) { return one.format == format; });
    ASSERT_NE(array, std::end(kBitArrays)) << title;
    const std::uint64_t bits = std::stoull(title.substr(title.rfind('=') + 1));
    BuildOptions options = {.hashes = std::stoull(title.substr(title.find("k=") + 2))};
    (format.starts_with("cassandra") ? options.words : options.bits) =
        format.starts_with("cassandra") ? bits / 64 : bits;
    for (const auto& [key_hex, positions] : keys.items()) {
      SCOPED_TRACE(title + " " + key_hex);
      EXPECT_EQ(set_bits(*array, options, from_hex(key_hex)), positions.get<std::set<std::uint64_t>>());
      ++compared;
    }
  }
  EXPECT_GE(compared, 80U);
}

}  // namespace
}  // namespace tamis::foreign
