#include "base/bytes.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

TEST(ByteReader, ReadsNumbersInBothOrders) {
  const std::string raw = {1, 2, 3, 4, 5, 6};
  ByteReader reader(as_bytes(raw), "test");
  EXPECT_EQ(*reader.read_le<std::uint16_t>("a"), 0x0201);
  EXPECT_EQ(*reader.read_be<std::uint32_t>("b"), 0x03040506U);
  EXPECT_TRUE(reader.at_end());
  EXPECT_TRUE(reader.expect_end().ok());
}

TEST(ByteReader, RefusesToReadPastTheEndAndSaysWhere) {
  const std::string raw = {1, 2, 3};
  ByteReader reader(as_bytes(raw), "words.tamis");
  EXPECT_TRUE(reader.skip(1, "x").ok());
  const Result<std::uint32_t> value = reader.read_le<std::uint32_t>("key count");
  ASSERT_FALSE(value.ok());
  EXPECT_EQ(value.status().code(), StatusCode::kCorruption);
  EXPECT_EQ(value.status().message(), "words.tamis: at offset 1: key count needs 4 bytes, 2 are left");
  EXPECT_FALSE(reader.read(~std::uint64_t{0}, "body").ok());
  EXPECT_FALSE(reader.expect_end().ok());
}

TEST(ByteReader, ReadsVarintsOfUpTo64Bits) {
  const std::string largest = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  EXPECT_EQ(*ByteReader(as_bytes(largest), "t").read_varint("v"), ~std::uint64_t{0});
  const std::string too_large = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
  EXPECT_FALSE(ByteReader(as_bytes(too_large), "t").read_varint("v").ok());
  const std::string cut = "\xff\xff";
  EXPECT_FALSE(ByteReader(as_bytes(cut), "t").read_varint("v").ok());
}

TEST(Varint, IsReadBackAtEveryLengthAndTakesTheBytesItAnnounces) {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    for (const std::uint64_t offset : {0, 1}) {
      const std::uint64_t value = (bits == 64 ? 0 : std::uint64_t{1} << bits) - offset;
      std::string raw;
      append_varint(raw, value);
      EXPECT_EQ(raw.size(), varint_bytes(value));
      EXPECT_EQ(*ByteReader(as_bytes(raw), "t").read_varint("v"), value);
      const char* at = raw.data();
      EXPECT_EQ(load_varint(at), value);
      EXPECT_EQ(at, raw.data() + raw.size());
    }
  }
}

TEST(Status, CopiesKeepCodeAndMessage) {
  const Status original = Status::out_of_space("disk full");
  Status copy;
  EXPECT_TRUE(copy.ok());
  copy = original;
  EXPECT_EQ(copy.code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(copy.to_text(), "out of space: disk full");
}

TEST(Status, NamesEveryCode) {
  EXPECT_EQ(Status().to_text(), "ok");
  EXPECT_EQ(Status::invalid_argument("x").to_text(), "invalid argument: x");
  EXPECT_EQ(Status::not_supported("x").to_text(), "not supported: x");
  EXPECT_EQ(Status::busy("x").to_text(), "busy: x");
  EXPECT_EQ(Status::io_error("x").to_text(), "input/output error: x");
  EXPECT_EQ(Status::corruption("x").to_text(), "corruption: x");
  EXPECT_EQ(Status::closed("x").to_text(), "closed: x");
}

TEST(ResultDeathTest, StopsWithTheMessageWhenThereIsNoValue) {
  const Result<int> failed = Status::io_error("no such disk");
  EXPECT_DEATH((void)*failed, "no such disk");
}

}  // namespace
}  // namespace tamis
