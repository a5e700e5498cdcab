// Tests our decompressor against Snappy's compressor.
#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"
#include "filter/formats/table_block_format.h"
#include "support/snappy_packed.h"

namespace tamis::foreign {
namespace {

/// Repetitions at all distances, mixed with random bytes: every type of element occurs.
std::string varied_text(std::size_t size, std::uint64_t seed) {
  std::string text;
  for (std::uint64_t i = 0; text.size() < size; ++i) {
    const std::uint64_t dice = remix(seed + i);
    const std::size_t length = dice % 4 == 0 ? 1 + dice % 300 : 1 + dice % 20;
    if (dice % 3 == 0 || text.empty()) {
      for (std::size_t j = 0; j < length; ++j) text += static_cast<char>(remix(dice + j));
    } else {
      const std::size_t distance = 1 + (dice >> 20) % text.size();
      for (std::size_t j = 0; j < length; ++j) text += text[text.size() - distance];
    }
  }
  text.resize(size);
  return text;
}

TEST(Snappy, UnpacksWhatTheLibraryPacks) {
  for (const std::size_t size : {0, 1, 59, 60, 61, 255, 256, 257, 4'096, 65'535, 65'536, 300'000}) {
    for (const std::string& text : {varied_text(size, size), std::string(size, 'a')}) {
      const std::string bytes = test::snappy_packed(text);
      const Result<std::string> unpacked = unpack_snappy(as_bytes(bytes), "block");
      ASSERT_TRUE(unpacked.ok()) << size << ": " << unpacked.status().to_text();
      EXPECT_TRUE(*unpacked == text) << size;
    }
  }
}

TEST(Snappy, AgreesWithTheLibraryOnEveryChangedOrMissingByte) {
  const std::string whole = test::snappy_packed(varied_text(600, 1));
  const auto agree = [](const std::string& bytes, std::size_t at) {
    std::size_t size = 0;
    bool fine = snappy_uncompressed_length(bytes.data(), bytes.size(), &size) == SNAPPY_OK;
    std::string expected(size, '\0');
    fine = fine && snappy_uncompress(bytes.data(), bytes.size(), expected.data(), &size) == SNAPPY_OK;
    const Result<std::string> unpacked = unpack_snappy(as_bytes(bytes), "block");
    EXPECT_EQ(unpacked.ok(), fine) << at << ": " << unpacked.status().to_text();
    if (unpacked.ok() && fine) {
      EXPECT_EQ(*unpacked, expected) << at;
    }
  };
  for (std::size_t at = 0; at < whole.size(); ++at) {
    agree(whole.substr(0, at), at);
    for (const int change : {1, 2, 4, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ change);
      agree(changed, at);
    }
  }
}

TEST(Snappy, TakesNoMemoryForALengthThatCannotBe) {
  const std::string four_gib("\xff\xff\xff\xff\x0f\x00x", 7);
  const Result<std::string> unpacked = unpack_snappy(as_bytes(four_gib), "block");
  EXPECT_EQ(unpacked.status().code(), StatusCode::kCorruption);
  EXPECT_NE(unpacked.status().message().find("cannot hold 4294967295"), std::string::npos)
      << unpacked.status().to_text();
}

}  // namespace
}  // namespace tamis::foreign
