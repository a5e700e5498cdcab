#include "journal/journal_reader.h"

#include <fmt/core.h>

#include <utility>

#include "base/check.h"
#include "base/try.h"

namespace tamis {

Result<JournalReader> JournalReader::open(FileSystem& files, const std::string& path,
                                          std::uint64_t known_durable_offset) {
  TAMIS_TRY(std::unique_ptr<ReadableFile> file, files.open_readable(path));
  TAMIS_TRY(const std::uint64_t file_bytes, file->size());
  ReadWindow window(std::move(file), file_bytes);
  TAMIS_TRY(const Bytes page, window.at(0, kJournalHeaderBytes));
  TAMIS_TRY(const JournalHeader header, decode_journal_header(page, path));
  return JournalReader(std::move(window), path, header, known_durable_offset);
}

JournalReader::JournalReader(ReadWindow window, std::string path, const JournalHeader& header,
                             std::uint64_t known_durable_offset)
    : window_(std::move(window)), path_(std::move(path)), header_(header), known_durable_offset_(known_durable_offset) {
  end_.offset = kJournalHeaderBytes;
  end_.next_sequence = header.first_sequence;
}

Result<std::optional<JournalRecord>> JournalReader::next() {
  while (!is_finished_) {
    TAMIS_TRY(const std::optional<Found> found, read_record(end_.offset));
    if (!found) {
      TAMIS_TRY_STATUS(finish());
      break;
    }
    TAMIS_TRY(const std::optional<JournalRecord> record, pass(*found));
    if (record) return record;
  }
  return std::optional<JournalRecord>();
}

Result<std::optional<JournalRecord>> JournalReader::pass(const Found& found) {
  const RecordHeader& record = found.header;
  TAMIS_TRY_STATUS(check_kind(record));
  TAMIS_TRY_STATUS(check_order(record));
  const std::uint64_t offset = end_.offset;
  end_.offset += kRecordHeaderBytes + record.payload_bytes;
  end_.next_sequence += record.count;
  end_.is_closed = record.kind == RecordKind::kClosed;
  if (record.durable_offset > kJournalHeaderBytes || end_.is_closed) end_.was_synced = true;
  last_ = {record, found.payload_checksum};
  if (record.kind != RecordKind::kData) return std::optional<JournalRecord>();
  return std::optional(JournalRecord{offset, record.first_sequence, record.count, record.commit_time, found.payload});
}

/// What was read before may be old, so a record that is not valid is read once more.
Result<std::optional<JournalRecord>> JournalReader::next_so_far() {
  for (bool is_new = false;;) {
    TAMIS_TRY(const std::optional<Found> found, read_record(end_.offset));
    if (found) {
      TAMIS_TRY(const std::optional<JournalRecord> record, pass(*found));
      if (record) return record;
    } else if (!std::exchange(is_new, true)) {
      TAMIS_TRY_STATUS(window_.look_again());
    } else {
      return std::optional<JournalRecord>();
    }
  }
}

Result<bool> JournalReader::is_unchanged() const {
  JournalHeaderPage page;
  TAMIS_TRY(const std::size_t header_bytes, window_.read_anew(0, page));
  const Result<JournalHeader> header = decode_journal_header(Bytes(page).first(header_bytes), path_);
  if (!header.ok() || *header != header_) return false;
  if (!last_) return true;
  RecordHeaderBytes bytes;
  const std::uint64_t offset = end_.offset - kRecordHeaderBytes - last_->header.payload_bytes;
  TAMIS_TRY(const std::size_t there, window_.read_anew(offset, bytes));
  if (there < bytes.size()) return false;
  const std::optional<RecordCandidate> candidate =
      decode_record_header(bytes, header_, offset, last_->header.payload_bytes);
  return candidate && candidate->header == last_->header && candidate->payload_checksum == last_->payload_checksum;
}

Result<bool> JournalReader::skip_damage() {
  std::uint64_t offset = end_.offset;
  while (!is_finished_) {
    TAMIS_TRY(offset, find_candidate(offset + 1));
    if (offset >= window_.file_bytes()) break;
    TAMIS_TRY(const std::optional<Found> found, read_record(offset));
    if (!found || found->header.first_sequence < end_.next_sequence) continue;
    end_.offset = offset;
    end_.next_sequence = found->header.first_sequence;
    end_.is_closed = found->header.kind == RecordKind::kReopened;
    return true;
  }
  is_finished_ = true;
  return false;
}

Status JournalReader::skip_to_end() {
  for (;;) {
    TAMIS_TRY(const std::optional<JournalRecord> record, next());
    if (!record) return {};
  }
}

const JournalEnd& JournalReader::end() const {
  TAMIS_CHECK(is_finished_);
  return end_;
}

/// The valid record at this offset, if any.
Result<std::optional<JournalReader::Found>> JournalReader::read_record(std::uint64_t offset) {
  TAMIS_TRY(const Bytes start, window_.at(offset, kRecordHeaderBytes));
  if (start.size() < kRecordHeaderBytes) return std::optional<Found>();
  const std::uint64_t room = window_.file_bytes() - offset - kRecordHeaderBytes;
  const std::optional<RecordCandidate> candidate =
      decode_record_header(start.first<kRecordHeaderBytes>(), header_, offset, room);
  if (!candidate) return std::optional<Found>();
  const std::uint64_t payload_bytes = candidate->header.payload_bytes;
  TAMIS_TRY(const Bytes payload, window_.at(offset + kRecordHeaderBytes, payload_bytes));
  if (payload.size() < payload_bytes || !candidate->matches(payload)) return std::optional<Found>();
  return std::optional(Found{candidate->header, candidate->payload_checksum, payload});
}

Status JournalReader::check_kind(const RecordHeader& record) const {
  if (record.kind <= RecordKind::kReopened) return {};
  return Status::not_supported(
      fmt::format("{}: at offset {}: record kind {} is not known to this build; use a newer tamis", path_, end_.offset,
                  static_cast<int>(record.kind)));
}

/// We wrote every valid record as a continuation of the previous one. Only a fault that no checksum detects breaks
/// that.
Status JournalReader::check_order(const RecordHeader& record) const {
  if (record.first_sequence != end_.next_sequence) {
    return Status::corruption(fmt::format("{}: at offset {}: the record begins with sequence {}, {} is due", path_,
                                          end_.offset, record.first_sequence, end_.next_sequence));
  }
  if (end_.is_closed != (record.kind == RecordKind::kReopened)) {
    return Status::corruption(fmt::format("{}: at offset {}: a record of kind {} {} a clean close", path_, end_.offset,
                                          static_cast<int>(record.kind),
                                          end_.is_closed ? "directly after" : "without"));
  }
  return {};
}

/// No valid record at the expected offset: the end, or damage?
Status JournalReader::finish() {
  TAMIS_TRY(const Beyond beyond, search_beyond(end_.offset));
  if (beyond.durable_offset > end_.offset) {
    return Status::corruption(
        fmt::format("{}: at offset {}: damaged: no valid record stands here, yet the record at offset {} says that all "
                    "before {} was durable",
                    path_, end_.offset, beyond.witness_offset, beyond.durable_offset));
  }
  if (known_durable_offset_ > end_.offset) {
    return Status::corruption(
        fmt::format("{}: at offset {}: damaged: no valid record stands here, yet the journal was durable up to {}",
                    path_, end_.offset, known_durable_offset_));
  }
  if (beyond.has_records) {
    end_.has_stranded_records = true;
    end_.is_closed = false;
  }
  is_finished_ = true;
  return {};
}

/// Checks every position beyond the end where a record could begin. One valid record leads to the next; between them,
/// and after the last, it tries every byte.
Result<JournalReader::Beyond> JournalReader::search_beyond(std::uint64_t offset) {
  Beyond beyond;
  for (;;) {
    TAMIS_TRY(offset, find_candidate(offset));
    if (offset >= window_.file_bytes()) return beyond;
    TAMIS_TRY(const std::optional<Found> found, read_record(offset));
    if (!found) {
      ++offset;
      continue;
    }
    beyond.has_records = true;
    if (found->header.durable_offset > beyond.durable_offset) {
      beyond.durable_offset = found->header.durable_offset;
      beyond.witness_offset = offset;
    }
    if (found->header.durable_offset > kJournalHeaderBytes) end_.was_synced = true;
    offset += kRecordHeaderBytes + found->header.payload_bytes;
  }
}

Result<std::uint64_t> JournalReader::find_candidate(std::uint64_t offset) {
  constexpr std::uint64_t kStepBytes = 64 << 10;  // Well within a window, so that each byte is read once or twice.
  for (;;) {
    TAMIS_TRY(const Bytes bytes, window_.at(offset, kStepBytes));
    if (bytes.size() < kRecordHeaderBytes) return window_.file_bytes();
    const std::size_t found = find_record_header(bytes, header_, offset, window_.file_bytes());
    if (found < bytes.size()) return offset + found;
    offset += bytes.size() - kRecordHeaderBytes + 1;
  }
}

}  // namespace tamis
