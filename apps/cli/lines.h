// The lines of a file, and keys, one per line, read on demand.
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

/// The lines of a file or of standard input. Only LF ends a line: CR is data. A last line without LF counts.
class Lines {
 public:
  /// `label` is for the progress bar.
  Lines(const std::string& path, std::string_view label, const CommonOptions& options);

  /// The next line without its end, or nullopt at the end of the file. Valid until the next call.
  std::optional<std::string_view> next();
  /// Warns about the first line that ends with CR, unless --quiet: "words.txt: line 1 ends with a carriage return, "
  /// followed by this text.
  void warn_of_carriage_return(std::string_view warning) { warning_ = is_quiet_ ? "" : warning; }
  /// Whether the file begins with this byte. Call it before reading the first line.
  bool begins_with(char byte);
  /// A longer line is a usage error, raised before all of it is in memory.
  void refuse_longer_than(std::uint64_t bytes) { longest_ = bytes; }
  /// Whether the next call may block on input: flush the output so far.
  [[nodiscard]] bool must_read() const;

  /// "words.txt: line 7", for the last line returned.
  [[nodiscard]] std::string place() const { return place(number_); }
  [[nodiscard]] std::string place(std::uint64_t number) const;
  /// Number of the last line returned, from 1.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] show::Progress& progress() { return progress_; }

 private:
  std::optional<std::string_view> take_line();
  /// Appends more of the file to the buffer.
  void read_more();

  bool is_quiet_;
  std::string warning_;  // Empty once reported.
  InputFile file_;
  show::Progress progress_;
  std::string buffer_;
  std::size_t position_ = 0;  // Of the next line in the buffer.
  bool at_end_ = false;
  std::uint64_t longest_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number_ = 0;
};

/// The keys of a file or of standard input, read on demand. An empty line is the empty key. With --hex, lines are
/// hexadecimal.
class KeyLines {
 public:
  KeyLines(const std::string& path, const CommonOptions& options);

  /// The next key, or nullopt at the end of the file. Valid until the next call.
  std::optional<std::string_view> next();
  /// Whether the next call may block on input: flush the answers so far.
  [[nodiscard]] bool must_read() const { return lines_.must_read(); }

 private:
  bool is_hex_;
  Lines lines_;
  std::string decoded_;
};

}  // namespace tamis::cli
