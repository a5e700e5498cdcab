#include "tree/manifest_format.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/try.h"

namespace tamis {
namespace {

constexpr std::uint64_t kKeyspace = 0;  // The only one so far.
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

void append_added(std::string& to, const ShapeEdit::Added& added) {
  std::string bytes;
  append_varint(bytes, added.level);
  append_varint(bytes, added.run);
  append_facts(bytes, *added.facts);
  append_field(to, kAddedTable, bytes);
}

/// A record being read: single fields must not be repeated.
struct Partial {
  std::optional<std::string> order;
  std::optional<decltype(TableIdentity::store_id)> store_id;
  std::optional<decltype(TableIdentity::hash_key)> hash_key;
  ManifestEdit edit;
};

Status read_number(ByteReader& field, std::optional<std::uint64_t>& number) {
  if (number) return field.corruption("it occurs twice");
  TAMIS_TRY(number, field.read_varint("number"));
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
  if (record.order) return field.corruption("it occurs twice");
  TAMIS_TRY(const Bytes bytes, field.read(field.remaining(), "order of keys"));
  record.order = as_text(bytes);
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

/// `name` is the record's; the field's reader has its own, so offsets are relative to the field.
Status read_known(std::uint64_t number, ByteReader& field, std::string_view name, Partial& record) {
  switch (number) {
    case kOrder: return read_order(field, name, record);
    case kStoreId: return read_array(field, record.store_id);
    case kHashKey: return read_array(field, record.hash_key);
    case kFlushedSequence: return read_number(field, record.edit.flushed_sequence);
    case kFirstJournal: return read_number(field, record.edit.first_journal);
    case kReservedNumbers: return read_number(field, record.edit.reserved_numbers);
    case kRemovedTable: return read_removed(field, record.edit.shape);
    default: return read_added(field, record.edit.shape);
  }
}

Status read_field(ByteReader& reader, std::string_view name, Partial& record) {
  TAMIS_TRY(const std::uint64_t tag, reader.read_varint("tag"));
  TAMIS_TRY(const std::uint64_t bytes, reader.read_varint("field length"));
  TAMIS_TRY(const Bytes content, reader.read(bytes, "field"));
  const std::uint64_t number = tag >> 1;
  if (number < kOrder || number > kAddedTable) {
    if ((tag & kMustUnderstand) == 0) return {};
    return Status::not_supported(
        fmt::format("{}: field {} of an edit is not known to this build; use a newer tamis", name, number));
  }
  const std::string field_name = fmt::format("{}: field {}", name, number);
  ByteReader field(content, field_name);
  TAMIS_TRY_STATUS(read_known(number, field, name, record));
  return field.expect_end();
}

}  // namespace

std::string encode_manifest_record(const ManifestRecord& record) {
  std::string bytes;
  append_varint(bytes, kKeyspace);
  if (record.identity) {
    append_field(bytes, kOrder, kOrderName);
    append_field(bytes, kStoreId, as_text(record.identity->store_id));
    append_field(bytes, kHashKey, as_text(record.identity->hash_key));
  }
  append_number(bytes, kFlushedSequence, record.edit.flushed_sequence);
  append_number(bytes, kFirstJournal, record.edit.first_journal);
  append_number(bytes, kReservedNumbers, record.edit.reserved_numbers);
  for (const std::uint64_t number : record.edit.shape.removed) append_number(bytes, kRemovedTable, number);
  for (const ShapeEdit::Added& added : record.edit.shape.added) append_added(bytes, added);
  return bytes;
}

Result<ManifestRecord> decode_manifest_record(Bytes payload, std::string_view name) {
  ByteReader reader(payload, name);
  TAMIS_TRY(const std::uint64_t keyspace, reader.read_varint("keyspace"));
  if (keyspace != kKeyspace) {
    return Status::not_supported(
        fmt::format("{}: keyspace {} is not known to this build; use a newer tamis", name, keyspace));
  }
  Partial read;
  while (!reader.at_end()) TAMIS_TRY_STATUS(read_field(reader, name, read));
  ManifestRecord record{{}, std::move(read.edit)};
  if (read.order.has_value() != read.store_id.has_value() || read.order.has_value() != read.hash_key.has_value()) {
    return reader.corruption("order, store id and hash key stand together or not at all");
  }
  if (read.order) record.identity = TableIdentity{*read.store_id, *read.hash_key};
  return record;
}

}  // namespace tamis
