// Writes a file from front to back, stays correct when calls fail, and avoids system calls if the file can be mapped.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/bytes.h"
#include "io/file_system.h"
#include "tamis/status.h"

namespace tamis {

/// Appends to a file at its own offset, and knows how far the file is durable.
///
/// Short unsynced appends are copied into a window that moves along the file (rule 7). After several of them in a row,
/// the file is extended with zeros and a window is opened at its end. If that fails, everything is written with system
/// calls.
///
/// For a writer that syncs repeatedly, appends are written into preallocated space: a sync of a file that did not grow
/// need not make its length durable.
///
/// Invariants:
///  1. A failed append leaves end() unchanged, so the next append overwrites what the failed one left behind.
///  2. After a failed sync every call returns that failure, permanently: the kernel may have dropped the pages and
///     would report a second sync as successful.
///  3. durable_end() ≤ end(), and every byte before durable_end() has been synced.
///  4. An open window lies inside the file and begins at or before end().
///  5. If a copy into the window fails, the bytes are written instead, and no further window is opened. If the file was
///     cut short, acknowledged records may be lost with it: treated as a failed sync.
///
/// Threads: one at a time.
class AppendFile {
 public:
  static constexpr std::uint64_t kMinWindowBytes = 64 << 10;
  /// Larger windows are no faster, and the append that opens one waits for all its pages.
  static constexpr std::uint64_t kMaxWindowBytes = 256 << 10;

  /// The first `end` bytes of the file exist and are durable.
  AppendFile(std::unique_ptr<WritableFile> file, std::uint64_t end)
      : file_(std::move(file)), end_(end), durable_end_(end) {}

  /// From now on the file may extend beyond its end, with zeros, and windows of at most this size may be used; none if
  /// less than the smallest.
  void allow_room_ahead(std::uint64_t most_window_bytes);

  Status append(std::span<const Bytes> pieces);
  Status append(Bytes bytes) { return append(std::span(&bytes, 1)); }
  Status sync();
  /// No appends are expected soon: closes the window and truncates the file to its end.
  Status trim();
  void drop_window() { window_.reset(); }
  /// From now on windows have at most this size. An open one that is larger is closed.
  void limit_window(std::uint64_t most_window_bytes);
  /// Makes nothing durable; must be the last call.
  Status close();

  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::uint64_t durable_end() const { return durable_end_; }
  /// Memory taken by the window.
  [[nodiscard]] std::uint64_t window_bytes() const { return window_ == nullptr ? 0 : window_->bytes(); }
  /// Success, or the permanent failure.
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
  std::uint64_t file_bytes_ = 0;         // The file has at least this length; 0: not yet known.
  bool may_have_room_ahead_ = false;     // Allowed, and no extension has failed.
  std::uint64_t most_window_bytes_ = 0;  // 0: windows are not allowed, or one failed.
  std::uint64_t next_window_bytes_ = kMinWindowBytes;
  std::uint32_t short_appends_ = 0;       // In a row, unsynced, while there was no window.
  std::uint64_t appends_since_sync_ = 0;  // Of all kinds.
  std::uint32_t syncs_of_few_ = 0;        // In a row, each of a few appends.
  Status status_;
  std::unique_ptr<FileWindow> window_;  // Destroyed before its file.
};

}  // namespace tamis
