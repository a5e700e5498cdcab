#include "tree/manifest_format.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

TableFacts example_facts(std::uint64_t number) {
  TableFacts facts;
  facts.number = number;
  facts.file_bytes = 4096 * number;
  facts.entries = 100;
  facts.deletes = 3;
  facts.keys = 90;
  facts.smallest_key = "amsterdam";
  facts.largest_key = "paris";
  facts.largest_sequence = Sequence{77};
  return facts;
}

ManifestRecord example() {
  ManifestRecord record;
  record.edit.flushed_sequence = 300;
  record.edit.reserved_numbers = 13;
  record.edit.shape.removed = {4, 5};
  record.edit.shape.added = {{0, 12, std::make_shared<const TableFacts>(example_facts(12))},
                             {7, 1, std::make_shared<const TableFacts>(example_facts(11))}};
  return record;
}

void expect_equal(const ManifestRecord& a, const ManifestRecord& b) {
  EXPECT_EQ(a.identity, b.identity);
  EXPECT_EQ(a.edit.flushed_sequence, b.edit.flushed_sequence);
  EXPECT_EQ(a.edit.first_journal, b.edit.first_journal);
  EXPECT_EQ(a.edit.reserved_numbers, b.edit.reserved_numbers);
  EXPECT_EQ(a.edit.shape.removed, b.edit.shape.removed);
  ASSERT_EQ(a.edit.shape.added.size(), b.edit.shape.added.size());
  for (std::size_t i = 0; i < a.edit.shape.added.size(); ++i) {
    EXPECT_EQ(a.edit.shape.added[i].level, b.edit.shape.added[i].level);
    EXPECT_EQ(a.edit.shape.added[i].run, b.edit.shape.added[i].run);
    EXPECT_EQ(*a.edit.shape.added[i].facts, *b.edit.shape.added[i].facts);
  }
}

void expect_round_trip(const ManifestRecord& record) {
  const std::string bytes = encode_manifest_record(record);
  const Result<ManifestRecord> decoded = decode_manifest_record(as_bytes(bytes), "m");
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_text();
  expect_equal(*decoded, record);
}

Status refusal(const std::string& bytes) { return decode_manifest_record(as_bytes(bytes), "m").status(); }

std::string field(std::uint64_t tag, std::string_view bytes) {
  std::string text;
  append_varint(text, tag);
  append_varint(text, bytes.size());
  return text.append(bytes);
}

TEST(ManifestFormat, RecordsComeBackAsTheyWere) {
  expect_round_trip({});
  expect_round_trip(example());
  ManifestRecord first = example();
  first.identity.emplace().store_id.fill(std::byte{0x5a});
  first.identity->hash_key.fill(std::byte{0xa5});
  expect_round_trip(first);
  ManifestRecord large;
  large.edit.first_journal = ~std::uint64_t{0};
  TableFacts facts = example_facts(~std::uint64_t{0});
  facts.smallest_key = "";
  facts.largest_key = std::string(65'535, '\xff');
  large.edit.shape.added = {{0, ~std::uint64_t{0}, std::make_shared<const TableFacts>(facts)}};
  expect_round_trip(large);
}

TEST(ManifestFormat, ABeginningOfARecordIsNeverMistakenForWhatItIsNot) {
  const std::string bytes = encode_manifest_record(example());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const Result<ManifestRecord> decoded = decode_manifest_record(as_bytes(bytes.substr(0, length)), "m");
    if (decoded.ok()) {  // Cut between two fields; the journal's checksum refuses this.
      ASSERT_LT(encode_manifest_record(*decoded).size(), bytes.size());
    } else {
      ASSERT_EQ(decoded.status().code(), StatusCode::kCorruption) << length;
    }
  }
}

TEST(ManifestFormat, UnknownFieldsAreRefusedByNumberOrPassedOver) {
  std::string bytes = encode_manifest_record(example());
  const Result<ManifestRecord> passed = decode_manifest_record(as_bytes(bytes + field(2 * 900, "anything")), "m");
  ASSERT_TRUE(passed.ok()) << passed.status().to_text();
  expect_equal(*passed, example());
  EXPECT_EQ(refusal(bytes + field(2 * 900 + 1, "anything")).to_text(),
            "not supported: m: field 900 of an edit is not known to this build; use a newer tamis");
  EXPECT_EQ(refusal(bytes + field(1, "")).to_text(),
            "not supported: m: field 0 of an edit is not known to this build; use a newer tamis");
}

TEST(ManifestFormat, AnotherKeyspaceOrOrderIsRefusedByName) {
  EXPECT_EQ(refusal(std::string(1, '\x03')).to_text(),
            "not supported: m: keyspace 3 is not known to this build; use a newer tamis");
  EXPECT_EQ(
      refusal(std::string(1, '\0') + field(3, "reverse")).to_text(),
      "not supported: m: the order \"reverse\" of keys is not known to this build, which knows \"bytewise\"; use a "
      "newer tamis");
}

TEST(ManifestFormat, WhatNobodyWroteIsCorruption) {
  const std::string zero(1, '\0');
  const std::string number = field(9, std::string(1, '\x05'));
  EXPECT_EQ(refusal("").code(), StatusCode::kCorruption) << "no keyspace";
  EXPECT_EQ(refusal(zero + number + number).code(), StatusCode::kCorruption) << "a number twice";
  EXPECT_EQ(refusal(zero + field(9, "\x05\x05")).code(), StatusCode::kCorruption) << "bytes behind the number";
  EXPECT_EQ(refusal(zero + field(9, "")).code(), StatusCode::kCorruption) << "no number";
  EXPECT_EQ(refusal(zero + field(5, std::string(16, 'x'))).code(), StatusCode::kCorruption) << "a store id alone";
  EXPECT_EQ(refusal(zero + field(5, std::string(17, 'x'))).code(), StatusCode::kCorruption) << "a long store id";
  EXPECT_EQ(refusal(zero + field(3, "bytewise")).code(), StatusCode::kCorruption) << "an order alone";
  EXPECT_EQ(refusal(zero + field(17, "\x08\x01")).code(), StatusCode::kCorruption) << "level 8";
  EXPECT_EQ(refusal(zero + field(17, "")).code(), StatusCode::kCorruption) << "an empty table";
}

}  // namespace
}  // namespace tamis
