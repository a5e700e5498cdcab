#include "io/read_window.h"

#include <algorithm>

namespace tamis {

Result<Bytes> ReadWindow::at(std::uint64_t offset, std::uint64_t count) {
  if (offset >= file_bytes_) return Bytes();
  count = std::min(count, file_bytes_ - offset);
  if (offset < begin_ || offset + count > begin_ + buffer_.size()) {
    buffer_.resize(static_cast<std::size_t>(std::min(std::max(count, read_ahead_bytes_), file_bytes_ - offset)));
    read_ahead_bytes_ = std::min(4 * read_ahead_bytes_, kReadAheadBytes);
    const Result<std::size_t> there = file_->read_at(offset, buffer_);
    // If the file was shortened since it was opened, it ends at its new end.
    buffer_.resize(there.ok() ? *there : 0);
    begin_ = offset;
    if (!there.ok()) return there.status();
  }
  const Bytes from_offset = Bytes(buffer_).subspan(static_cast<std::size_t>(offset - begin_));
  return from_offset.first(std::min(from_offset.size(), static_cast<std::size_t>(count)));
}

Status ReadWindow::look_again() {
  const Result<std::uint64_t> bytes = file_->size();
  if (!bytes.ok()) return bytes.status();
  file_bytes_ = *bytes;
  buffer_.clear();
  read_ahead_bytes_ = kFirstReadAheadBytes;
  return {};
}

}  // namespace tamis
