#include "io/append_file.h"

#include <algorithm>

#include "base/try.h"

namespace tamis {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
/// Opening a window costs as much as some dozen writes, and what is ready but not used is written out by a sync.
constexpr std::uint32_t kAppendsBeforeWindow = 16;
/// For more than this a system call is cheap beside the copy.
constexpr std::uint64_t kLongestCopy = 16 << 10;
/// The file grows by so many windows at once.
constexpr std::uint64_t kWindowsPerAllocation = 4;

}  // namespace

void AppendFile::allow_windows(std::uint64_t most_bytes) {
  most_bytes = std::min(most_bytes, kLargestWindowBytes) / kPageBytes * kPageBytes;
  most_window_bytes_ = most_bytes < kSmallestWindowBytes ? 0 : most_bytes;
}

Status AppendFile::append(std::span<const Bytes> pieces) {
  TAMIS_TRY_STATUS(status_);
  std::uint64_t bytes = 0;
  for (const Bytes piece : pieces) bytes += piece.size();
  if (window_ == nullptr || bytes > window_->end() - end_) move_window(bytes);
  if (window_ != nullptr) {
    window_->copy_in(end_, pieces);
  } else {
    TAMIS_TRY_STATUS(file_->write_at(end_, pieces));
  }
  end_ += bytes;
  return {};
}

/// Leaves a window with room for the next append, or none.
void AppendFile::move_window(std::uint64_t bytes) {
  window_.reset();
  short_appends_ = bytes > kLongestCopy ? 0 : short_appends_ + 1;
  if (most_window_bytes_ == 0 || short_appends_ <= kAppendsBeforeWindow) return;
  Result<std::unique_ptr<FileWindow>> window =
      open_window(end_ / kPageBytes * kPageBytes, std::min(next_window_bytes_, most_window_bytes_));
  if (!window.ok()) {
    most_window_bytes_ = 0;  // Not tried again: the appends themselves meet what is wrong, and can say so.
    return;
  }
  window_ = *std::move(window);
  next_window_bytes_ = std::min(2 * next_window_bytes_, kLargestWindowBytes);
}

Result<std::unique_ptr<FileWindow>> AppendFile::open_window(std::uint64_t begin, std::uint64_t bytes) {
  if (file_bytes_ == 0) {
    TAMIS_TRY(file_bytes_, file_->size());
  }
  if (begin + bytes > file_bytes_) {
    const std::uint64_t longer = begin + kWindowsPerAllocation * bytes;
    TAMIS_TRY_STATUS(file_->preallocate(longer));
    file_bytes_ = longer;
  }
  return file_->open_window(begin, bytes);
}

Status AppendFile::sync() {
  TAMIS_TRY_STATUS(status_);
  status_ = file_->sync();
  if (status_.ok()) durable_end_ = end_;
  short_appends_ = 0;
  next_window_bytes_ = kSmallestWindowBytes;
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
