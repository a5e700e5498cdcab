// The records of a LevelDB manifest: changes of the set of tables.
//
//     record  fields: LEB128 tag, then
//              1 comparator         bytes          6 deleted table  level, number
//              2 log                number         7 new table      level, number, size, smallest, largest internal key
//              3 next file          number         9 previous log   number
//              4 last sequence      number
//              5 compaction start   level, internal key
//     number, level  LEB128                bytes, key  LEB128 length, bytes
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace tamis::leveldb {

inline constexpr std::uint64_t kLevels = 7;

/// A table that a record adds.
struct NewTable {
  std::uint64_t level = 0;
  std::uint64_t number = 0;
  std::uint64_t size = 0;
  std::string smallest;  // Internal keys: user key and 8 bytes.
  std::string largest;
};

/// What one record says; nullopt where it is silent.
struct VersionEdit {
  std::optional<std::string> comparator;
  std::optional<std::uint64_t> log;
  std::optional<std::uint64_t> previous_log;
  std::optional<std::uint64_t> next_file;
  std::optional<std::uint64_t> last_sequence;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> deleted;  // Level, number.
  std::vector<NewTable> added;
};

/// kNotSupported for tags that LevelDB does not have, such as RocksDB's.
Result<VersionEdit> decode_version_edit(Bytes record, std::string_view name);

}  // namespace tamis::leveldb
