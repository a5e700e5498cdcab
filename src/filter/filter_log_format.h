// The log behind the container of a mutable filter's file: what was changed since the container was written.
//
//     offset size  of a record at offset o of the file
//          0    8  XXH3-64 of the rest of the record, seeded with S + o; S is the checksum of the container
//          8    8  the offset up to which the file was durable when this was written
//         16    4  1 add, 2 remove
//         20    4  hashes, n: 1 … 4096
//         24   8n  the hashes of the keys
//
// Records follow the container without gaps. The log ends at the first offset without a valid record. If a later valid
// record says that this offset was durable, that is damage; otherwise a crash has torn it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "tamis/status.h"

namespace tamis {

enum class FilterChange : std::uint32_t { kAdd = 1, kRemove = 2 };

/// One record: the same change of several keys.
struct FilterLogRecord {
  static constexpr std::size_t kMaxHashes = 4096;

  FilterChange change = FilterChange::kAdd;
  std::uint64_t durable_end = 0;
  std::vector<std::uint64_t> hashes = {};
};

/// Appends the bytes that the record has at this offset of a file.
void append_filter_log_record(std::string& to, const FilterLogRecord& record, std::uint64_t seed, std::uint64_t offset);

/// Reads the records of a log one after the other.
///
/// Threads: one.
class FilterLogReader {
 public:
  /// `file` is the whole file and outlives the reader; the log begins at `begin`.
  FilterLogReader(Bytes file, std::uint64_t begin, std::uint64_t seed, std::string_view name)
      : file_(file), seed_(seed), name_(name), end_(begin) {}

  /// The next record; nullopt at the end, kCorruption at damage.
  Result<std::optional<FilterLogRecord>> next();
  /// Behind the last record so far.
  [[nodiscard]] std::uint64_t end() const { return end_; }
  /// After the last: whether a crash left something behind it.
  [[nodiscard]] bool is_torn() const { return end_ < file_.size(); }

 private:
  [[nodiscard]] std::optional<FilterLogRecord> record_at(std::uint64_t offset) const;

  Bytes file_;
  std::uint64_t seed_;
  std::string name_;
  std::uint64_t end_;
};

}  // namespace tamis
