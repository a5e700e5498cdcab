// bits-and-blooms/bloom files whose bitset and filter differ in length, and bitsets in JSON.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bytes.h"
#include "filter/formats/go_json_format.h"
#include "tamis/foreign.h"

namespace tamis::foreign {
namespace {

constexpr std::size_t kLengthAt = 16;
constexpr std::size_t kWordsAt = 24;
constexpr std::uint64_t kBits = 1'000;

std::vector<std::string> some_keys(int from, int to) {
  std::vector<std::string> keys;
  for (int i = from; i < to; ++i) keys.push_back("key-" + std::to_string(i));
  return keys;
}

std::string filter_of_bits() {
  const Result<std::string> file = build(some_keys(0, 100), {.format = "go-bloom", .bits = kBits, .hashes = 3});
  EXPECT_TRUE(file.ok()) << file.status().to_text();
  return *file;
}

std::string with_length(std::string file, std::uint64_t length) {
  store_be(file.data() + kLengthAt, length);
  file.resize(kWordsAt + (length + 63) / 64 * 8, '\xff');  // Set bits that must be ignored.
  return file;
}

std::string as_json(const std::string& file) {
  return "{\"m\":" + std::to_string(load_be<std::uint64_t>(file.data())) +
         ",\"k\":" + std::to_string(load_be<std::uint64_t>(file.data() + 8)) + ",\"b\":\"" +
         base64url_encode(std::string_view(file).substr(kLengthAt)) + "\"}";
}

/// The same filter at full length, with every bit at or beyond `length` cleared.
std::string cleared_from(std::string file, std::uint64_t length) {
  for (std::uint64_t bit = length; bit < kBits; ++bit) {
    char& byte = file[kWordsAt + ((bit / 8) ^ 7)];
    byte = static_cast<char>(byte & ~(1 << (bit % 8)));
  }
  return file;
}

TEST(GoBloom, ABitsetLongerOrShorterThanTheFilterAnswersAsInGo) {
  const std::string whole = filter_of_bits();
  for (const std::uint64_t length : {0, 1, 63, 64, 65, 500, 999, 1'000, 1'001, 1'024, 4'096}) {
    const std::string file = with_length(whole, length);
    const auto expected = ForeignFilter::from_bytes(as_bytes(cleared_from(whole, length)), {.format = "go-bloom"});
    const auto binary = ForeignFilter::from_bytes(as_bytes(file), {});
    const auto json = ForeignFilter::from_bytes(as_bytes(as_json(file)), {});
    ASSERT_TRUE(expected.ok());
    ASSERT_TRUE(binary.ok()) << length << ": " << binary.status().to_text();
    ASSERT_TRUE(json.ok()) << length << ": " << json.status().to_text();
    EXPECT_EQ(binary->info().format, "go-bloom");
    EXPECT_EQ(binary->info().fill, expected->info().fill) << length;
    for (const std::string& key : some_keys(0, 1'000)) {
      ASSERT_EQ(binary->may_contain(key), expected->may_contain(key)) << length << " " << key;
      ASSERT_EQ(json->may_contain(key), expected->may_contain(key)) << length << " " << key;
    }
    EXPECT_EQ(*binary->convert_to("go-bloom"), cleared_from(whole, length)) << length;
  }
}

TEST(GoBloom, AFilterThatOnlyAnnouncesItsBitsIsNotConverted) {
  std::string file = with_length(filter_of_bits(), 64);
  store_be(file.data(), std::uint64_t{1} << 60);
  const auto filter = ForeignFilter::from_bytes(as_bytes(file), {.format = "go-bloom"});
  ASSERT_TRUE(filter.ok()) << filter.status().to_text();
  EXPECT_FALSE(filter->may_contain("key-1"));
  EXPECT_EQ(filter->convert_to("go-bloom-json").status().code(), StatusCode::kNotSupported);
}

TEST(GoBloom, WritesABitsetAsLongAsTheFilter) {
  const std::string file = filter_of_bits();
  EXPECT_EQ(load_be<std::uint64_t>(file.data() + kLengthAt), kBits);
  EXPECT_EQ(with_length(file, kBits), file);
}

TEST(GoJson, ReadsNumbersAndStringsInAnyOrder) {
  const auto object =
      read_go_json_object(as_bytes(" {\"b\" : \"x\\u003d\\/\" ,\n\"m\":18446744073709551615}\t"), "text");
  ASSERT_TRUE(object.ok()) << object.status().to_text();
  EXPECT_EQ(std::get<std::string>(object->at("b")), "x=/");
  EXPECT_EQ(std::get<std::uint64_t>(object->at("m")), 18446744073709551615U);
  EXPECT_EQ(*read_go_json_string(as_bytes("\"text\"\n"), "text"), "text");
}

TEST(GoJson, RefusesWhatNoFilterHas) {
  for (const std::string text : {"",
                                 "{",
                                 "{}x",
                                 "{\"m\"}",
                                 "{\"m\":}",
                                 "{\"m\":-1}",
                                 "{\"m\":1.5}",
                                 "{\"m\":1e3}",
                                 "{\"m\":01}",
                                 "{\"m\":1,}",
                                 "{\"m\":1 \"k\":2}",
                                 "{\"m\":1,\"m\":1}",
                                 "{\"m\":18446744073709551616}",
                                 "{\"m\":[1]}",
                                 "{\"m\":null}",
                                 "{\"b\":\"\\n\"}",
                                 "{\"b\":\"\\u00e9\"}",
                                 "{\"b\":\"x",
                                 "{,\"m\":1}",
                                 "[1]",
                                 "\"m\""}) {
    const auto object = read_go_json_object(as_bytes(text), "text");
    EXPECT_EQ(object.status().code(), StatusCode::kCorruption) << text;
  }
  EXPECT_FALSE(read_go_json_object(as_bytes(std::string("{}\0", 3)), "text").ok());
  EXPECT_FALSE(read_go_json_string(as_bytes("\"a\nb\""), "text").ok());
  EXPECT_FALSE(read_go_json_string(as_bytes("\"a\"b"), "text").ok());
}

}  // namespace
}  // namespace tamis::foreign
