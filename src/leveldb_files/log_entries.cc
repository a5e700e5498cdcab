#include "leveldb_files/log_entries.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/try.h"
#include "entry/vector_iterator.h"
#include "leveldb_files/log_records_format.h"
#include "leveldb_files/write_batch_format.h"

namespace tamis::leveldb {

Status LogEntries::read(FileSystem& files, const std::vector<LogRef>& logs, std::vector<std::string>& notes) {
  for (const LogRef& log : logs) TAMIS_TRY_STATUS(read_log(files, log, &log == &logs.back(), notes));
  std::ranges::sort(entries_, std::less(), &Entry::position);
  const auto twice = std::ranges::adjacent_find(entries_, std::equal_to(), &Entry::position);
  if (twice == entries_.end()) return {};
  return Status::corruption(fmt::format("{}: at offset 0: the logs have two writes of the sequence {}",
                                        logs.back().path, number_of(twice->sequence)));
}

Status LogEntries::read_log(FileSystem& files, const LogRef& log, bool is_newest, std::vector<std::string>& notes) {
  TAMIS_TRY(const std::unique_ptr<ReadableFile> file, files.open_readable(log.path));
  TAMIS_TRY(const std::uint64_t size, file->size());
  file_bytes_ += size;
  LogRecords records(*file, log.path);
  for (;;) {
    TAMIS_TRY(std::optional<std::string> record, records.next());
    if (!record) break;
    records_.push_back(*std::move(record));
    const std::string name = fmt::format("{}: the record at offset {}", log.path, records.record_offset());
    TAMIS_TRY_STATUS(decode_write_batch(as_bytes(records_.back()), name, entries_));
  }
  if (!records.torn_at()) return {};
  const std::uint64_t torn_at = *records.torn_at();
  if (!is_newest) {
    return Status::corruption(
        fmt::format("{}: at offset {}: the log ends inside a record, and a later log follows", log.path, torn_at));
  }
  notes.push_back(
      fmt::format("{}: the last {} bytes, from offset {}, are an incomplete record; left out, as LevelDB does",
                  log.path, size - torn_at, torn_at));
  return {};
}

std::unique_ptr<EntryIterator> LogEntries::iterate() const { return std::make_unique<VectorIterator>(entries_); }

}  // namespace tamis::leveldb
