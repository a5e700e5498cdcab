#include "table/search_window.h"

#include <algorithm>

namespace tamis {
namespace {

constexpr std::size_t kPageBytes = 4096;
/// Zeros behind the end, so that requests there do not move the window.
constexpr std::size_t kZerosAtEnd = std::size_t{64} << 10;

}  // namespace

void SearchWindow::load(std::uint64_t offset, std::size_t count) {
  begin_ = offset - std::min<std::uint64_t>(offset, behind_);
  const std::uint64_t to_end = end_ - std::min(end_, begin_);
  const auto useful = static_cast<std::size_t>(std::min<std::uint64_t>(bytes_, to_end + kZerosAtEnd));
  buffer_.resize(std::max(useful, static_cast<std::size_t>(offset - begin_) + count));
  const std::uint64_t there = std::min<std::uint64_t>(buffer_.size(), to_end);
  const MutableBytes all = std::as_writable_bytes(std::span(buffer_));
  const MutableBytes wanted = all.first(static_cast<std::size_t>(there));
  const Result<std::size_t> read = file_.read_at(begin_, wanted);
  bytes_read_ += wanted.size();
  if (!read.ok()) read_page_by_page(wanted);
  std::ranges::fill(all.subspan(read.ok() ? *read : wanted.size()), std::byte{0});
}

/// If the disk fails on some of the bytes, it still returns those around them.
void SearchWindow::read_page_by_page(MutableBytes to) {
  for (std::size_t at = 0; at < to.size(); at += kPageBytes) {
    const MutableBytes page = to.subspan(at, std::min(kPageBytes, to.size() - at));
    const Result<std::size_t> read = file_.read_at(begin_ + at, page);
    std::ranges::fill(page.subspan(read.ok() ? *read : 0), std::byte{0});
    bytes_read_ += page.size();
  }
}

}  // namespace tamis
