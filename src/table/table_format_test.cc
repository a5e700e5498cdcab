#include "table/table_format.h"

#include <gtest/gtest.h>

#include <string>

#include "support/golden.h"
#include "table/tagged_field_format.h"

namespace tamis {
namespace {

TableProperties example() {
  TableProperties properties;
  properties.identity.store_id.fill(std::byte{0x5a});
  properties.identity.hash_key.fill(std::byte{0x6b});
  TableFacts& facts = properties.facts;
  facts.number = 13;
  facts.file_bytes = 123'456;
  facts.entries = 1000;
  facts.deletes = 100;
  facts.keys = 900;
  facts.key_bytes = 16'000;
  facts.value_bytes = 100'000;
  facts.blocks = 30;
  facts.smallest_key = std::string("a\0b", 3);
  facts.largest_key = "zebra";
  facts.smallest_sequence = Sequence{0};
  facts.largest_sequence = Sequence{std::uint64_t{1} << 60};
  facts.index_bytes = 400;
  facts.filter_bytes = 1100;
  facts.filter_kind = 2;
  facts.filter_rate = 0.0123;
  facts.prefix_filter_bytes = 200;
  facts.created_unix_seconds = 1'700'000'000;
  facts.oldest_delete_unix_seconds = 1'600'000'000;
  properties.filter = {100'000, 1100, 1};
  properties.prefix_filter = {101'100, 200, 2};
  properties.index = {101'300, 400};
  properties.prefix_rule = {PrefixRule::Kind::kUntil, '/'};
  properties.codec = 2;
  properties.block_bytes = 4096;
  properties.level = 3;
  properties.run = 77;
  properties.replaces = {5, 6, 7};
  properties.rewrite = 12;
  properties.keyspace = KeyspaceId{3};
  properties.keyspace_name = "users";
  facts.features = Features::of(Feature::kLongKeys);
  properties.flushed_sequence = 1234;
  return properties;
}
constexpr std::uint64_t kPropertiesAt = 101'700;

Result<TableProperties> decode(const std::string& bytes) {
  return decode_properties(as_bytes(bytes), kPropertiesAt, "t");
}

TEST(TableFormat, HeadersComeBackAsTheyWereAndEveryFlippedBitIsCorruption) {
  TableHeader header;
  header.store_id.fill(std::byte{0x5a});
  header.number = 13;
  header.features = {.to_read = 64, .to_write = 2, .optional = 1};
  TableHeaderBytes bytes = encode_table_header(header);
  ASSERT_EQ(*decode_table_header(bytes, "t"), header);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_EQ(decode_table_header(bytes, "t").status().code(), StatusCode::kCorruption) << "bit " << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_EQ(decode_table_header(Bytes(bytes).first(63), "t").status().code(), StatusCode::kCorruption);
}

TEST(TableFormat, OtherVersionsAndUnknownFeaturesAreRefusedByName) {
  const auto changed = [](std::size_t at, std::uint8_t value) {
    TableHeaderBytes bytes = encode_table_header({});
    bytes[at] = std::byte{value};
    store_le(bytes.data() + 56, checksum64(Bytes(bytes).first(56)));
    return decode_table_header(bytes, "t").status();
  };
  EXPECT_EQ(changed(8, 1).to_text(),
            "not supported: t: format version 1, written before 0.2; this build reads version 2");
  EXPECT_EQ(changed(8, 3).to_text(),
            "not supported: t: format version 3 is newer than this build reads (2); use a newer tamis");
  EXPECT_EQ(changed(17, 4).to_text(),
            "not supported: t: feature 10, needed to read it, is not known to this build; use a newer tamis");
  EXPECT_TRUE(changed(21, 4).ok()) << "a feature that only writers need";
  EXPECT_TRUE(changed(24, 1).ok()) << "an unknown optional feature is ignored";
  EXPECT_EQ(changed(10, 1).code(), StatusCode::kCorruption) << "a journal";
}

TEST(TableFormat, PropertiesComeBackAsTheyWere) {
  const Result<TableProperties> decoded = decode(encode_properties(example()));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_text();
  EXPECT_EQ(*decoded, example());
  TableProperties larger = example();
  larger.facts.file_bytes = ~std::uint64_t{0};
  EXPECT_EQ(encode_properties(larger).size(), encode_properties(example()).size());
}

TEST(TableFormat, AnOriginIsAFactOfAManifestOnly) {
  TableFacts facts = example().facts;
  facts.origin.emplace().store_id.fill(std::byte{0x33});
  facts.origin->number = 99;
  EXPECT_EQ(facts.written_number(), 99U);
  EXPECT_EQ(example().facts.written_number(), 13U);
  std::string bytes;
  append_facts(bytes, facts);
  ByteReader reader(as_bytes(bytes), "facts");
  EXPECT_EQ(*decode_facts(reader), facts);
  TableProperties properties = example();
  properties.facts = facts;
  EXPECT_EQ(decode(encode_properties(properties)).status().code(), StatusCode::kCorruption);
  EXPECT_FALSE(facts.are_of(example().facts));
  TableFacts written = example().facts;
  written.number = 99;
  EXPECT_TRUE(facts.are_of(written));
}

TEST(TableFormat, FactsWithAnUnknownFeatureAreNotSupported) {
  TableFacts facts = example().facts;
  facts.features.to_read = std::uint32_t{1} << 31;
  std::string bytes;
  append_facts(bytes, facts);
  ByteReader reader(as_bytes(bytes), "facts");
  EXPECT_EQ(decode_facts(reader).status().code(), StatusCode::kNotSupported);
}

TEST(TableFormat, FactsSayWhereTheyEnd) {
  std::string bytes;
  append_facts(bytes, example().facts);
  append_facts(bytes, TableFacts{});
  ByteReader reader(as_bytes(bytes), "facts");
  EXPECT_EQ(*decode_facts(reader), example().facts);
  EXPECT_EQ(*decode_facts(reader), TableFacts{});
  EXPECT_TRUE(reader.at_end());
  for (std::size_t size = 0; size < bytes.size() / 2; ++size) {
    ByteReader cut(as_bytes(bytes).first(size), "facts");
    EXPECT_FALSE(decode_facts(cut).ok()) << size;
  }
}

TEST(TableFormat, UnknownFieldsArePassedOverUnlessTheyMustBeUnderstood) {
  std::string bytes = encode_properties(example());
  bytes.pop_back();
  std::string optional = bytes;
  append_field(optional, 900, FieldNeed::kOptional, "whatever");
  append_fields_end(optional);
  ASSERT_TRUE(decode(optional).ok());
  EXPECT_EQ(*decode(optional), example());
  append_field(bytes, 901, FieldNeed::kRequired, "");
  append_fields_end(bytes);
  EXPECT_EQ(decode(bytes).status().to_text(),
            "not supported: t: properties at offset 101700: field 901 is not known to this build; use a newer tamis");
}

TEST(TableFormat, PropertiesThatCannotBeAreCorruption) {
  const auto refused = [](auto change) {
    TableProperties properties = example();
    change(properties);
    return decode(encode_properties(properties)).status().code() == StatusCode::kCorruption;
  };
  EXPECT_TRUE(refused([](TableProperties& p) { p.facts.entries = 0; }));
  EXPECT_TRUE(refused([](TableProperties& p) { p.facts.keys = 1001; }));
  EXPECT_TRUE(refused([](TableProperties& p) { p.facts.smallest_key = "zz"; }));
  EXPECT_TRUE(refused(
      [](TableProperties& p) { p.facts.largest_sequence = Sequence{}, p.facts.smallest_sequence = Sequence{1}; }));
  EXPECT_TRUE(refused([](TableProperties& p) { p.facts.filter_rate = 2; }));
  EXPECT_TRUE(refused([](TableProperties& p) { p.filter.offset = 64; }));
  EXPECT_TRUE(refused([](TableProperties& p) { p.filter.bytes = ~std::uint64_t{0}; }));
  EXPECT_TRUE(refused([](TableProperties& p) { p.index.bytes += 1; }));
  EXPECT_TRUE(refused([](TableProperties& p) { p.facts.index_bytes += 1; }));
  EXPECT_TRUE(refused([](TableProperties& p) { p.prefix_rule.argument = 256; }));
  EXPECT_TRUE(decode({}).status().code() == StatusCode::kCorruption);
}

TEST(TableFormat, SizesOfSlicesComeBackAndThoseThatCannotBeAreRefused) {
  TableProperties properties = example();
  properties.facts.filter_slices = {.columns = 10, .first_bytes = 560, .column_bytes = 100, .list_rate = 0.001};
  EXPECT_EQ(*decode(encode_properties(properties)), properties);
  const auto refused = [&](auto change) {
    TableProperties changed = properties;
    change(*changed.facts.filter_slices);
    return decode(encode_properties(changed)).status().code() == StatusCode::kCorruption;
  };
  EXPECT_TRUE(refused([](SlicedSizes& sizes) { sizes.columns = 0; }));
  EXPECT_TRUE(refused([](SlicedSizes& sizes) { sizes.columns = 12; }));
  EXPECT_TRUE(refused([](SlicedSizes& sizes) { sizes.first_bytes = 1101; }));
  EXPECT_TRUE(refused([](SlicedSizes& sizes) { sizes.first_bytes = 527; }));
  EXPECT_TRUE(refused([](SlicedSizes& sizes) { sizes.column_bytes = 0; }));
  EXPECT_TRUE(refused([](SlicedSizes& sizes) { sizes.column_bytes = 111; }));
  EXPECT_TRUE(refused([](SlicedSizes& sizes) { sizes.list_rate = 1.5; }));
}

TEST(TableFormat, ARangeFilterIsASectionOfItsOwnThatTheHeaderNames) {
  TableProperties properties = example();
  properties.facts.features |= Features::of(Feature::kRangeFilters);
  properties.facts.range_filter_bytes = 70;
  properties.range_filter = {101'300, 70, 3};
  properties.index = {101'370, 330};
  properties.facts.index_bytes = 330;
  EXPECT_EQ(*decode(encode_properties(properties)), properties);
  const auto refused = [&](auto change) {
    TableProperties changed = properties;
    change(changed);
    return decode(encode_properties(changed)).status().code() == StatusCode::kCorruption;
  };
  EXPECT_TRUE(refused([](TableProperties& p) { p.facts.features = Features::of(Feature::kLongKeys); }));
  EXPECT_TRUE(refused([](TableProperties& p) { p.facts.range_filter_bytes = 69; }));
  EXPECT_TRUE(refused([](TableProperties& p) { p.facts.range_filter_bytes = 0; }));
  EXPECT_TRUE(refused([](TableProperties& p) { p.range_filter = {}; }));
  EXPECT_TRUE(refused([](TableProperties& p) { p.range_filter.offset = 101'299; }));
}

TEST(TableFormat, AFooterLeadsToItsPropertiesOnlyInItsPlace) {
  const std::string properties = encode_properties(example());
  std::string footer = encode_footer(as_bytes(properties), kPropertiesAt);
  ASSERT_EQ(footer.size(), kTableFooterBytes);
  const std::uint64_t file_bytes = kPropertiesAt + properties.size() + footer.size();
  const Result<Section> section = decode_footer(as_bytes(footer), file_bytes, "t");
  ASSERT_TRUE(section.ok());
  EXPECT_EQ(*section, (Section{kPropertiesAt, properties.size()}));
  EXPECT_TRUE(check_properties(as_bytes(properties), as_bytes(footer), "t").ok());
  EXPECT_FALSE(decode_footer(as_bytes(footer), file_bytes + 1, "t").ok());
  EXPECT_FALSE(decode_footer(as_bytes(footer), 32, "t").ok());
  for (std::size_t bit = 0; bit < 8 * footer.size(); ++bit) {
    footer[bit / 8] = static_cast<char>(footer[bit / 8] ^ 1 << (bit % 8));
    EXPECT_FALSE(decode_footer(as_bytes(footer), file_bytes, "t").ok() &&
                 check_properties(as_bytes(properties), as_bytes(footer), "t").ok());
    footer[bit / 8] = static_cast<char>(footer[bit / 8] ^ 1 << (bit % 8));
  }
}

/// The fuzzer begins with them.
TEST(TableFormat, TheNumberOfMergeOperandsComesBackAndContradictionsAreRefused) {
  TableFacts facts = example().facts;
  facts.features |= Features::of(Feature::kMerges);
  const auto decoded = [&](std::uint64_t operands) {
    facts.operands = operands;
    std::string encoded;
    append_facts(encoded, facts);
    if (operands == 3) test::expect_golden("fuzz/corpus/table_format_fuzz/facts-merges", encoded);
    ByteReader reader(as_bytes(encoded), "t");
    return decode_facts(reader);
  };
  for (const std::uint64_t operands : {std::uint64_t{0}, std::uint64_t{3}, facts.entries}) {
    const Result<TableFacts> read = decoded(operands);
    ASSERT_TRUE(read.ok()) << read.status().to_text();
    EXPECT_EQ(*read, facts);
    EXPECT_EQ(read->transients(), facts.deletes + operands);
  }
  EXPECT_EQ(decoded(facts.entries + 1).status().code(), StatusCode::kCorruption);
}

/// The fuzzer begins with them.
TEST(TableFormat, FactsOfEntriesThatExpireComeBackAndContradictionsAreRefused) {
  TableFacts facts = example().facts;
  facts.features |= Features::of(Feature::kExpiry);
  facts.add_expiring(1'700'000'000'123);
  facts.add_expiring(1'700'000'000'007);
  facts.add_expiring(1'700'000'060'000);
  std::string bytes;
  append_facts(bytes, facts);
  test::expect_golden("fuzz/corpus/table_format_fuzz/facts-expiring", bytes);
  const auto decoded = [](const TableFacts& of) {
    std::string encoded;
    append_facts(encoded, of);
    ByteReader reader(as_bytes(encoded), "t");
    return decode_facts(reader);
  };
  const Result<TableFacts> read = decoded(facts);
  ASSERT_TRUE(read.ok()) << read.status().to_text();
  EXPECT_EQ(*read, facts);
  EXPECT_EQ(read->expiring, 3U);
  EXPECT_EQ(read->earliest_due, 1'700'000'000'007U);
  EXPECT_EQ(read->latest_due, 1'700'000'060'000U);
  TableFacts backwards = facts;
  std::swap(backwards.earliest_due, backwards.latest_due);
  EXPECT_EQ(decoded(backwards).status().code(), StatusCode::kCorruption);
  TableFacts too_many = facts;
  too_many.expiring = facts.entries + 1;
  EXPECT_EQ(decoded(too_many).status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace tamis
