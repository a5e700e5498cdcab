#include "table/table_format.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/file_header_format.h"
#include "base/try.h"
#include "filter/sliced_layout.h"
#include "table/tagged_field_format.h"

namespace tamis {
namespace {

constexpr std::uint8_t kTableFileKind = 3;  // 1 and 2 are journals.
constexpr FileHeaderFormat kHeaderFormat = {kTableMagic, "table", kTableVersion, kTableHeaderBytes};
constexpr std::size_t kFooterChecksumAt = 16;
constexpr std::size_t kFooterMagicAt = 24;
constexpr std::size_t kSectionBytes = 24;

/// Tags of properties, on disk; never reused.
enum Tag : std::uint32_t {
  kKeyspace = 1,
  kOrder = 2,
  kStoreId = 3,
  kHash = 4,  // Id, then the 16-byte key.
  kFacts = 5,
  kFilter = 6,
  kPrefixFilter = 7,
  kIndex = 8,
  kPrefixRule = 9,  // Kind, then the 2-byte argument.
  kCodec = 10,
  kBlockBytes = 11,
  kLevel = 12,
  kRun = 13,
  kReplaces = 14,      // 8 bytes per number.
  kLastTag = 14,       // All from 1 on are present in every version.
  kFlushed = 15,       // Omitted if 0.
  kKeyspaceName = 16,  // Omitted if empty.
  kRewrite = 17,       // Omitted if 0.
  kRangeDeletes = 18,  // Omitted if there are none.
  kIndexTop = 19,      // Omitted if 0.
  kRangeFilter = 20,   // Omitted if there is none.
};

std::string encode_section(const Section& section) {
  std::string value;
  append_le(value, section.offset);
  append_le(value, section.bytes);
  append_le(value, section.checksum);
  return value;
}

std::string encode_hash(const TableProperties& properties) {
  std::string value(1, static_cast<char>(properties.hash_id));
  value += as_text(properties.identity.hash_key);
  return value;
}

std::string encode_prefix_rule(const PrefixRule& rule) {
  std::string value(1, static_cast<char>(rule.kind));
  append_le(value, rule.argument);
  return value;
}

/// Decodes fields into properties.
///
/// Threads: one.
class PropertiesReader {
 public:
  PropertiesReader(Bytes bytes, std::string_view name) : reader_(bytes, name), name_(name) {}

  Result<TableProperties> read() {
    TaggedFields fields(reader_);
    std::uint32_t known = 0;
    for (;;) {
      TAMIS_TRY(const std::optional<TaggedField> field, fields.next());
      if (!field) break;
      if (field->tag <= kLastTag) ++known;
      TAMIS_TRY_STATUS(read_field(*field));
    }
    if (known != kLastTag) return reader_.corruption(fmt::format("{} of {} properties", known, int{kLastTag}));
    TAMIS_TRY_STATUS(reader_.expect_end());
    return std::move(properties_);
  }

 private:
  Status read_field(const TaggedField& field) {
    switch (field.tag) {
      case kKeyspace: return read_number(field, 0xffff'ffff, properties_.keyspace);
      case kOrder: return read_order(field);
      case kStoreId: return read_array(field, properties_.identity.store_id);
      case kHash: return read_hash(field);
      case kFacts: return read_facts(field);
      case kFilter: return read_section(field, properties_.filter);
      case kPrefixFilter: return read_section(field, properties_.prefix_filter);
      case kIndex: return read_section(field, properties_.index);
      case kPrefixRule: return read_prefix_rule(field);
      case kCodec: return read_number(field, 0xff, properties_.codec);
      case kBlockBytes: return read_number(field, 0xffff'ffff, properties_.block_bytes);
      case kLevel: return read_number(field, 0xffff'ffff, properties_.level);
      case kRun: return read_number(field, ~std::uint64_t{0}, properties_.run);
      case kReplaces: return read_replaces(field);
      case kFlushed: return read_number(field, ~std::uint64_t{0}, properties_.flushed_sequence);
      case kKeyspaceName: properties_.keyspace_name = as_text(field.value); return {};
      case kRewrite: return read_number(field, ~std::uint64_t{0}, properties_.rewrite);
      case kRangeDeletes: return read_section(field, properties_.range_deletes);
      case kRangeFilter: return read_section(field, properties_.range_filter);
      case kIndexTop: return read_number(field, 0xffff'ffff, properties_.index_top_bytes);
      default: break;
    }
    return TaggedFields::pass_over(field, name_);
  }

  Status expect_bytes(const TaggedField& field, std::size_t bytes) {
    if (field.value.size() == bytes) return {};
    return reader_.corruption(
        fmt::format("property {} has {} bytes, {} expected", field.tag, field.value.size(), bytes));
  }
  template <typename T>
  Status read_number(const TaggedField& field, std::uint64_t largest, T& to) {
    TAMIS_TRY_STATUS(expect_bytes(field, 8));
    const auto value = load_le<std::uint64_t>(field.value.data());
    if (value > largest) return reader_.corruption(fmt::format("property {} is {}", field.tag, value));
    to = static_cast<T>(value);
    return {};
  }
  Status read_array(const TaggedField& field, std::array<std::byte, 16>& to) {
    TAMIS_TRY_STATUS(expect_bytes(field, to.size()));
    std::ranges::copy(field.value, to.begin());
    return {};
  }
  Status read_section(const TaggedField& field, Section& to) {
    TAMIS_TRY_STATUS(expect_bytes(field, kSectionBytes));
    to.offset = load_le<std::uint64_t>(field.value.data());
    to.bytes = load_le<std::uint64_t>(field.value.data() + 8);
    to.checksum = load_le<std::uint64_t>(field.value.data() + 16);
    return {};
  }
  Status read_order(const TaggedField& field) {
    if (as_text(field.value) == kBytewiseOrder) return {};
    return Status::not_supported(fmt::format("{}: keys are in the order '{}'; this build knows '{}' only", name_,
                                             as_text(field.value), kBytewiseOrder));
  }
  Status read_hash(const TaggedField& field) {
    TAMIS_TRY_STATUS(expect_bytes(field, 1 + KeyHasher::kKeyBytes));
    properties_.hash_id = static_cast<std::uint8_t>(field.value[0]);
    std::ranges::copy(field.value.subspan(1), properties_.identity.hash_key.begin());
    return {};
  }
  Status read_facts(const TaggedField& field) {
    ByteReader inner(field.value, name_);
    TAMIS_TRY(properties_.facts, decode_facts(inner));
    return inner.expect_end();
  }
  Status read_prefix_rule(const TaggedField& field) {
    TAMIS_TRY_STATUS(expect_bytes(field, 3));
    const auto kind = static_cast<std::uint8_t>(field.value[0]);
    const auto argument = load_le<std::uint16_t>(field.value.data() + 1);
    const bool fits = kind == 0 ? argument == 0 : kind == 1 ? argument != 0 : kind == 2 && argument < 256;
    if (!fits) return reader_.corruption(fmt::format("prefix rule {} with {}", kind, argument));
    properties_.prefix_rule = {static_cast<PrefixRule::Kind>(kind), argument};
    return {};
  }
  Status read_replaces(const TaggedField& field) {
    if (field.value.size() % 8 != 0) return reader_.corruption("cut numbers of replaced tables");
    for (std::size_t at = 0; at < field.value.size(); at += 8) {
      properties_.replaces.push_back(load_le<std::uint64_t>(field.value.data() + at));
    }
    return {};
  }

  ByteReader reader_;
  const std::string_view name_;
  TableProperties properties_;
};

bool fits(const SlicedSizes& sizes, std::uint64_t filter_bytes) {
  if (sizes.columns == 0 || sizes.columns > kMostSlicedColumns || sizes.column_bytes == 0) return false;
  if (sizes.first_bytes > filter_bytes || sizes.column_bytes > filter_bytes / sizes.columns) return false;
  const std::uint64_t first_columns = std::min<std::uint64_t>(sizes.columns, kSliceColumns) * sizes.column_bytes;
  return sizes.first_bytes >= kFilterHeaderBytes + first_columns;
}

/// Why the facts are impossible; empty if they are not.
std::string_view problem_of_facts(const TableFacts& facts) {
  if (facts.origin) return "a table that says that it was written as another";
  const bool has_nothing = facts.entries == 0 || facts.keys == 0 || facts.blocks == 0;
  const bool has_something = facts.entries != 0 || facts.keys != 0 || facts.blocks != 0;
  if (has_nothing && (has_something || facts.range_deletes == 0)) return "a table of nothing";
  if (facts.keys > facts.entries || facts.deletes > facts.entries || facts.blocks > facts.entries) {
    return "more keys, deletes or blocks than entries";
  }
  if (facts.smallest_key > facts.largest_key) return "the smallest key is above the largest";
  if (facts.entries == 0 && !facts.largest_key.empty()) return "the largest key of no entries";
  if (facts.smallest_sequence > facts.largest_sequence) return "the smallest sequence is above the largest";
  const bool needs_ranges = facts.features.includes(Features::of(Feature::kRangeDeletes));
  if (facts.range_deletes != 0 && !needs_ranges) return "range deletes that the header does not name";
  const bool needs_merges = facts.features.includes(Features::of(Feature::kMerges));
  if (facts.operands != 0 && !needs_merges) return "merge operands that the header does not name";
  const bool needs_range_filters = facts.features.includes(Features::of(Feature::kRangeFilters));
  if (facts.range_filter_bytes != 0 && !needs_range_filters) return "a range filter that the header does not name";
  if (facts.filter_slices && !fits(*facts.filter_slices, facts.filter_bytes)) return "slices that are not a filter's";
  return {};
}

/// Checks facts that are recorded twice or are impossible.
Status check_consistency(const TableProperties& properties, std::uint64_t offset, std::string_view name) {
  const TableFacts& facts = properties.facts;
  const auto bad = [&](std::string_view why) { return Status::corruption(fmt::format("{}: {}", name, why)); };
  if (const std::string_view problem = problem_of_facts(facts); !problem.empty()) return bad(problem);
  // Data, then filter, prefix filter, range filter, range deletes and index: each begins where the previous one ends,
  // and the properties follow.
  std::uint64_t begin = properties.filter.offset;
  const bool has_data = begin > kTableHeaderBytes;
  if (begin < kTableHeaderBytes || begin > offset || has_data != (facts.entries != 0)) {
    return bad("the filter begins outside of the file");
  }
  for (const Section* section : {&properties.filter, &properties.prefix_filter, &properties.range_filter,
                                 &properties.range_deletes, &properties.index}) {
    const bool may_be_omitted = section == &properties.range_filter || section == &properties.range_deletes;
    if (may_be_omitted && section->bytes == 0) continue;
    if (section->offset != begin || section->bytes > offset - begin) return bad("sections are not where others end");
    begin += section->bytes;
  }
  if (begin != offset || (properties.index.bytes != 0) != has_data) {
    return bad("the index does not end where the properties begin");
  }
  if (properties.index_top_bytes != 0 && properties.index_top_bytes >= properties.index.bytes) {
    return bad("the index has a top and no parts");
  }
  if ((facts.range_deletes != 0) != (properties.range_deletes.bytes != 0)) {
    return bad("facts and sections differ in range deletes");
  }
  if (facts.filter_bytes != properties.filter.bytes || facts.prefix_filter_bytes != properties.prefix_filter.bytes ||
      facts.range_filter_bytes != properties.range_filter.bytes || facts.index_bytes != properties.index.bytes) {
    return bad("facts and sections differ in length");
  }
  return {};
}

}  // namespace

TableHeaderBytes encode_table_header(const TableHeader& header) {
  return encode_numbered_file_header(kHeaderFormat, kTableFileKind, header);
}

Result<TableHeader> decode_table_header(Bytes bytes, std::string_view name) {
  return decode_numbered_file_header(bytes, kHeaderFormat, kTableFileKind, name);
}

std::string encode_footer(Bytes properties, std::uint64_t offset) {
  std::string footer;
  append_le(footer, offset);
  append_le(footer, std::uint64_t{properties.size()});
  append_le(footer, checksum64(properties, as_bytes(footer)));
  footer += kTableEndMagic;
  return footer;
}

Result<Section> decode_footer(Bytes footer, std::uint64_t file_bytes, std::string_view name) {
  const std::uint64_t at = file_bytes - std::min<std::uint64_t>(file_bytes, kTableFooterBytes);
  const auto bad = [&](std::string_view why) {
    return Status::corruption(fmt::format("{}: footer at offset {}: {}", name, at, why));
  };
  if (footer.size() != kTableFooterBytes || at < kTableHeaderBytes) return bad("the file is too short");
  if (as_text(footer.subspan(kFooterMagicAt)) != kTableEndMagic) return bad("the magic is wrong: cut, or not a table");
  const Section properties{load_le<std::uint64_t>(footer.data()), load_le<std::uint64_t>(footer.data() + 8)};
  if (properties.offset > at || properties.bytes != at - properties.offset) {
    return bad(fmt::format("{} bytes of properties at {} do not end here", properties.bytes, properties.offset));
  }
  return properties;
}

Status check_properties(Bytes properties, Bytes footer, std::string_view name) {
  const auto stored = load_le<std::uint64_t>(footer.data() + kFooterChecksumAt);
  const std::uint64_t computed = checksum64(properties, footer.first(kFooterChecksumAt));
  if (stored == computed) return {};
  return Status::corruption(fmt::format("{}: properties at offset {}: the checksum is {:016x}, the bytes have {:016x}",
                                        name, load_le<std::uint64_t>(footer.data()), stored, computed));
}

std::string encode_properties(const TableProperties& properties) {
  constexpr FieldNeed kRequired = FieldNeed::kRequired;
  constexpr FieldNeed kOptional = FieldNeed::kOptional;
  std::string to;
  append_number_field(to, kKeyspace, kRequired, number_of(properties.keyspace));
  append_field(to, kOrder, kRequired, kBytewiseOrder);
  append_field(to, kStoreId, kRequired, as_text(properties.identity.store_id));
  append_field(to, kHash, kRequired, encode_hash(properties));
  std::string facts;
  append_facts(facts, properties.facts);
  append_field(to, kFacts, kRequired, facts);
  append_field(to, kFilter, kRequired, encode_section(properties.filter));
  append_field(to, kPrefixFilter, kRequired, encode_section(properties.prefix_filter));
  append_field(to, kIndex, kRequired, encode_section(properties.index));
  append_field(to, kPrefixRule, kRequired, encode_prefix_rule(properties.prefix_rule));
  append_number_field(to, kCodec, kOptional, properties.codec);
  append_number_field(to, kBlockBytes, kOptional, properties.block_bytes);
  append_number_field(to, kLevel, kOptional, properties.level);
  append_number_field(to, kRun, kOptional, properties.run);
  std::string replaces;
  for (const std::uint64_t number : properties.replaces) append_le(replaces, number);
  append_field(to, kReplaces, kOptional, replaces);
  if (properties.flushed_sequence != 0) append_number_field(to, kFlushed, kOptional, properties.flushed_sequence);
  if (!properties.keyspace_name.empty()) append_field(to, kKeyspaceName, kOptional, properties.keyspace_name);
  if (properties.rewrite != 0) append_number_field(to, kRewrite, kOptional, properties.rewrite);
  if (properties.range_deletes.bytes != 0) {
    append_field(to, kRangeDeletes, kRequired, encode_section(properties.range_deletes));
  }
  if (properties.index_top_bytes != 0) append_number_field(to, kIndexTop, kRequired, properties.index_top_bytes);
  if (properties.range_filter.bytes != 0) {
    append_field(to, kRangeFilter, kRequired, encode_section(properties.range_filter));
  }
  append_fields_end(to);
  return to;
}

Result<TableProperties> decode_properties(Bytes bytes, std::uint64_t offset, std::string_view name) {
  const std::string where = fmt::format("{}: properties at offset {}", name, offset);
  TAMIS_TRY(TableProperties properties, PropertiesReader(bytes, where).read());
  TAMIS_TRY_STATUS(check_consistency(properties, offset, where));
  return properties;
}

}  // namespace tamis
