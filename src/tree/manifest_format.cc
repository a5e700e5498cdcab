#include "tree/manifest_format.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/try.h"

namespace tamis {
namespace {

constexpr std::uint64_t kMustUnderstand = 1;

/// Numbers on disk, never reused.
enum Field : std::uint64_t {
  kOrder = 1,
  kStoreId = 2,
  kHashKey = 3,
  kFlushedSequence = 4,
  kFirstJournal = 5,
  kReservedNumbers = 6,
  kRemovedTable = 7,
  kAddedTable = 8,
  kTerm = 9,
  kNextKeyspace = 10,
  kDroppedKeyspace = 11,
  kKeyspaceName = 12,
  kKeyspaceOptions = 13,
  kExpiryHorizon = 14,
  kAddedValueFile = 15,
  kRemovedValueFile = 16,
};

void append_field(std::string& to, Field field, std::string_view bytes) {
  append_varint(to, field << 1 | kMustUnderstand);
  append_varint(to, bytes.size());
  to.append(bytes);
}

void append_number(std::string& to, Field field, std::uint64_t number) {
  std::string bytes;
  append_varint(bytes, number);
  append_field(to, field, bytes);
}

void append_number(std::string& to, Field field, const std::optional<std::uint64_t>& number) {
  if (number) append_number(to, field, *number);
}

void append_horizon(std::string& to, const ExpiryHorizon& horizon) {
  std::string bytes;
  for (const std::uint64_t number : {horizon.time, horizon.at.boot, horizon.at.milliseconds}) append_le(bytes, number);
  append_field(to, kExpiryHorizon, bytes);
}

void append_added(std::string& to, const ShapeEdit::Added& added) {
  std::string bytes;
  append_varint(bytes, added.level);
  append_varint(bytes, added.run);
  append_facts(bytes, *added.facts);
  append_field(to, kAddedTable, bytes);
}

void append_added(std::string& to, const ValueFileFacts& added) {
  std::string bytes;
  append_varint(bytes, added.number);
  append_varint(bytes, added.file_bytes);
  append_varint(bytes, added.created_unix_seconds);
  append_field(to, kAddedValueFile, bytes);
}

/// A record being read: single fields must not be repeated.
struct Partial {
  std::optional<std::string> order;
  std::optional<decltype(TableIdentity::store_id)> store_id;
  std::optional<decltype(TableIdentity::hash_key)> hash_key;
  ManifestEdit edit;
};

/// A section being read.
struct PartialKeyspace {
  std::optional<std::string> name;
  std::optional<std::string> options;
  KeyspaceEdit edit;
};

Status read_number(ByteReader& field, std::optional<std::uint64_t>& number) {
  if (number) return field.corruption("it occurs twice");
  TAMIS_TRY(number, field.read_varint("number"));
  return {};
}

Status read_horizon(ByteReader& field, std::optional<ExpiryHorizon>& horizon) {
  if (horizon) return field.corruption("it occurs twice");
  horizon.emplace();
  TAMIS_TRY(horizon->time, field.read_le<std::uint64_t>("time"));
  TAMIS_TRY(horizon->at.boot, field.read_le<std::uint64_t>("boot number"));
  TAMIS_TRY(horizon->at.milliseconds, field.read_le<std::uint64_t>("uptime"));
  return {};
}

Result<std::uint32_t> read_keyspace_id(ByteReader& reader) {
  TAMIS_TRY(const std::uint64_t id, reader.read_varint("keyspace id"));
  if (id > ~std::uint32_t{0}) return reader.corruption(fmt::format("keyspace id {} has more than 32 bits", id));
  return static_cast<std::uint32_t>(id);
}

Status read_next_keyspace(ByteReader& field, std::optional<std::uint32_t>& next) {
  if (next) return field.corruption("it occurs twice");
  TAMIS_TRY(next, read_keyspace_id(field));
  return {};
}

Status read_dropped(ByteReader& field, std::vector<KeyspaceId>& dropped) {
  TAMIS_TRY(const std::uint32_t id, read_keyspace_id(field));
  dropped.push_back(KeyspaceId{id});
  return {};
}

Status read_text(ByteReader& field, std::optional<std::string>& text) {
  if (text) return field.corruption("it occurs twice");
  TAMIS_TRY(const Bytes bytes, field.read(field.remaining(), "text"));
  text = as_text(bytes);
  return {};
}

template <typename Array>
Status read_array(ByteReader& field, std::optional<Array>& array) {
  if (array) return field.corruption("it occurs twice");
  TAMIS_TRY(const Bytes bytes, field.read(std::tuple_size_v<Array>, "bytes"));
  std::ranges::copy(bytes, array.emplace().begin());
  return {};
}

Status read_order(ByteReader& field, std::string_view name, Partial& record) {
  TAMIS_TRY_STATUS(read_text(field, record.order));
  if (*record.order == kOrderName) return {};
  return Status::not_supported(
      fmt::format("{}: the order \"{:.40}\" of keys is not known to this build, which knows \"{}\"; use a newer tamis",
                  name, *record.order, kOrderName));
}

Status read_removed(ByteReader& field, ShapeEdit& edit) {
  TAMIS_TRY(const std::uint64_t number, field.read_varint("table number"));
  edit.removed.push_back(number);
  return {};
}

Status read_added(ByteReader& field, ShapeEdit& edit) {
  TAMIS_TRY(const std::uint64_t level, field.read_varint("level"));
  if (level >= Shape::kMaxLevels) return field.corruption(fmt::format("level {} of {}", level, Shape::kMaxLevels));
  TAMIS_TRY(const std::uint64_t run, field.read_varint("run"));
  TAMIS_TRY(TableFacts facts, decode_facts(field));
  edit.added.push_back({static_cast<std::uint32_t>(level), run, std::make_shared<const TableFacts>(std::move(facts))});
  return {};
}

Status read_removed_values(ByteReader& field, ShapeEdit& edit) {
  TAMIS_TRY(const std::uint64_t number, field.read_varint("number of a value file"));
  edit.values_removed.push_back(number);
  return {};
}

Status read_added_values(ByteReader& field, ShapeEdit& edit) {
  ValueFileFacts& added = edit.values_added.emplace_back();
  TAMIS_TRY(added.number, field.read_varint("number of a value file"));
  TAMIS_TRY(added.file_bytes, field.read_varint("bytes of a value file"));
  TAMIS_TRY(added.created_unix_seconds, field.read_varint("time of a value file"));
  return {};
}

/// A field's number and value; its reader has its own name, so offsets are relative to the field.
struct RawField {
  std::uint64_t number = 0;
  bool must_be_understood = false;
  Bytes value;
};

Result<RawField> read_rest_of_field(ByteReader& reader, std::uint64_t tag) {
  TAMIS_TRY(const std::uint64_t bytes, reader.read_varint("field length"));
  TAMIS_TRY(const Bytes value, reader.read(bytes, "field"));
  return RawField{tag >> 1, (tag & kMustUnderstand) != 0, value};
}

Status unknown_field(const RawField& raw, std::string_view name) {
  if (!raw.must_be_understood) return {};
  return Status::not_supported(
      fmt::format("{}: field {} of an edit is not known to this build; use a newer tamis", name, raw.number));
}

Status read_store_field(const RawField& raw, std::string_view name, Partial& record) {
  const std::string field_name = fmt::format("{}: field {}", name, raw.number);
  ByteReader field(raw.value, field_name);
  switch (raw.number) {
    case kOrder: TAMIS_TRY_STATUS(read_order(field, name, record)); break;
    case kStoreId: TAMIS_TRY_STATUS(read_array(field, record.store_id)); break;
    case kHashKey: TAMIS_TRY_STATUS(read_array(field, record.hash_key)); break;
    case kFlushedSequence: TAMIS_TRY_STATUS(read_number(field, record.edit.flushed_sequence)); break;
    case kFirstJournal: TAMIS_TRY_STATUS(read_number(field, record.edit.first_journal)); break;
    case kReservedNumbers: TAMIS_TRY_STATUS(read_number(field, record.edit.reserved_numbers)); break;
    case kExpiryHorizon: TAMIS_TRY_STATUS(read_horizon(field, record.edit.horizon)); break;
    case kTerm: TAMIS_TRY_STATUS(read_number(field, record.edit.term)); break;
    case kNextKeyspace: TAMIS_TRY_STATUS(read_next_keyspace(field, record.edit.next_keyspace)); break;
    case kDroppedKeyspace: TAMIS_TRY_STATUS(read_dropped(field, record.edit.dropped)); break;
    default: return unknown_field(raw, name);
  }
  return field.expect_end();
}

Status read_keyspace_field(const RawField& raw, std::string_view name, PartialKeyspace& keyspace) {
  const std::string field_name = fmt::format("{}: field {}", name, raw.number);
  ByteReader field(raw.value, field_name);
  switch (raw.number) {
    case kKeyspaceName: TAMIS_TRY_STATUS(read_text(field, keyspace.name)); break;
    case kKeyspaceOptions: TAMIS_TRY_STATUS(read_text(field, keyspace.options)); break;
    case kFlushedSequence: TAMIS_TRY_STATUS(read_number(field, keyspace.edit.flushed_sequence)); break;
    case kRemovedTable: TAMIS_TRY_STATUS(read_removed(field, keyspace.edit.shape)); break;
    case kAddedTable: TAMIS_TRY_STATUS(read_added(field, keyspace.edit.shape)); break;
    case kRemovedValueFile: TAMIS_TRY_STATUS(read_removed_values(field, keyspace.edit.shape)); break;
    case kAddedValueFile: TAMIS_TRY_STATUS(read_added_values(field, keyspace.edit.shape)); break;
    default: return unknown_field(raw, name);
  }
  return field.expect_end();
}

Status read_section(ByteReader& reader, std::string_view name, ManifestEdit& edit) {
  TAMIS_TRY(const std::uint32_t id, read_keyspace_id(reader));
  if (!edit.keyspaces.empty() && edit.keyspaces.rbegin()->first >= KeyspaceId{id}) {
    return reader.corruption(fmt::format("the section of keyspace {} is not in its place", id));
  }
  TAMIS_TRY(const std::uint64_t bytes, reader.read_varint("section length"));
  TAMIS_TRY(const Bytes content, reader.read(bytes, "section"));
  const std::string section_name = fmt::format("{}: keyspace {}", name, id);
  ByteReader section(content, section_name);
  PartialKeyspace keyspace;
  while (!section.at_end()) {
    TAMIS_TRY(const std::uint64_t tag, section.read_varint("tag"));
    TAMIS_TRY(const RawField raw, read_rest_of_field(section, tag));
    TAMIS_TRY_STATUS(read_keyspace_field(raw, section_name, keyspace));
  }
  if (keyspace.name) {
    keyspace.edit.created = {*std::move(keyspace.name), std::move(keyspace.options).value_or("")};
  } else {
    keyspace.edit.options = std::move(keyspace.options);
  }
  edit.keyspaces.emplace_hint(edit.keyspaces.end(), KeyspaceId{id}, std::move(keyspace.edit));
  return {};
}

std::string encode_section(const KeyspaceEdit& edit) {
  std::string fields;
  if (edit.created) {
    append_field(fields, kKeyspaceName, edit.created->name);
    if (!edit.created->options.empty()) append_field(fields, kKeyspaceOptions, edit.created->options);
  } else if (edit.options) {
    append_field(fields, kKeyspaceOptions, *edit.options);
  }
  append_number(fields, kFlushedSequence, edit.flushed_sequence);
  for (const std::uint64_t number : edit.shape.removed) append_number(fields, kRemovedTable, number);
  for (const ShapeEdit::Added& added : edit.shape.added) append_added(fields, added);
  for (const std::uint64_t number : edit.shape.values_removed) append_number(fields, kRemovedValueFile, number);
  for (const ValueFileFacts& added : edit.shape.values_added) append_added(fields, added);
  return fields;
}

}  // namespace

std::string encode_manifest_record(const ManifestRecord& record) {
  const ManifestEdit& edit = record.edit;
  std::string bytes;
  if (record.identity) {
    append_field(bytes, kOrder, kOrderName);
    append_field(bytes, kStoreId, as_text(record.identity->store_id));
    append_field(bytes, kHashKey, as_text(record.identity->hash_key));
  }
  append_number(bytes, kFlushedSequence, edit.flushed_sequence);
  append_number(bytes, kFirstJournal, edit.first_journal);
  append_number(bytes, kReservedNumbers, edit.reserved_numbers);
  append_number(bytes, kTerm, edit.term);
  if (edit.horizon) append_horizon(bytes, *edit.horizon);
  if (edit.next_keyspace) append_number(bytes, kNextKeyspace, *edit.next_keyspace);
  for (const KeyspaceId id : edit.dropped) append_number(bytes, kDroppedKeyspace, number_of(id));
  bytes.push_back('\0');
  for (const auto& [id, keyspace] : edit.keyspaces) {
    const std::string section = encode_section(keyspace);
    append_varint(bytes, number_of(id));
    append_varint(bytes, section.size());
    bytes.append(section);
  }
  return bytes;
}

Result<ManifestRecord> decode_manifest_record(Bytes payload, std::string_view name) {
  ByteReader reader(payload, name);
  Partial read;
  for (;;) {
    TAMIS_TRY(const std::uint64_t tag, reader.read_varint("tag"));
    if (tag == 0) break;
    TAMIS_TRY(const RawField raw, read_rest_of_field(reader, tag));
    TAMIS_TRY_STATUS(read_store_field(raw, name, read));
  }
  while (!reader.at_end()) TAMIS_TRY_STATUS(read_section(reader, name, read.edit));
  ManifestRecord record{{}, std::move(read.edit)};
  if (read.order.has_value() != read.store_id.has_value() || read.order.has_value() != read.hash_key.has_value()) {
    return reader.corruption("order, store id and hash key stand together or not at all");
  }
  if (read.order) record.identity = TableIdentity{*read.store_id, *read.hash_key};
  return record;
}

}  // namespace tamis
