#include "tree/manifest_format.h"

#include <gtest/gtest.h>

#include "support/golden.h"

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
  facts.values_apart = {{3, 100'000, 7}, {14, 5, 1}};
  return facts;
}

ManifestRecord example() {
  ManifestRecord record;
  record.edit.reserved_numbers = 13;
  record.edit.term = 6;
  record.edit.next_keyspace = 900;
  record.edit.dropped = {KeyspaceId{8}, KeyspaceId{7}};
  KeyspaceEdit& change = record.edit.keyspaces[kDefaultKeyspace];
  change.flushed_sequence = 300;
  change.shape.removed = {4, 5};
  change.shape.added = {{0, 12, std::make_shared<const TableFacts>(example_facts(12))},
                        {7, 1, std::make_shared<const TableFacts>(example_facts(11))}};
  change.shape.values_removed = {2, 3};
  change.shape.values_added = {{14, 1'000'000, 1'700'000'000}, {15, 64, 0}};
  record.edit.keyspaces[KeyspaceId{3}].created = {.name = "users", .options = "codec=zstd\n"};
  record.edit.keyspaces[KeyspaceId{899}].created = {.name = "events", .options = ""};
  return record;
}

void expect_equal(const KeyspaceEdit& a, const KeyspaceEdit& b) {
  EXPECT_EQ(a.created, b.created);
  EXPECT_EQ(a.flushed_sequence, b.flushed_sequence);
  EXPECT_EQ(a.shape.removed, b.shape.removed);
  EXPECT_EQ(a.shape.values_removed, b.shape.values_removed);
  EXPECT_EQ(a.shape.values_added, b.shape.values_added);
  ASSERT_EQ(a.shape.added.size(), b.shape.added.size());
  for (std::size_t i = 0; i < a.shape.added.size(); ++i) {
    EXPECT_EQ(a.shape.added[i].level, b.shape.added[i].level);
    EXPECT_EQ(a.shape.added[i].run, b.shape.added[i].run);
    EXPECT_EQ(*a.shape.added[i].facts, *b.shape.added[i].facts);
  }
}

void expect_equal(const ManifestRecord& a, const ManifestRecord& b) {
  EXPECT_EQ(a.identity, b.identity);
  EXPECT_EQ(a.edit.first_journal, b.edit.first_journal);
  EXPECT_EQ(a.edit.reserved_numbers, b.edit.reserved_numbers);
  EXPECT_EQ(a.edit.term, b.edit.term);
  EXPECT_EQ(a.edit.next_keyspace, b.edit.next_keyspace);
  EXPECT_EQ(a.edit.dropped, b.edit.dropped);
  ASSERT_EQ(a.edit.keyspaces.size(), b.edit.keyspaces.size());
  for (const auto& [id, change] : a.edit.keyspaces) expect_equal(change, b.edit.keyspaces.at(id));
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
  large.edit.keyspaces[KeyspaceId{~std::uint32_t{0}}].shape.added = {
      {0, ~std::uint64_t{0}, std::make_shared<const TableFacts>(facts)}};
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

/// A record of the default keyspace's section alone.
std::string in_section(const std::string& fields, char keyspace = '\0') {
  std::string bytes = std::string(1, '\0') + keyspace;
  append_varint(bytes, fields.size());
  return bytes + fields;
}

TEST(ManifestFormat, UnknownFieldsAreRefusedByNumberOrPassedOver) {
  const std::string bytes = encode_manifest_record(example());
  const Result<ManifestRecord> passed = decode_manifest_record(as_bytes(field(2 * 900, "anything") + bytes), "m");
  ASSERT_TRUE(passed.ok()) << passed.status().to_text();
  expect_equal(*passed, example());
  EXPECT_TRUE(refusal(in_section(field(2 * 900, "anything"))).ok());
  EXPECT_EQ(refusal(field(2 * 900 + 1, "anything") + bytes).to_text(),
            "not supported: m: field 900 of an edit is not known to this build; use a newer tamis");
  EXPECT_EQ(refusal(in_section(field(2 * 900 + 1, "anything"), '\7')).to_text(),
            "not supported: m: keyspace 7: field 900 of an edit is not known to this build; use a newer tamis");
  EXPECT_EQ(refusal(field(1, "") + bytes).to_text(),
            "not supported: m: field 0 of an edit is not known to this build; use a newer tamis");
  EXPECT_EQ(refusal(field(15, "\5") + bytes).to_text(),
            "not supported: m: field 7 of an edit is not known to this build; use a newer tamis")
      << "a keyspace's field among those of the store";
}

TEST(ManifestFormat, AnotherOrderIsRefusedByName) {
  EXPECT_EQ(
      refusal(field(3, "reverse") + std::string(1, '\0')).to_text(),
      "not supported: m: the order \"reverse\" of keys is not known to this build, which knows \"bytewise\"; use a "
      "newer tamis");
}

TEST(ManifestFormat, WhatNobodyWroteIsCorruption) {
  const std::string zero(1, '\0');
  const std::string number = field(11, std::string(1, '\x05'));
  const std::string flushed = field(9, std::string(1, '\x05'));
  const auto expect_corruption = [](const std::string& bytes, const char* why) {
    EXPECT_EQ(refusal(bytes).code(), StatusCode::kCorruption) << why;
  };
  expect_corruption("", "no end of the store's fields");
  expect_corruption(number + number + zero, "a number twice");
  expect_corruption(field(11, "\x05\x05") + zero, "bytes behind the number");
  expect_corruption(field(11, "") + zero, "no number");
  expect_corruption(field(5, std::string(16, 'x')) + zero, "a store id alone");
  expect_corruption(field(5, std::string(17, 'x')) + zero, "a long store id");
  expect_corruption(field(3, "bytewise") + zero, "an order alone");
  expect_corruption(field(23, "\xff\xff\xff\xff\x10") + zero, "a dropped id of 33 bits");
  expect_corruption(in_section(flushed + flushed), "a flushed sequence twice");
  expect_corruption(in_section(field(17, "\x08\x01")), "level 8");
  expect_corruption(in_section(field(17, "")), "an empty table");
  expect_corruption(in_section(field(27, "a=b\n") + field(27, "a=c\n")), "options twice");
  expect_corruption(in_section(field(25, "a") + field(25, "b")), "two names");
  expect_corruption(in_section(flushed) + zero + zero, "a keyspace twice");
  expect_corruption(in_section(flushed).substr(0, 5), "a section that is cut");
  expect_corruption(zero + "\xff\xff\xff\xff\x10" + zero, "an id of 33 bits");
}

/// The fuzzer begins with it.
TEST(ManifestFormat, TheExpiryHorizonComesBackAsItWas) {
  ManifestRecord record;
  record.edit.horizon = ExpiryHorizon{.time = 1'700'000'000'123, .at = {.boot = 0x0123456789abcdef, .milliseconds = 7}};
  const std::string bytes = encode_manifest_record(record);
  test::expect_golden("fuzz/corpus/manifest_format_fuzz/horizon", bytes);
  const Result<ManifestRecord> read = decode_manifest_record(as_bytes(bytes), "t");
  ASSERT_TRUE(read.ok()) << read.status().to_text();
  EXPECT_EQ(read->edit.horizon, record.edit.horizon);
  EXPECT_EQ(decode_manifest_record(as_bytes(bytes.substr(0, bytes.size() - 1) + bytes), "t").status().code(),
            StatusCode::kCorruption)
      << "twice";
}

}  // namespace
}  // namespace tamis
