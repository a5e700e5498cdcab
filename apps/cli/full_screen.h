// A terminal taken over for a while.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tamis::cli {

/// Shows frames in place of what the terminal showed, and reads keys. The destructor leaves it as it was. Needs a
/// terminal at standard output; without one at standard input there are no keys.
///
/// Threads: one. At most one exists at a time.
class FullScreen {
 public:
  FullScreen();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  struct Size {
    std::size_t rows = 24;
    std::size_t columns = 80;
  };
  /// Of this moment.
  [[nodiscard]] static Size size();
  static void show(std::string_view frame);
  /// Waits so long for a key. Nothing if there was none, and after Ctrl-C.
  std::optional<char> wait_for_key(std::chrono::milliseconds time);

 private:
  termios before_ = {};  // Set together with the next one.
  bool has_keys_ = false;
};

}  // namespace tamis::cli
