// Reads a file sequentially in large pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "io/file_system.h"

namespace tamis {

/// A file seen through a sliding buffer, which grows to the largest range asked for, never beyond the file.
///
/// Threads: one at a time.
class ReadWindow {
 public:
  ReadWindow(std::unique_ptr<ReadableFile> file, std::uint64_t file_bytes)
      : file_(std::move(file)), file_bytes_(file_bytes) {}

  /// The bytes from `offset`: `count` of them, or as many as the file has. Valid until the next call.
  Result<Bytes> at(std::uint64_t offset, std::uint64_t count);
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }

  /// Forgets what was read, because somebody may have written to the file since. The next pieces are small: there may
  /// be little that is new.
  Status look_again();
  /// Reads from the file itself, as ReadableFile::read_at does.
  Result<std::size_t> read_anew(std::uint64_t offset, MutableBytes to) const { return file_->read_at(offset, to); }

 private:
  static constexpr std::uint64_t kReadAheadBytes = 256 << 10;  // Worth the cost of a call, small beside a cache.
  static constexpr std::uint64_t kFirstReadAheadBytes = 4 << 10;

  std::unique_ptr<ReadableFile> file_;
  std::uint64_t file_bytes_;
  std::vector<std::byte> buffer_;
  std::uint64_t begin_ = 0;  // File offset of the buffer's first byte.
  std::uint64_t read_ahead_bytes_ = kReadAheadBytes;
};

}  // namespace tamis
