#include "tree/current_format.h"

#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"

namespace tamis {
namespace {

Current example() {
  Current current;
  current.store_id.fill(std::byte{0x5a});
  current.manifest_number = 7;
  current.manifest_salt = 0x0123456789abcdef;
  current.manifest_durable_bytes = 4711;
  current.journal_end = {12, 0xfedcba9876543210, 65'536};
  current.term = 0x1'0000'0003;
  current.features = {.to_read = 1, .to_write = 64, .optional = 8};
  return current;
}

/// The bytes with one changed and the checksum corrected.
CurrentBytes changed(std::size_t offset, std::uint8_t value) {
  CurrentBytes bytes = encode_current(example());
  bytes[offset] = std::byte{value};
  store_le(bytes.data() + kCurrentBytes - 8, checksum64(Bytes(bytes).first(kCurrentBytes - 8)));
  return bytes;
}

TEST(CurrentFormat, ComesBackAsItWas) {
  EXPECT_EQ(*decode_current(encode_current(example()), "CURRENT"), example());
  EXPECT_EQ(*decode_current(encode_current({}), "CURRENT"), Current());
}

TEST(CurrentFormat, EveryFlippedBitIsCorruption) {
  CurrentBytes bytes = encode_current(example());
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_EQ(decode_current(bytes, "CURRENT").status().code(), StatusCode::kCorruption) << "bit " << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST(CurrentFormat, EveryOtherLengthIsCorruption) {
  std::string text(as_text(encode_current(example())));
  for (std::size_t length = 0; length < text.size(); ++length) {
    ASSERT_EQ(decode_current(as_bytes(text.substr(0, length)), "c").status().code(), StatusCode::kCorruption) << length;
  }
  text.push_back('\0');
  EXPECT_EQ(decode_current(as_bytes(text), "c").status().code(), StatusCode::kCorruption);
}

TEST(CurrentFormat, OtherVersionsAndUnknownFeaturesAreRefusedByName) {
  EXPECT_EQ(decode_current(changed(8, 1), "CURRENT").status().to_text(),
            "not supported: CURRENT: format version 1, written before 0.2; this build reads version 2");
  EXPECT_EQ(decode_current(changed(8, 3), "CURRENT").status().to_text(),
            "not supported: CURRENT: format version 3 is newer than this build reads (2); use a newer tamis");
  EXPECT_EQ(decode_current(changed(19, 128), "CURRENT").status().to_text(),
            "not supported: CURRENT: feature 31, needed to read it, is not known to this build; use a newer tamis");
  EXPECT_TRUE(decode_current(changed(21, 4), "CURRENT").ok()) << "a feature that only writers need";
  EXPECT_TRUE(decode_current(changed(24, 1), "CURRENT").ok()) << "an unknown optional feature is ignored";
  EXPECT_EQ(decode_current(changed(10, 2), "CURRENT").status().code(), StatusCode::kCorruption);
  EXPECT_EQ(decode_current(changed(13, 1), "CURRENT").status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace tamis
