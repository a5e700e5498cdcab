#include "lines.h"

#include <fmt/core.h>

#include <cstring>
#include <utility>

#include "output.h"

namespace tamis::cli {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;

}  // namespace

Lines::Lines(const std::string& path, std::string_view label, std::string_view content, const CommonOptions& options)
    : content_(content),
      is_quiet_(options.quiet),
      file_(path),
      progress_(label, file_.size(), options.wants_progress()) {}

std::optional<std::string_view> Lines::next() {
  const std::optional<std::string_view> line = take_line();
  if (!line) {
    warn_about_carriage_returns();
    return std::nullopt;
  }
  ++lines_;
  if (line->ends_with('\r')) ++lines_with_carriage_return_;
  return line;
}

bool Lines::must_read() const {
  return !at_end_ && std::memchr(buffer_.data() + position_, '\n', buffer_.size() - position_) == nullptr;
}

std::string Lines::place() const { return fmt::format("{}: line {}", file_.name(), lines_); }

std::optional<std::string_view> Lines::take_line() {
  std::size_t searched = position_;
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      const std::string_view line = std::string_view(buffer_).substr(position_, end - position_);
      position_ = end + 1;
      return line;
    }
    if (at_end_) break;
    buffer_.erase(0, position_);
    position_ = 0;
    searched = buffer_.size();
    buffer_.resize(searched + kReadBytes);
    const std::size_t count = file_.read(std::span(buffer_).subspan(searched));
    buffer_.resize(searched + count);
    progress_.advance(count);
    at_end_ = count == 0;
  }
  if (position_ == buffer_.size()) return std::nullopt;
  return std::string_view(buffer_).substr(std::exchange(position_, buffer_.size()));
}

void Lines::warn_about_carriage_returns() const {
  if (lines_ == 0 || lines_with_carriage_return_ < lines_ || is_quiet_) return;
  report_warning(
      fmt::format("{}: every line ends with a carriage return, which is part of {}; if that is not meant, "
                  "remove them with tr -d '\\r'",
                  file_.name(), content_));
}

std::string_view hint_on_hex(std::string_view text) {
  if (text.ends_with('\r')) return ": it ends with a carriage return; remove those with tr -d '\\r'";
  return text.size() % 2 == 0 ? ", which --hex expects" : ", which --hex expects: two digits for each byte";
}

}  // namespace tamis::cli
