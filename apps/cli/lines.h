// The lines of a file, read as they are asked for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.h"
#include "cli/files.h"
#include "show/progress.h"

namespace tamis::cli {

/// The lines of a file or of standard input. LF ends a line and nothing else does: CR is data, a last line without LF
/// counts.
class Lines {
 public:
  /// `label` is the progress bar's.
  Lines(const std::string& path, std::string_view label, const CommonOptions& options);

  /// The next line without its end, or nothing at the end of the file. Valid until the next call.
  std::optional<std::string_view> next();
  /// Warns of the first line that ends with CR, except with --quiet: "words.txt: line 1 ends with a carriage return, "
  /// followed by this text.
  void warn_of_carriage_return(std::string_view warning) { warning_ = is_quiet_ ? "" : warning; }
  /// Whether the file begins with this byte. To be asked before the first line is taken.
  bool begins_with(char byte);
  /// A longer line is a usage error, before all of it is in memory.
  void refuse_longer_than(std::uint64_t bytes) { longest_ = bytes; }
  /// Whether the next call has to wait for input: the moment to show what was done so far.
  [[nodiscard]] bool must_read() const;

  /// "words.txt: line 7", of the line that was returned last.
  [[nodiscard]] std::string place() const { return place(number_); }
  [[nodiscard]] std::string place(std::uint64_t number) const;
  /// Of the line that was returned last; 1 is the first.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] show::Progress& progress() { return progress_; }

 private:
  std::optional<std::string_view> take_line();
  /// More of the file, behind what the buffer still holds.
  void read_more();

  bool is_quiet_;
  std::string warning_;  // Empty once it was given.
  InputFile file_;
  show::Progress progress_;
  std::string buffer_;
  std::size_t position_ = 0;  // Of the next line in the buffer.
  bool at_end_ = false;
  std::uint64_t longest_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number_ = 0;
};

/// What to add to "… is not hexadecimal": why, and what to do.
std::string_view hint_on_hex(std::string_view text);

}  // namespace tamis::cli
