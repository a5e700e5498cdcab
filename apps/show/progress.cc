#include "show/progress.h"

#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "show/human_text.h"

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

constexpr std::size_t kWidestBar = 30;
constexpr std::size_t kNarrowestBar = 8;

/// "0:07", "12:34" or "1:02:03".
std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::min(seconds, 359'999.0)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::uint64_t per_second(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<std::uint64_t>(static_cast<double>(count) / seconds) : 0;
}

std::string figures(const ProgressState& state, bool is_total_known) {
  std::vector<std::string> parts;
  if (!state.item_name.empty()) {
    parts.push_back(fmt::format("{} {}", with_thousands(state.items), state.item_name));
    parts.push_back(fmt::format("{}/s", with_thousands(per_second(state.items, state.seconds))));
  } else if (state.counts_bytes) {
    parts.push_back(human_bytes(state.done));
    parts.push_back(fmt::format("{}/s", human_bytes(per_second(state.done, state.seconds))));
  } else if (!is_total_known) {
    parts.push_back(with_thousands(state.done));
  }
  if (is_total_known && state.done > 0) {
    const double left = static_cast<double>(state.total - state.done) / static_cast<double>(state.done);
    parts.push_back(fmt::format("{}{} left", state.total_is_a_guess ? "about " : "", clock_text(state.seconds * left)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Progress::Progress(std::string_view label, std::uint64_t total, bool is_wanted, Unit unit)
    : state_({.label = std::string(label), .total = total, .counts_bytes = unit == Unit::kBytes}),
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
  state_.seconds = std::chrono::duration<double>(now - begun_).count();
  write(fmt::format("\r\033[K{}", progress_line(state_, columns_for_a_line())));
}

std::size_t columns_beside_typing(std::size_t columns) {
  constexpr std::size_t kTyped = 3;  // "^C" and the cursor.
  if (columns == 0) columns = 80;
  return columns - std::min(columns, kTyped);
}

std::string progress_line(const ProgressState& state, std::size_t columns) {
  const bool is_total_known = state.total > 0 && state.done <= state.total;
  const std::string tail = figures(state, is_total_known);
  std::string line(state.label);
  if (is_total_known) {
    const double part = static_cast<double>(state.done) / static_cast<double>(state.total);
    const std::string percent = fmt::format("{:3.0f} %", 100 * part);
    const std::size_t others = line.size() + percent.size() + tail.size() + 6;  // Spaces and brackets.
    const std::size_t room = columns - std::min(columns, others);
    if (room >= kNarrowestBar) line += " " + bar(part, std::min(room, kWidestBar));
    line += " " + percent;
  }
  if (!tail.empty()) line += (is_total_known ? "  " : " ") + tail;
  return line.substr(0, columns);
}

}  // namespace tamis::show
