// Facts as tagged fields: table_format.h has the layout, this file the tags.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/try.h"
#include "table/table_format.h"
#include "table/tagged_field_format.h"

namespace tamis {
namespace {

/// Tags on disk; never reused. 9 and 10 are keys, 11 and 12 sequences, 15 and 16 the filter's kind and rate.
struct NumberFact {
  std::uint32_t tag;
  std::uint64_t TableFacts::*member;
};
constexpr std::array kNumberFacts = {
    NumberFact{1, &TableFacts::number},
    NumberFact{2, &TableFacts::file_bytes},
    NumberFact{3, &TableFacts::entries},
    NumberFact{4, &TableFacts::deletes},
    NumberFact{5, &TableFacts::keys},
    NumberFact{6, &TableFacts::key_bytes},
    NumberFact{7, &TableFacts::value_bytes},
    NumberFact{8, &TableFacts::blocks},
    NumberFact{13, &TableFacts::index_bytes},
    NumberFact{14, &TableFacts::filter_bytes},
    NumberFact{17, &TableFacts::prefix_filter_bytes},
    NumberFact{18, &TableFacts::created_unix_seconds},
    NumberFact{19, &TableFacts::oldest_delete_unix_seconds},
};
constexpr std::uint32_t kSmallestKey = 9;
constexpr std::uint32_t kLargestKey = 10;
constexpr std::uint32_t kSmallestSequence = 11;
constexpr std::uint32_t kLargestSequence = 12;
constexpr std::uint32_t kFilterKind = 15;
constexpr std::uint32_t kFilterRate = 16;
constexpr std::uint32_t kLastFact = 19;  // All from 1 on are present in every version.
constexpr std::uint32_t kOrigin = 20;    // Absent for a store's own tables: store id, then the number.
constexpr std::uint32_t kFeatures = 21;  // Absent if there are none: as bytes 16 to 31 of a header.
/// Absent if there are none: varint count, varint length and bytes of the begin, 1 and the end, or 0 if there is none.
constexpr std::uint32_t kRangeDeletes = 22;
constexpr std::uint32_t kExpiry = 23;    // Absent if nothing expires: number of such entries, first and last due time.
constexpr std::uint32_t kOperands = 24;  // Absent if there are none: the number of merge operands.
/// Absent if there are none. For every value file that the entries point into, ascending: its number, the stored bytes
/// of the values and their number, varints.
constexpr std::uint32_t kValuesApart = 25;
/// Absent unless the filter is in slices: columns, bytes up to the end of the first slice, bytes of a column, and the
/// list's rate as a double.
constexpr std::uint32_t kFilterSlices = 26;
constexpr std::uint32_t kRangeFilterBytes = 27;  // Absent if 0.

const NumberFact* find_number(std::uint32_t tag) {
  for (const NumberFact& fact : kNumberFacts) {
    if (fact.tag == tag) return &fact;
  }
  return nullptr;
}

void append_fact(std::string& to, std::uint32_t tag, const TableFacts& facts) {
  constexpr FieldNeed kNeed = FieldNeed::kRequired;
  switch (tag) {
    case kSmallestKey: return append_field(to, tag, kNeed, facts.smallest_key);
    case kLargestKey: return append_field(to, tag, kNeed, facts.largest_key);
    case kSmallestSequence: return append_number_field(to, tag, kNeed, number_of(facts.smallest_sequence));
    case kLargestSequence: return append_number_field(to, tag, kNeed, number_of(facts.largest_sequence));
    case kFilterKind: return append_number_field(to, tag, kNeed, facts.filter_kind);
    case kFilterRate: return append_number_field(to, tag, kNeed, std::bit_cast<std::uint64_t>(facts.filter_rate));
    default: return append_number_field(to, tag, kNeed, facts.*find_number(tag)->member);
  }
}

Status decode_key(const TaggedField& field, const ByteReader& reader, std::string& key) {
  if (field.value.size() > kMaxKeyBytes) {
    return reader.corruption(fmt::format("a bound of {} bytes is longer than any key", field.value.size()));
  }
  key = as_text(field.value);
  return {};
}

Status expect_bytes(const TaggedField& field, const ByteReader& reader, std::size_t bytes) {
  if (field.value.size() == bytes) return {};
  return reader.corruption(fmt::format("fact {} has {} bytes, {} expected", field.tag, field.value.size(), bytes));
}

Status decode_origin(const TaggedField& field, const ByteReader& reader, TableFacts& facts) {
  TableOrigin origin;
  TAMIS_TRY_STATUS(expect_bytes(field, reader, origin.store_id.size() + 8));
  std::ranges::copy(field.value.first(origin.store_id.size()), origin.store_id.begin());
  origin.number = load_le<std::uint64_t>(field.value.data() + origin.store_id.size());
  facts.origin = origin;
  return {};
}

Status decode_features(const TaggedField& field, const ByteReader& reader, TableFacts& facts) {
  TAMIS_TRY_STATUS(expect_bytes(field, reader, 16));
  facts.features.to_read = load_le<std::uint32_t>(field.value.data());
  facts.features.to_write = load_le<std::uint32_t>(field.value.data() + 4);
  facts.features.optional = load_le<std::uint64_t>(field.value.data() + 8);
  return check_can_read(facts.features, "a table's facts");
}

Status decode_expiry(const TaggedField& field, const ByteReader& reader, TableFacts& facts) {
  TAMIS_TRY_STATUS(expect_bytes(field, reader, 24));
  facts.expiring = load_le<std::uint64_t>(field.value.data());
  facts.earliest_due = load_le<std::uint64_t>(field.value.data() + 8);
  facts.latest_due = load_le<std::uint64_t>(field.value.data() + 16);
  if (facts.expiring != 0 && facts.expiring <= facts.entries && facts.earliest_due <= facts.latest_due) return {};
  return reader.corruption(fmt::format("{} of {} entries expire, from {} to {}", facts.expiring, facts.entries,
                                       facts.earliest_due, facts.latest_due));
}

Status decode_operands(const TaggedField& field, const ByteReader& reader, TableFacts& facts) {
  TAMIS_TRY_STATUS(expect_bytes(field, reader, 8));
  facts.operands = load_le<std::uint64_t>(field.value.data());
  if (facts.operands != 0 && facts.operands <= facts.entries) return {};
  return reader.corruption(fmt::format("{} of {} entries are merge operands", facts.operands, facts.entries));
}

Status decode_range_deletes(const TaggedField& field, std::string_view name, TableFacts& facts) {
  ByteReader reader(field.value, name);
  TAMIS_TRY(facts.range_deletes, reader.read_varint("number of range deletes"));
  TAMIS_TRY(const std::uint64_t bytes, reader.read_varint("begin of range deletes"));
  TAMIS_TRY(const Bytes from, reader.read(bytes, "begin of range deletes"));
  TAMIS_TRY(const auto has_end, reader.read_le<std::uint8_t>("whether range deletes end"));
  TAMIS_TRY(const Bytes to, reader.read(reader.remaining(), "end of range deletes"));
  facts.range_extent.from = as_text(from);
  if (has_end == 1) facts.range_extent.to = as_text(to);
  const bool is_empty = facts.range_extent.ends_before(facts.range_extent.from);
  if (facts.range_deletes == 0 || has_end > 1 || (has_end == 0 && !to.empty()) || is_empty) {
    return reader.corruption("range deletes that cover nothing");
  }
  if (from.size() > kMaxKeyBytes || to.size() > kMaxKeyBytes) {
    return reader.corruption("a bound of range deletes is longer than any key");
  }
  return {};
}

Status decode_values_apart(const TaggedField& field, TableFacts& facts) {
  ByteReader values(field.value, "a table's value files");
  while (!values.at_end()) {
    ValuesOfTable next;
    TAMIS_TRY(next.file, values.read_varint("value file"));
    TAMIS_TRY(next.bytes, values.read_varint("bytes in a value file"));
    TAMIS_TRY(next.values, values.read_varint("values in a value file"));
    const std::uint64_t last = facts.values_apart.empty() ? 0 : facts.values_apart.back().file;
    if (next.file <= last) return values.corruption(fmt::format("value file {} does not ascend", next.file));
    if (next.values == 0) return values.corruption(fmt::format("no value in value file {}", next.file));
    facts.values_apart.push_back(next);
  }
  return {};
}

Status decode_filter_slices(const TaggedField& field, const ByteReader& reader, TableFacts& facts) {
  TAMIS_TRY_STATUS(expect_bytes(field, reader, 32));
  const auto number = [&](std::size_t at) { return load_le<std::uint64_t>(field.value.data() + at); };
  facts.filter_slices = SlicedSizes{.columns = number(0),
                                    .first_bytes = number(8),
                                    .column_bytes = number(16),
                                    .list_rate = std::bit_cast<double>(number(24))};
  if (facts.filter_slices->list_rate >= 0 && facts.filter_slices->list_rate <= 1) return {};
  return reader.corruption("a list with a rate beyond 0 … 1");
}

Status decode_range_filter_bytes(const TaggedField& field, const ByteReader& reader, TableFacts& facts) {
  TAMIS_TRY_STATUS(expect_bytes(field, reader, 8));
  facts.range_filter_bytes = load_le<std::uint64_t>(field.value.data());
  return facts.range_filter_bytes != 0 ? Status() : reader.corruption("a range filter of no bytes");
}

void append_filter_slices(std::string& to, const SlicedSizes& sizes) {
  std::string value;
  append_le(value, sizes.columns);
  append_le(value, sizes.first_bytes);
  append_le(value, sizes.column_bytes);
  append_le(value, std::bit_cast<std::uint64_t>(sizes.list_rate));
  append_field(to, kFilterSlices, FieldNeed::kRequired, value);
}

void append_range_deletes(std::string& to, const TableFacts& facts) {
  std::string value;
  append_varint(value, facts.range_deletes);
  append_varint(value, facts.range_extent.from.size());
  value += facts.range_extent.from;
  value += static_cast<char>(facts.range_extent.to ? 1 : 0);
  if (facts.range_extent.to) value += *facts.range_extent.to;
  append_field(to, kRangeDeletes, FieldNeed::kRequired, value);
}

void append_values_apart(std::string& to, const TableFacts& facts) {
  std::string value;
  for (const ValuesOfTable& values : facts.values_apart) {
    append_varint(value, values.file);
    append_varint(value, values.bytes);
    append_varint(value, values.values);
  }
  append_field(to, kValuesApart, FieldNeed::kRequired, value);
}

void append_origin(std::string& to, const TableOrigin& origin) {
  std::string value(as_text(origin.store_id));
  append_le(value, origin.number);
  append_field(to, kOrigin, FieldNeed::kRequired, value);
}

void append_expiry(std::string& to, const TableFacts& facts) {
  std::string value;
  append_le(value, facts.expiring);
  append_le(value, facts.earliest_due);
  append_le(value, facts.latest_due);
  append_field(to, kExpiry, FieldNeed::kRequired, value);
}

void append_features(std::string& to, const Features& features) {
  std::string value;
  append_le(value, features.to_read);
  append_le(value, features.to_write);
  append_le(value, features.optional);
  append_field(to, kFeatures, FieldNeed::kRequired, value);
}

Status decode_fact(const TaggedField& field, const ByteReader& reader, TableFacts& facts) {
  if (field.tag == kOrigin) return decode_origin(field, reader, facts);
  if (field.tag == kFeatures) return decode_features(field, reader, facts);
  if (field.tag == kRangeDeletes) return decode_range_deletes(field, "range deletes of a table's facts", facts);
  if (field.tag == kExpiry) return decode_expiry(field, reader, facts);
  if (field.tag == kOperands) return decode_operands(field, reader, facts);
  if (field.tag == kValuesApart) return decode_values_apart(field, facts);
  if (field.tag == kFilterSlices) return decode_filter_slices(field, reader, facts);
  if (field.tag == kRangeFilterBytes) return decode_range_filter_bytes(field, reader, facts);
  if (field.tag > kLastFact) return TaggedFields::pass_over(field, "a table's facts");
  if (field.tag == kSmallestKey) return decode_key(field, reader, facts.smallest_key);
  if (field.tag == kLargestKey) return decode_key(field, reader, facts.largest_key);
  TAMIS_TRY_STATUS(expect_bytes(field, reader, 8));
  const auto value = load_le<std::uint64_t>(field.value.data());
  switch (field.tag) {
    case kSmallestSequence: facts.smallest_sequence = Sequence{value}; break;
    case kLargestSequence: facts.largest_sequence = Sequence{value}; break;
    case kFilterKind:
      if (value > 255) return reader.corruption(fmt::format("filter kind {}", value));
      facts.filter_kind = static_cast<std::uint8_t>(value);
      break;
    case kFilterRate:
      facts.filter_rate = std::bit_cast<double>(value);
      if (!(facts.filter_rate >= 0 && facts.filter_rate <= 1)) return reader.corruption("a filter rate beyond 0 … 1");
      break;
    default: facts.*find_number(field.tag)->member = value;
  }
  return {};
}

}  // namespace

void append_facts(std::string& to, const TableFacts& facts) {
  for (std::uint32_t tag = 1; tag <= kLastFact; ++tag) append_fact(to, tag, facts);
  if (facts.origin) append_origin(to, *facts.origin);
  if (facts.features != Features{}) append_features(to, facts.features);
  if (facts.range_deletes != 0) append_range_deletes(to, facts);
  if (facts.expiring != 0) append_expiry(to, facts);
  if (facts.operands != 0) append_number_field(to, kOperands, FieldNeed::kRequired, facts.operands);
  if (!facts.values_apart.empty()) append_values_apart(to, facts);
  if (facts.filter_slices) append_filter_slices(to, *facts.filter_slices);
  if (facts.range_filter_bytes != 0) {
    append_number_field(to, kRangeFilterBytes, FieldNeed::kRequired, facts.range_filter_bytes);
  }
  append_fields_end(to);
}

Result<TableFacts> decode_facts(ByteReader& reader) {
  TableFacts facts;
  TaggedFields fields(reader);
  std::uint32_t known = 0;
  for (;;) {
    TAMIS_TRY(const std::optional<TaggedField> field, fields.next());
    if (!field) break;
    if (field->tag <= kLastFact) ++known;
    TAMIS_TRY_STATUS(decode_fact(*field, reader, facts));
  }
  if (known != kLastFact) return reader.corruption(fmt::format("{} of {} facts", known, kLastFact));
  return facts;
}

}  // namespace tamis
