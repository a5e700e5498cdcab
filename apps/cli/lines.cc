#include "cli/lines.h"

#include <fmt/core.h>

#include <cstring>
#include <utility>

#include "cli/bytes_text.h"
#include "cli/error.h"
#include "cli/output.h"
#include "show/human_text.h"

namespace tamis::cli {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;

}  // namespace

Lines::Lines(const std::string& path, std::string_view label, const CommonOptions& options)
    : is_quiet_(options.quiet), file_(path), progress_(label, file_.size(), options.wants_progress()) {}

std::optional<std::string_view> Lines::next() {
  const std::optional<std::string_view> line = take_line();
  if (!line) return std::nullopt;
  ++number_;
  if (!warning_.empty() && line->ends_with('\r')) {
    progress_.hide();
    report_warning(fmt::format("{} ends with a carriage return, {}", place(), std::exchange(warning_, {})));
  }
  return line;
}

bool Lines::begins_with(char byte) {
  if (buffer_.empty() && !at_end_) read_more();
  return buffer_.starts_with(byte);
}

bool Lines::must_read() const {
  return !at_end_ && std::memchr(buffer_.data() + position_, '\n', buffer_.size() - position_) == nullptr;
}

std::string Lines::place(std::uint64_t number) const { return fmt::format("{}: line {}", file_.name(), number); }

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
    searched = buffer_.size() - position_;
    if (searched > longest_) {
      usage_error(
          fmt::format("{} is longer than {}, more than the longest key and value take; check for a missing line end",
                      place(number_ + 1), show::human_bytes(longest_)));
    }
    read_more();
  }
  if (position_ == buffer_.size()) return std::nullopt;
  return std::string_view(buffer_).substr(std::exchange(position_, buffer_.size()));
}

void Lines::read_more() {
  buffer_.erase(0, position_);
  position_ = 0;
  const std::size_t used = buffer_.size();
  buffer_.resize(used + kReadBytes);
  const std::size_t count = file_.read(std::span(buffer_).subspan(used));
  buffer_.resize(used + count);
  progress_.advance(count);
  at_end_ = count == 0;
}

KeyLines::KeyLines(const std::string& path, const CommonOptions& options)
    : is_hex_(options.hex), lines_(path, "reading keys", options) {
  lines_.warn_of_carriage_return("which is part of the key; if unintended, remove carriage returns with tr -d '\\r'");
}

std::optional<std::string_view> KeyLines::next() {
  const std::optional<std::string_view> line = lines_.next();
  if (!line || !is_hex_) return line;
  if (from_hex(*line, decoded_)) return decoded_;
  usage_error(fmt::format("{} is not hexadecimal{}", lines_.place(), hint_on_hex(*line)));
}

}  // namespace tamis::cli
