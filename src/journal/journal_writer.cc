#include "journal/journal_writer.h"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "io/path.h"

namespace tamis {

/// Removes the old name before touching the file, so that no crash shows a new header under it.
Result<TemporaryFile> JournalWriter::recycle(FileSystem& files, const std::string& path) {
  TemporaryFile recycled{.path = path + ".tmp"};
  TAMIS_TRY_STATUS(files.rename(path, recycled.path));
  TAMIS_TRY_STATUS(files.sync_directory(parent_directory(path)));
  TAMIS_TRY(recycled.file, files.open_writable(recycled.path, OpenMode::kExisting));
  return recycled;
}

Result<std::unique_ptr<JournalWriter>> JournalWriter::create(FileSystem& files, const JournalSpec& spec,
                                                             TemporaryFile recycled) {
  auto [temporary, file] = std::move(recycled);
  if (file == nullptr) {
    temporary = spec.path + ".tmp";
    TAMIS_TRY(file, files.open_writable(temporary, OpenMode::kReplace));
  }
  const JournalHeaderPage page = encode_journal_header(spec.header);
  const Bytes header_bytes = page;
  TAMIS_TRY_STATUS(file->preallocate(spec.preallocate_bytes));
  TAMIS_TRY_STATUS(file->write_durably_at(0, std::span(&header_bytes, 1)));
  TAMIS_TRY_STATUS(files.rename(temporary, spec.path));
  file->was_renamed(spec.path);
  TAMIS_TRY_STATUS(files.sync_directory(parent_directory(spec.path)));
  return std::unique_ptr<JournalWriter>(
      new JournalWriter(AppendFile(std::move(file), kJournalHeaderBytes), spec.header, spec.header.first_sequence));
}

Result<std::unique_ptr<JournalWriter>> JournalWriter::reopen(FileSystem& files, const std::string& path,
                                                             const JournalHeader& header, const JournalEnd& end) {
  TAMIS_CHECK(end.is_closed);
  TAMIS_TRY(std::unique_ptr<WritableFile> file, files.open_writable(path, OpenMode::kExisting));
  std::unique_ptr<JournalWriter> writer(
      new JournalWriter(AppendFile(std::move(file), end.offset), header, end.next_sequence));
  TAMIS_TRY_STATUS(writer->append_record({.kind = RecordKind::kReopened}, {}));
  TAMIS_TRY_STATUS(writer->sync());
  return writer;
}

void JournalWriter::follow(std::unique_ptr<JournalWriter> predecessor) {
  TAMIS_CHECK(predecessor_ == nullptr && next_sequence_ == header_.first_sequence);
  TAMIS_CHECK(predecessor->next_sequence() == header_.first_sequence && !predecessor->overwrites_failed_append_);
  predecessor_ = std::move(predecessor);
  predecessor_->file_.drop_window();
}

/// Truncates: needs no disk space, unlike overwriting.
Status JournalWriter::withdraw_failed_append() {
  TAMIS_TRY_STATUS(status_);
  if (!overwrites_failed_append_) return {};
  TAMIS_TRY_STATUS(file_.trim());
  TAMIS_TRY_STATUS(sync());
  overwrites_failed_append_ = false;
  return {};
}

void JournalWriter::forget_predecessors_before(std::uint64_t number) {
  for (JournalWriter* writer = this; writer != nullptr; writer = writer->predecessor_.get()) {
    if (writer->predecessor_ != nullptr && writer->predecessor_->header_.number < number) {
      writer->predecessor_.reset();  // And its predecessors, whose numbers are smaller still.
    }
  }
}

Status JournalWriter::append(Bytes payload, std::uint32_t count, std::uint64_t commit_time) {
  TAMIS_CHECK(count > 0);
  if (payload.size() > kMaxPayload) {
    return Status::invalid_argument(
        fmt::format("a record of {} bytes exceeds a journal's max of {}", payload.size(), kMaxPayload));
  }
  return append_record({.kind = RecordKind::kData, .count = count, .commit_time = commit_time}, payload);
}

Status JournalWriter::append_record(RecordHeader&& record, Bytes payload) {
  TAMIS_TRY_STATUS(status_);
  Status written = write_record(record, payload);
  if (!written.ok()) {
    overwrites_failed_append_ = true;
    status_ = file_.status();
    return written;
  }
  return std::exchange(overwrites_failed_append_, false) ? sync() : Status();
}

/// Completes the header.
Status JournalWriter::write_record(RecordHeader& record, Bytes payload) {
  record.payload_bytes = payload.size();
  record.first_sequence = next_sequence_;
  record.durable_offset = file_.durable_end();
  const RecordHeaderBytes header_bytes = encode_record_header(record, payload, header_, file_.end());
  const std::array<Bytes, 2> pieces = {Bytes(header_bytes), payload};
  TAMIS_TRY_STATUS(file_.append(pieces));
  next_sequence_ += record.count;
  return {};
}

Status JournalWriter::sync() {
  TAMIS_TRY_STATUS(status_);
  status_ = sync_predecessor();
  if (status_.ok()) status_ = file_.sync();
  return status_;
}

Status JournalWriter::sync_predecessor() {
  if (predecessor_ == nullptr) return {};
  TAMIS_TRY_STATUS(predecessor_->sync());
  TAMIS_TRY_STATUS(predecessor_->file_.close());
  predecessor_.reset();
  return {};
}

/// Two syncs: the mark promises that everything before it was durable when it was written.
Status JournalWriter::close() {
  TAMIS_TRY_STATUS(status_);
  TAMIS_TRY_STATUS(file_.trim());
  TAMIS_TRY_STATUS(sync());
  TAMIS_TRY_STATUS(append_record({.kind = RecordKind::kClosed}, {}));
  TAMIS_TRY_STATUS(sync());
  return file_.close();
}

}  // namespace tamis
