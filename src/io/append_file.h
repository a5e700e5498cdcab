// Writing a file from front to back, with the two rules that keep it honest when calls fail.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/bytes.h"
#include "io/file_system.h"
#include "tamis/status.h"

namespace tamis {

/// Appends to a file at an offset of its own, and knows how far the file is durable.
///
/// Invariants:
///  1. A failed append leaves end() where it was, so that the next one overwrites what the failed one left behind.
///  2. After a failed sync every call returns that failure, for good: the kernel may have dropped the pages and would
///     call a second sync a success.
///  3. durable_end() ≤ end(), and every byte before durable_end() has been synced.
///
/// Threads: one at a time.
class AppendFile {
 public:
  /// The first `end` bytes of the file are there and durable.
  AppendFile(std::unique_ptr<WritableFile> file, std::uint64_t end)
      : file_(std::move(file)), end_(end), durable_end_(end) {}

  Status append(std::span<const Bytes> pieces);
  Status append(Bytes bytes) { return append(std::span(&bytes, 1)); }
  Status sync();
  /// Makes no byte durable; to be called last.
  Status close();

  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::uint64_t durable_end() const { return durable_end_; }
  /// Success, or the failed sync after which nothing works any more.
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  std::unique_ptr<WritableFile> file_;
  std::uint64_t end_;
  std::uint64_t durable_end_;
  Status status_;
};

}  // namespace tamis
