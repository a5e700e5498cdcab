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
/// A writer that syncs again and again is written for, into room that was made ahead: a sync of a file that did not
/// become longer need not make its length durable as well.
///
/// Invariants:
///  1. A failed append leaves end() where it was, so that the next one overwrites what the failed one left behind.
///  2. After a failed sync every call returns that failure, for good: the kernel may have dropped the pages and would
///     call a second sync a success.
///  3. durable_end() ≤ end(), and every byte before durable_end() has been synced.
///  4. An open window begins at or before end(). It lies inside the file.
///  5. What could not be copied into a window is written instead, and there is no further window. If the file turns
///     out to have been cut short, records that were acknowledged may be gone with it: as after a failed sync.
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

  /// From now on the file may be longer than its end, by zeros, and windows of at most so many bytes may be used; less
  /// than the smallest: none.
  void allow_room_ahead(std::uint64_t most_window_bytes);

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
  /// Success, or the failure after which nothing works any more.
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  void move_window(std::uint64_t bytes);
  Status write_instead(std::span<const Bytes> pieces, const Status& copied);
  Result<std::unique_ptr<FileWindow>> open_window(std::uint64_t begin, std::uint64_t bytes);
  void make_room_for_synced(std::uint64_t bytes);
  Status make_room(std::uint64_t until, std::uint64_t allocated_until);

  std::unique_ptr<WritableFile> file_;
  std::uint64_t end_;
  std::uint64_t durable_end_;
  std::uint64_t file_bytes_ = 0;         // The file is at least so long; 0: nobody has asked.
  bool may_have_room_ahead_ = false;     // It could be had so far.
  std::uint64_t most_window_bytes_ = 0;  // 0: there are to be none, or one could not be had.
  std::uint64_t next_window_bytes_ = kSmallestWindowBytes;
  std::uint32_t short_appends_ = 0;       // In a row, without a sync between them, while there was no window.
  std::uint64_t appends_since_sync_ = 0;  // Of all kinds.
  std::uint32_t syncs_of_few_ = 0;        // In a row, each of a few appends.
  Status status_;
  std::unique_ptr<FileWindow> window_;  // Goes before its file.
};

}  // namespace tamis
