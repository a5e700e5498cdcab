#include "show/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "show/progress_line.h"

namespace tamis::show {
namespace {

using namespace std::chrono_literals;

/// A line as wide as the terminal would wrap and could not be overwritten.
std::size_t columns_for_a_line() {
  struct winsize size {};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
  return columns_beside_typing(is_known ? size.ws_col : 0);
}

/// Errors are ignored: nobody is watching.
void write(const std::string& text) {
  (void)std::fputs(text.c_str(), stderr);
  (void)std::fflush(stderr);
}

}  // namespace

Progress::Progress(std::string_view label, std::uint64_t total, bool is_wanted, Unit unit)
    : label_(label),
      total_(total),
      unit_(unit),
      is_shown_(is_wanted && ::isatty(STDERR_FILENO) == 1),
      begun_(std::chrono::steady_clock::now()),
      due_(begun_ + 1s) {}

Progress::~Progress() { hide(); }

void Progress::hide() {
  if (std::exchange(is_visible_, false)) write("\r\033[K");
}

void Progress::show_if_due() {
  const auto now = std::chrono::steady_clock::now();
  if (now < due_) return;
  due_ = now + 100ms;
  is_visible_ = true;
  const ProgressState state = {.label = label_,
                               .done = done_,
                               .total = total_,
                               .total_is_a_guess = total_is_a_guess_,
                               .counts_bytes = unit_ == Unit::kBytes,
                               .items = items_,
                               .item_name = item_name_,
                               .seconds = std::chrono::duration<double>(now - begun_).count()};
  write(fmt::format("\r\033[K{}", progress_line(state, columns_for_a_line())));
}

}  // namespace tamis::show
