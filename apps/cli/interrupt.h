// Ctrl-C and closed pipes.
#pragma once

namespace tamis::cli {

/// From now on Ctrl-C ends the program with status 130, and writing into a closed pipe ends it without a word.
void install_signal_handlers();

/// While one lives, Ctrl-C waits for its end, so that a file is replaced wholly or not at all and no temporary one
/// stays behind. A second Ctrl-C does not wait. One lives at a time.
class DelayInterrupt {
 public:
  DelayInterrupt();
  ~DelayInterrupt();
  DelayInterrupt(const DelayInterrupt&) = delete;
  DelayInterrupt& operator=(const DelayInterrupt&) = delete;

  /// Whether Ctrl-C is waiting: time to come to an end.
  [[nodiscard]] static bool is_pending();
};

}  // namespace tamis::cli
