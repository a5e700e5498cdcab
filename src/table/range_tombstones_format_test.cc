#include "table/range_tombstones_format.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

using namespace std::string_literals;

std::vector<RangeTombstone> some() {
  return {{{"a", "m"}, Sequence{300}}, {{"a", "m"}, Sequence{7}}, {{"p", std::nullopt}, Sequence{9}}};
}

TEST(RangeTombstonesFormat, IsAsDocumented) {
  const std::string bytes = "\3\1a\1m\xac\2\1a\1m\7\1p\0\x9"s;
  EXPECT_EQ(encode_range_tombstones(some()), bytes);
  EXPECT_EQ(*decode_range_tombstones(as_bytes(bytes), "t", 0), some());
}

TEST(RangeTombstonesFormat, RefusesWhatIsNone) {
  const auto refusal = [](const std::string& bytes) {
    const auto read = decode_range_tombstones(as_bytes(bytes), "t", 64);
    EXPECT_EQ(read.status().code(), StatusCode::kCorruption);
    return std::string(read.status().message());
  };
  EXPECT_NE(refusal("\0"s).find("0 range deletes"), std::string::npos);
  EXPECT_NE(refusal("\1\1m\1a\7"s).find("covers nothing"), std::string::npos);
  EXPECT_NE(refusal("\1\1a\1m\0"s).find("sequence 0"), std::string::npos);
  EXPECT_NE(refusal("\2\1a\1m\7\1g\1p\7"s).find("not in order"), std::string::npos);
  EXPECT_NE(refusal("\2\1a\1m\7\1a\1m\7"s).find("not in order"), std::string::npos);
  EXPECT_NE(refusal("\1\1a\1m\7x"s).find("follow the end"), std::string::npos);
  EXPECT_NE(refusal("\1\1a\1m\7x"s).find("range deletes at offset 64"), std::string::npos);
}

TEST(RangeTombstonesFormat, SurvivesEveryValueOfEveryByteAndEveryLength) {
  const std::string bytes = encode_range_tombstones(some());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    EXPECT_FALSE(decode_range_tombstones(as_bytes(std::string_view(bytes).substr(0, at)), "t", 0).ok());
    for (int value = 0; value < 256; ++value) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(value);
      const auto read = decode_range_tombstones(as_bytes(damaged), "t", 0);
      EXPECT_TRUE(read.ok() || read.status().code() == StatusCode::kCorruption);
    }
  }
}

}  // namespace
}  // namespace tamis
