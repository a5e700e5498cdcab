#include "leveldb_files/version_edit_format.h"

#include <fmt/core.h>

#include "base/try.h"
#include "leveldb_files/internal_key_format.h"

namespace tamis::leveldb {
namespace {

enum Tag : std::uint8_t {
  kComparator = 1,
  kLog = 2,
  kNextFile = 3,
  kLastSequence = 4,
  kCompactionStart = 5,
  kDeletedTable = 6,
  kNewTable = 7,
  kPreviousLog = 9,
};

Result<std::uint64_t> read_level(ByteReader& reader) {
  TAMIS_TRY(const std::uint64_t level, reader.read_varint("a level"));
  if (level >= kLevels) return reader.corruption(fmt::format("level {}; LevelDB has {}", level, kLevels));
  return level;
}

Result<std::string> read_bytes(ByteReader& reader, std::string_view what) {
  TAMIS_TRY(const std::uint64_t size, reader.read_varint(what));
  TAMIS_TRY(const Bytes bytes, reader.read(size, what));
  return std::string(as_text(bytes));
}

Result<std::string> read_internal_key(ByteReader& reader) {
  TAMIS_TRY(std::string key, read_bytes(reader, "a table's bound"));
  if (key.size() < kInternalSuffixBytes) return reader.corruption("a table's bound is shorter than its suffix");
  return key;
}

Result<NewTable> read_new_table(ByteReader& reader) {
  NewTable table;
  TAMIS_TRY(table.level, read_level(reader));
  TAMIS_TRY(table.number, reader.read_varint("a table's number"));
  TAMIS_TRY(table.size, reader.read_varint("a table's size"));
  TAMIS_TRY(table.smallest, read_internal_key(reader));
  TAMIS_TRY(table.largest, read_internal_key(reader));
  return table;
}

Status read_field(ByteReader& reader, std::uint64_t tag, VersionEdit& edit, std::string_view name) {
  switch (tag) {
    case kComparator: {
      TAMIS_TRY(edit.comparator, read_bytes(reader, "the comparator's name"));
      return {};
    }
    case kLog: {
      TAMIS_TRY(edit.log, reader.read_varint("the log's number"));
      return {};
    }
    case kNextFile: {
      TAMIS_TRY(edit.next_file, reader.read_varint("the next file's number"));
      return {};
    }
    case kLastSequence: {
      TAMIS_TRY(edit.last_sequence, reader.read_varint("the last sequence"));
      return {};
    }
    case kCompactionStart: {
      TAMIS_TRY_STATUS(read_level(reader).status());
      return read_bytes(reader, "where a compaction begins").status();
    }
    case kDeletedTable: {
      TAMIS_TRY(const std::uint64_t level, read_level(reader));
      TAMIS_TRY(const std::uint64_t number, reader.read_varint("a deleted table's number"));
      edit.deleted.emplace_back(level, number);
      return {};
    }
    case kNewTable: {
      TAMIS_TRY(NewTable table, read_new_table(reader));
      edit.added.push_back(std::move(table));
      return {};
    }
    case kPreviousLog: {
      TAMIS_TRY(edit.previous_log, reader.read_varint("the previous log's number"));
      return {};
    }
    default:
      return Status::not_supported(
          fmt::format("{}: a change of kind {}, which LevelDB does not have; if this is a RocksDB folder, use 'tamis "
                      "import rocksdb'",
                      name, tag));
  }
}

}  // namespace

Result<VersionEdit> decode_version_edit(Bytes record, std::string_view name) {
  ByteReader reader(record, name);
  VersionEdit edit;
  while (!reader.at_end()) {
    TAMIS_TRY(const std::uint64_t tag, reader.read_varint("the kind of a change"));
    TAMIS_TRY_STATUS(read_field(reader, tag, edit, name));
  }
  return edit;
}

}  // namespace tamis::leveldb
