// Writing a file from front to back, with the rules that keep it honest when calls fail, and without a call where the
// file can be mapped.
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
/// Short appends that nobody syncs are copied into a window that moves along the file (rule 7): after some of them in a
/// row the file is made longer than it is written, by zeros, and a window opened at its end. Where that does not work
/// everything is written, as it is without windows.
///
/// Invariants:
///  1. A failed append leaves end() where it was, so that the next one overwrites what the failed one left behind.
///  2. After a failed sync every call returns that failure, for good: the kernel may have dropped the pages and would
///     call a second sync a success.
///  3. durable_end() ≤ end(), and every byte before durable_end() has been synced.
///  4. An open window begins at or before end(). It lies inside the file.
///
/// Threads: one at a time.
class AppendFile {
 public:
  static constexpr std::uint64_t kSmallestWindowBytes = 64 << 10;
  /// Larger ones are no faster, and the append that opens one waits for all of its pages.
  static constexpr std::uint64_t kLargestWindowBytes = 256 << 10;

  /// The first `end` bytes of the file are there and durable.
  AppendFile(std::unique_ptr<WritableFile> file, std::uint64_t end)
      : file_(std::move(file)), end_(end), durable_end_(end) {}

  /// From now on windows may be used, of at most so many bytes; less than the smallest: none.
  void allow_windows(std::uint64_t most_bytes);

  Status append(std::span<const Bytes> pieces);
  Status append(Bytes bytes) { return append(std::span(&bytes, 1)); }
  Status sync();
  /// No more appends come soon: gives back the window, and what the file has behind the end.
  Status trim();
  void drop_window() { window_.reset(); }
  /// Makes no byte durable; to be called last.
  Status close();

  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::uint64_t durable_end() const { return durable_end_; }
  /// What the window takes of memory.
  [[nodiscard]] std::uint64_t window_bytes() const { return window_ == nullptr ? 0 : window_->bytes(); }
  /// Success, or the failed sync after which nothing works any more.
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  void move_window(std::uint64_t bytes);
  Result<std::unique_ptr<FileWindow>> open_window(std::uint64_t begin, std::uint64_t bytes);

  std::unique_ptr<WritableFile> file_;
  std::uint64_t end_;
  std::uint64_t durable_end_;
  std::uint64_t file_bytes_ = 0;         // Once there was a window: the file's length.
  std::uint64_t most_window_bytes_ = 0;  // 0: there are to be none, or one could not be had.
  std::uint64_t next_window_bytes_ = kSmallestWindowBytes;
  std::uint32_t short_appends_ = 0;  // In a row, without a sync between them.
  Status status_;
  std::unique_ptr<FileWindow> window_;  // Goes before its file.
};

}  // namespace tamis
