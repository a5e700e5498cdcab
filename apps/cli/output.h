// What the command says: results on standard output, everything else on standard error.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace tamis::cli {

/// Standard output, buffered. Unlike a stream it cannot forget an error: a full disk is an exception.
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
  /// Hands everything to the system. main does it at the end of every verb.
  void flush();
  /// Forgets what was not yet written.
  void discard() { buffer_.clear(); }

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{64} << 10;
  std::string buffer_;
};

Output& standard_output();

/// Whether to paint: a terminal, and NO_COLOR is not set.
bool output_has_colour();
bool output_is_terminal();
bool errors_have_colour();
/// `text` in bold where standard output has colour.
std::string bold(std::string_view text);

/// A report of the library onto standard output: the headings of its tables in bold and its errors in red, where
/// standard output has colour.
void print_report(std::string_view text);

/// Onto standard error. When that cannot be written there is nobody left to tell; the exit status still speaks.
void write_to_errors(std::string_view text);
/// "tamis: message" on standard error.
void report_error(std::string_view message);
/// "tamis: warning: message" on standard error.
void report_warning(std::string_view message);
/// "tamis: note: message" on standard error: nothing is wrong, but something could be better.
void report_note(std::string_view message);

}  // namespace tamis::cli
