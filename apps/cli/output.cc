#include "output.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "files.h"

namespace tamis::cli {
namespace {

bool has_colour(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  return ::isatty(descriptor) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

void report(std::string_view label, std::string_view message) {
  if (errors_have_colour()) {
    fmt::print(stderr, "\033[1;31mtamis:\033[0m {}{}\n", label, message);
  } else {
    fmt::print(stderr, "tamis: {}{}\n", label, message);
  }
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

bool errors_have_colour() {
  static const bool has = has_colour(STDERR_FILENO);
  return has;
}

std::string bold(std::string_view text) {
  return output_has_colour() ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
}

void report_error(std::string_view message) { report("", message); }
void report_warning(std::string_view message) { report("warning: ", message); }

}  // namespace tamis::cli
