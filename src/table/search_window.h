// A buffered view of a file, for searching.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "io/file_system.h"

namespace tamis {

/// The bytes of a file up to `end`; zeros beyond it and where the disk fails to return them.
///
/// Threads: one at a time. The file must outlive it.
class SearchWindow {
 public:
  /// The buffer has `bytes`, or more if more is requested at once. When it moves on, it keeps `behind` of them.
  SearchWindow(const ReadableFile& file, std::uint64_t end, std::size_t bytes, std::size_t behind)
      : file_(file), end_(end), bytes_(bytes), behind_(behind) {}

  /// Valid until the next call.
  const char* at(std::uint64_t offset, std::size_t count) {
    if (offset < begin_ || offset + count > begin_ + buffer_.size()) load(offset, count);
    return buffer_.data() + (offset - begin_);
  }
  [[nodiscard]] bool holds(std::uint64_t offset) const { return offset >= begin_ && offset < begin_ + buffer_.size(); }
  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  void load(std::uint64_t offset, std::size_t count);
  void read_page_by_page(MutableBytes to);

  const ReadableFile& file_;
  const std::uint64_t end_;
  const std::size_t bytes_;
  const std::size_t behind_;
  std::vector<char> buffer_;
  std::uint64_t begin_ = 0;  // File offset of the buffer.
  std::uint64_t bytes_read_ = 0;
};

}  // namespace tamis
