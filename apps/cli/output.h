// Output: results on standard output, everything else on standard error.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace tamis::cli {

/// Standard output, buffered. Errors are never lost: a full disk throws.
class Output {
 public:
  void write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kFlushBytes) flush();
  }
  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    write(fmt::format(format, std::forward<Args>(args)...));
  }
  /// Writes everything out. main calls it after every verb.
  void flush();
  /// Discards what was not yet written.
  void discard() { buffer_.clear(); }

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{64} << 10;
  std::string buffer_;
};

Output& standard_output();

/// Whether to use colour: a terminal, and NO_COLOR is not set.
bool output_has_colour();
bool output_is_terminal();
/// `text` in bold if standard output has colour.
std::string bold(std::string_view text);

/// Prints a report of the library, with table headings in bold and errors in red if standard output has colour.
void print_report(std::string_view text);

/// "tamis: message" on standard error. A failure to write is ignored; the exit status still tells.
void report_error(std::string_view message);
/// "tamis: warning: message" on standard error.
void report_warning(std::string_view message);
/// "tamis: note: message" on standard error: nothing is wrong, but something could be better.
void report_note(std::string_view message);

}  // namespace tamis::cli
