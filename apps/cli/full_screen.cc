#include "cli/full_screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

#include "cli/output.h"

namespace tamis::cli {
namespace {

// The other screen of the terminal, and no cursor; as in terminfo's smcup and civis for xterm.
constexpr std::string_view kBegin = "\033[?1049h\033[?25l";
constexpr std::string_view kEnd = "\033[?25h\033[?1049l";

}  // namespace

FullScreen::FullScreen() : has_keys_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
  if (has_keys_) {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    keys.c_cc[VSUSP] = _POSIX_VDISABLE;  // Ctrl-Z would leave the terminal like this.
    ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  standard_output().write(kBegin);
  standard_output().flush();
}

FullScreen::~FullScreen() {
  // Not through Output, which throws when the terminal is gone.
  (void)!::write(STDOUT_FILENO, kEnd.data(), kEnd.size());
  if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

FullScreen::Size FullScreen::size() {
  winsize window = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row == 0 || window.ws_col == 0) return {};
  return {window.ws_row, window.ws_col};
}

/// Line by line over the frame before, so that nothing flickers.
void FullScreen::show(std::string_view frame) {
  std::string text = "\033[H";
  while (!frame.empty()) {
    const std::string_view line = frame.substr(0, frame.find('\n'));
    frame.remove_prefix(line.size() == frame.size() ? frame.size() : line.size() + 1);
    text += line;
    text += frame.empty() ? "\033[K" : "\033[K\r\n";
  }
  text += "\033[J";
  standard_output().write(text);
  standard_output().flush();
}

std::optional<char> FullScreen::wait_for_key(std::chrono::milliseconds time) {
  pollfd keys = {.fd = has_keys_ ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0};
  if (::poll(&keys, 1, static_cast<int>(time.count())) <= 0) return std::nullopt;
  char key = 0;
  if (::read(STDIN_FILENO, &key, 1) == 1) return key;
  has_keys_ = false;  // The terminal is gone.
  return 'q';
}

}  // namespace tamis::cli
