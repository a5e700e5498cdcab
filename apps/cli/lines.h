// The lines of a file, read as they are asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "command_line.h"
#include "files.h"
#include "show/progress.h"

namespace tamis::cli {

/// The lines of a file or of standard input. LF ends a line and nothing else does: CR is data, a last line without LF
/// counts. When every line turned out to end with CR, the end says so once, as a warning.
class Lines {
 public:
  /// `content`: what a line holds, for the warning ("the key").
  Lines(const std::string& path, std::string_view label, std::string_view content, const CommonOptions& options);

  /// The next line without its end, or nothing at the end of the file. Valid until the next call.
  std::optional<std::string_view> next();
  /// Whether the next call has to wait for input: the moment to show what was done so far.
  [[nodiscard]] bool must_read() const;

  /// "words.txt: line 7", of the line that was returned last.
  [[nodiscard]] std::string place() const;
  [[nodiscard]] show::Progress& progress() { return progress_; }

 private:
  std::optional<std::string_view> take_line();
  void warn_about_carriage_returns() const;

  std::string content_;
  bool is_quiet_;
  InputFile file_;
  show::Progress progress_;
  std::string buffer_;
  std::size_t position_ = 0;  // Of the next line in the buffer.
  bool at_end_ = false;
  std::uint64_t lines_ = 0;
  std::uint64_t lines_with_carriage_return_ = 0;
};

/// What to add to "… is not hexadecimal": why, and what to do.
std::string_view hint_on_hex(std::string_view text);

}  // namespace tamis::cli
