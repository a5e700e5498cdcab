#include "table/codec.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace tamis {
namespace {

std::string random_bytes(std::mt19937_64& random, std::size_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

/// Text that repeats itself now and then, as blocks do.
std::string repetitive(std::mt19937_64& random, std::size_t count) {
  std::string bytes;
  while (bytes.size() < count) bytes += "user:" + std::to_string(random() % 50) + " has a value; ";
  bytes.resize(count);
  return bytes;
}

MutableBytes writable(std::string& text) { return std::as_writable_bytes(std::span(text)); }

TEST(Codec, HasOneIdAndOneNameEach) {
  std::set<std::uint8_t> ids;
  std::set<std::string_view> names;
  for (const Codec& codec : codecs()) {
    EXPECT_TRUE(ids.insert(codec.id).second && names.insert(codec.name).second) << codec.name;
    EXPECT_EQ(find_codec(codec.id), &codec);
    EXPECT_EQ(find_codec(codec.name), &codec);
    EXPECT_FALSE(codec.summary.empty());
  }
  EXPECT_EQ(find_codec("none")->id, 0);
  EXPECT_EQ(find_codec("lz4")->id, 1);
  EXPECT_EQ(find_codec("zstd")->id, 2);
  EXPECT_EQ(find_codec("snappy"), nullptr);
  EXPECT_EQ(find_codec(std::uint8_t{200}), nullptr);
}

TEST(Codec, GivesBackWhatItMadeSmaller) {
  for (const Codec& codec : codecs()) {
    SCOPED_TRACE(codec.name);
    std::mt19937_64 random(1);
    std::size_t smaller = 0;
    for (const std::size_t count : {0, 1, 20, 64, 300, 4083, 70'000, 3'000'000}) {
      const std::string bytes = repetitive(random, count);
      std::string compressed = "left over";
      if (!codec.compress(as_bytes(bytes), compressed)) continue;
      ++smaller;
      EXPECT_LE(compressed.size(), bytes.size() - bytes.size() / 8);
      std::string back(count, 'x');
      EXPECT_TRUE(codec.decompress(as_bytes(compressed), writable(back)));
      EXPECT_EQ(back, bytes);
    }
    EXPECT_GE(smaller, codec.id == 0 ? 0U : 4U) << "it is expected to pay for 300 bytes and more";
  }
}

TEST(Codec, DeclinesWhatWouldSaveLessThanAnEighth) {
  for (const Codec& codec : codecs()) {
    SCOPED_TRACE(codec.name);
    std::mt19937_64 random(2);
    std::string compressed;
    for (const std::size_t count : {1, 100, 4083, 100'000}) {
      EXPECT_FALSE(codec.compress(as_bytes(random_bytes(random, count)), compressed)) << count;
    }
    const std::string tenth = random_bytes(random, 3600) + std::string(400, 'z');
    EXPECT_FALSE(codec.compress(as_bytes(tenth), compressed));
    const std::string quarter = random_bytes(random, 3000) + std::string(1000, 'z');
    EXPECT_EQ(codec.compress(as_bytes(quarter), compressed), codec.id != 0);
  }
}

TEST(Codec, RefusesAnotherLength) {
  for (const Codec& codec : codecs()) {
    SCOPED_TRACE(codec.name);
    std::mt19937_64 random(3);
    const std::string bytes = repetitive(random, 4000);
    std::string stored;
    if (!codec.compress(as_bytes(bytes), stored)) stored = bytes;
    for (const std::size_t length : {0, 1, 3999, 4001, 8000}) {
      std::string back(length, 'x');
      EXPECT_FALSE(codec.decompress(as_bytes(stored), writable(back))) << length;
    }
    std::string back(4000, 'x');
    EXPECT_FALSE(codec.decompress(as_bytes(stored).first(stored.size() - 1), writable(back)));
    EXPECT_FALSE(codec.decompress({}, writable(back)));
  }
}

TEST(Codec, SurvivesGarbage) {
  for (const Codec& codec : codecs()) {
    SCOPED_TRACE(codec.name);
    std::mt19937_64 random(4);
    const std::string bytes = repetitive(random, 4000);
    std::string stored;
    if (!codec.compress(as_bytes(bytes), stored)) continue;
    std::string back(4000, 'x');
    for (int i = 0; i < 2000; ++i) {
      const std::string garbage = random_bytes(random, random() % 200);
      EXPECT_FALSE(codec.decompress(as_bytes(garbage), writable(back)));
      std::string damaged = stored;
      damaged[random() % damaged.size()] = static_cast<char>(random());
      (void)codec.decompress(as_bytes(damaged), writable(back));  // Any answer, but no access out of bounds.
    }
    EXPECT_TRUE(codec.decompress(as_bytes(stored), writable(back))) << "damage has no consequences for the next";
    EXPECT_EQ(back, bytes);
  }
}

}  // namespace
}  // namespace tamis
