#include "io/append_file.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/try.h"

namespace tamis {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
/// Opening a window costs as much as about a dozen writes, and a sync writes out its unused pages too.
constexpr std::uint32_t kAppendsBeforeWindow = 16;
/// Beyond this a system call is cheap relative to the copy.
constexpr std::uint64_t kMaxCopy = 16 << 10;
/// The file grows by this many windows at once.
constexpr std::uint64_t kWindowsPerAllocation = 4;
/// After this many syncs, each of too few appends to be worth a window, the file is extended ahead.
constexpr std::uint32_t kSyncsBeforeRoom = 4;
/// By its current length, within these bounds.
constexpr std::uint64_t kMinRoomForSynced = kPageBytes;
constexpr std::uint64_t kMaxRoomForSynced = 256 << 10;

std::uint64_t usable_window(std::uint64_t bytes) {
  bytes = std::min(bytes, AppendFile::kMaxWindowBytes) / kPageBytes * kPageBytes;
  return bytes < AppendFile::kMinWindowBytes ? 0 : bytes;
}

}  // namespace

void AppendFile::allow_room_ahead(std::uint64_t most_window_bytes) {
  may_have_room_ahead_ = true;
  most_window_bytes_ = usable_window(most_window_bytes);
}

void AppendFile::limit_window(std::uint64_t most_window_bytes) {
  most_window_bytes_ = std::min(most_window_bytes_, usable_window(most_window_bytes));
  if (window_bytes() > most_window_bytes_) drop_window();
}

Status AppendFile::append(std::span<const Bytes> pieces) {
  TAMIS_TRY_STATUS(status_);
  std::uint64_t bytes = 0;
  for (const Bytes piece : pieces) bytes += piece.size();
  ++appends_since_sync_;
  if (window_ == nullptr || bytes > window_->end() - end_) move_window(bytes);
  if (window_ != nullptr) {
    const Status copied = window_->copy_in(end_, pieces);
    if (!copied.ok()) TAMIS_TRY_STATUS(write_instead(pieces, copied));
  } else {
    make_room_for_synced(bytes);
    TAMIS_TRY_STATUS(file_->write_at(end_, pieces));
  }
  end_ += bytes;
  return {};
}

/// Leaves a window with space for the next append, or none.
void AppendFile::move_window(std::uint64_t bytes) {
  window_.reset();
  short_appends_ = bytes > kMaxCopy ? 0 : short_appends_ + 1;
  if (most_window_bytes_ == 0 || short_appends_ <= kAppendsBeforeWindow) return;
  Result<std::unique_ptr<FileWindow>> window =
      open_window(end_ / kPageBytes * kPageBytes, std::min(next_window_bytes_, most_window_bytes_));
  if (!window.ok()) {
    most_window_bytes_ = 0;  // Not retried: appends meet the problem themselves and report it.
    return;
  }
  window_ = *std::move(window);
  next_window_bytes_ = std::min(2 * next_window_bytes_, kMaxWindowBytes);
}

/// After a failed copy: writes the same bytes to the same place, so the file itself reports what is wrong. The file was
/// made longer than the window; if it is shorter, somebody else cut it.
Status AppendFile::write_instead(std::span<const Bytes> pieces, const Status& copied) {
  const std::uint64_t expected = window_->end();
  window_.reset();
  most_window_bytes_ = 0;
  TAMIS_TRY(const std::uint64_t bytes, file_->size());
  if (bytes >= expected) return file_->write_at(end_, pieces);
  status_ = Status::io_error(fmt::format("{}; the file was truncated to {} bytes", copied.message(), bytes));
  return status_;
}

Result<std::unique_ptr<FileWindow>> AppendFile::open_window(std::uint64_t begin, std::uint64_t bytes) {
  TAMIS_TRY_STATUS(make_room(begin + bytes, begin + kWindowsPerAllocation * bytes));
  return file_->open_window(begin, bytes);
}

void AppendFile::make_room_for_synced(std::uint64_t bytes) {
  if (!may_have_room_ahead_ || syncs_of_few_ < kSyncsBeforeRoom) return;
  // Not retried on failure: appends meet the problem themselves.
  const std::uint64_t until = end_ + bytes;
  may_have_room_ahead_ = make_room(until, until + std::clamp(end_, kMinRoomForSynced, kMaxRoomForSynced)).ok();
}

/// Extends the file unless it is already this long.
Status AppendFile::make_room(std::uint64_t until, std::uint64_t allocated_until) {
  if (file_bytes_ == 0) {
    TAMIS_TRY(file_bytes_, file_->size());
  }
  if (until <= file_bytes_) return {};
  TAMIS_TRY_STATUS(file_->preallocate(allocated_until));
  file_bytes_ = allocated_until;
  return {};
}

Status AppendFile::sync() {
  TAMIS_TRY_STATUS(status_);
  // Each sync must write-protect a mapped page again, which takes longer than writing to it.
  const bool is_of_few = appends_since_sync_ <= kAppendsBeforeWindow;
  if (is_of_few) window_.reset();
  if (window_ != nullptr) window_->look_again();
  syncs_of_few_ = is_of_few ? syncs_of_few_ + 1 : 0;
  appends_since_sync_ = 0;
  status_ = file_->sync();
  if (status_.ok()) durable_end_ = end_;
  short_appends_ = 0;
  next_window_bytes_ = kMinWindowBytes;
  return status_;
}

Status AppendFile::trim() {
  TAMIS_TRY_STATUS(status_);
  window_.reset();
  TAMIS_TRY(file_bytes_, file_->size());
  if (file_bytes_ <= end_) return {};
  TAMIS_TRY_STATUS(file_->truncate(end_));
  file_bytes_ = end_;
  return {};
}

Status AppendFile::close() {
  window_.reset();
  const Status closed = file_->close();
  return status_.ok() ? closed : status_;
}

}  // namespace tamis
