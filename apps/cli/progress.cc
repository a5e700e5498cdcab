#include "progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "numbers.h"
#include "output.h"

namespace tamis::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBarWidth = 30;

}  // namespace

Progress::Progress(std::string_view label, std::uint64_t total, const CommonOptions& options)
    : label_(label),
      total_(total),
      is_shown_(!options.quiet && !options.no_progress && ::isatty(STDERR_FILENO) == 1),
      begun_(std::chrono::steady_clock::now()),
      due_(begun_ + 1s) {}

Progress::~Progress() {
  if (is_visible_) write_to_errors("\r\033[K");
}

void Progress::show_if_due() {
  const auto now = std::chrono::steady_clock::now();
  if (now < due_) return;
  due_ = now + 100ms;
  is_visible_ = true;
  const std::string items = items_text(now);
  if (total_ == 0) {
    fmt::print(stderr, "\r\033[K{} {}", label_, items.empty() ? with_thousands(done_) : items);
  } else {
    const double part = static_cast<double>(done_) / static_cast<double>(total_);
    fmt::print(stderr, "\r\033[K{} {} {:3.0f} % {}", label_, bar(part, kBarWidth), 100 * part, items);
  }
  std::fflush(stderr);
}

std::string Progress::items_text(std::chrono::steady_clock::time_point now) const {
  if (item_name_.empty()) return {};
  const double seconds = std::chrono::duration<double>(now - begun_).count();
  const auto per_second = static_cast<std::uint64_t>(static_cast<double>(items_) / seconds);
  return fmt::format("{} {}, {}/s", with_thousands(items_), item_name_, with_thousands(per_second));
}

}  // namespace tamis::cli
