#include "cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cli/files.h"

namespace tamis::cli {
namespace {

bool has_colour(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  return ::isatty(descriptor) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

void report(std::string_view label, std::string_view message) {
  const std::string_view name = has_colour(STDERR_FILENO) ? "\033[1;31mtamis:\033[0m" : "tamis:";
  const std::string text = fmt::format("{} {}{}\n", name, label, message);
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

}  // namespace

void Output::flush() {
  const std::string text = std::exchange(buffer_, {});
  write_all(STDOUT_FILENO, "standard output", text);
}

Output& standard_output() {
  static Output output;
  return output;
}

bool output_has_colour() {
  static const bool has = has_colour(STDOUT_FILENO);
  return has;
}

std::string bold(std::string_view text) {
  return output_has_colour() ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
}

bool output_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

void print_report(std::string_view text) {
  Output& out = standard_output();
  if (!output_has_colour()) return out.write(text);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const bool is_heading = line.starts_with("level  ") || line.starts_with("where  ");
    const bool is_error = line.starts_with("ERROR");
    out.print("{}{}{}\n",
              is_heading ? "\033[1m"
              : is_error ? "\033[1;31m"
                         : "",
              line, is_heading || is_error ? "\033[0m" : "");
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

void report_error(std::string_view message) { report("", message); }
void report_warning(std::string_view message) { report("warning: ", message); }
void report_note(std::string_view message) { report("note: ", message); }

}  // namespace tamis::cli
