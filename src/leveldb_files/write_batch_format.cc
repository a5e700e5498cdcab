#include "leveldb_files/write_batch_format.h"

#include <fmt/core.h>

#include <cstdint>

#include "base/try.h"

namespace tamis::leveldb {
namespace {

Result<std::string_view> read_text(ByteReader& reader, std::string_view what) {
  TAMIS_TRY(const std::uint64_t size, reader.read_varint(what));
  TAMIS_TRY(const Bytes bytes, reader.read(size, what));
  return as_text(bytes);
}

Result<Entry> read_write(ByteReader& reader, Sequence sequence, std::string_view name) {
  TAMIS_TRY(const std::uint8_t kind, reader.read_le<std::uint8_t>("the kind of a write"));
  if (kind > 1) {
    return Status::not_supported(fmt::format(
        "{}: a write of kind {}, which LevelDB does not have; if this is a RocksDB folder, use 'tamis import rocksdb'",
        name, kind));
  }
  Entry entry;
  entry.sequence = sequence;
  entry.kind = kind == 1 ? EntryKind::kPut : EntryKind::kDelete;
  TAMIS_TRY(entry.key, read_text(reader, "a key"));
  if (kind == 1) {
    TAMIS_TRY(entry.value, read_text(reader, "a value"));
  }
  return entry;
}

}  // namespace

Status decode_write_batch(Bytes record, std::string_view name, std::vector<Entry>& entries) {
  ByteReader reader(record, name);
  TAMIS_TRY(const std::uint64_t first, reader.read_le<std::uint64_t>("a batch's sequence"));
  TAMIS_TRY(const std::uint32_t count, reader.read_le<std::uint32_t>("a batch's number of writes"));
  for (std::uint32_t i = 0; i < count; ++i) {
    TAMIS_TRY(const Entry entry, read_write(reader, Sequence{first + i}, name));
    entries.push_back(entry);
  }
  return reader.expect_end();
}

}  // namespace tamis::leveldb
