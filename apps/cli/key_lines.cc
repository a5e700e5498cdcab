#include "key_lines.h"

#include <fmt/core.h>

#include <cstring>

#include "bytes_text.h"
#include "error.h"
#include "output.h"

namespace tamis::cli {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;

}  // namespace

KeyLines::KeyLines(const std::string& path, const CommonOptions& options)
    : options_(options), file_(path), progress_("reading keys", file_.size(), options) {}

std::optional<std::string_view> KeyLines::next() {
  const std::optional<std::string_view> line = next_line();
  if (!line) {
    warn_about_carriage_returns();
    return std::nullopt;
  }
  ++lines_;
  if (line->ends_with('\r')) ++lines_with_carriage_return_;
  return options_.hex ? decode(*line) : *line;
}

bool KeyLines::must_read() const {
  return !at_end_ && std::memchr(buffer_.data() + position_, '\n', buffer_.size() - position_) == nullptr;
}

std::optional<std::string_view> KeyLines::next_line() {
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

std::string_view KeyLines::decode(std::string_view line) {
  if (from_hex(line, decoded_)) return decoded_;
  usage_error(
      fmt::format("{}: line {} is not hexadecimal{}", file_.name(), lines_,
                  line.ends_with('\r') ? ": it ends with a carriage return; remove those with tr -d '\\r'" : ""));
}

void KeyLines::warn_about_carriage_returns() const {
  if (lines_ == 0 || lines_with_carriage_return_ < lines_ || options_.quiet) return;
  report_warning(
      fmt::format("{}: every line ends with a carriage return, which is part of the key; if that is not meant, "
                  "remove them with tr -d '\\r'",
                  file_.name()));
}

std::vector<std::string> read_keys(const std::string& path, const CommonOptions& options) {
  std::vector<std::string> keys;
  KeyLines lines(path, options);
  while (const auto key = lines.next()) keys.emplace_back(*key);
  return keys;
}

std::string key_of_operand(const std::string& operand, const CommonOptions& options) {
  if (!options.hex) return operand;
  std::string key;
  if (!from_hex(operand, key)) usage_error(fmt::format("the key '{}' is not hexadecimal", operand));
  return key;
}

}  // namespace tamis::cli
