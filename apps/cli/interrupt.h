// Ctrl-C and closed pipes.
#pragma once

namespace tamis::cli {

/// Ctrl-C now ends the program with status 130, and writing to a closed pipe ends it silently.
void install_signal_handlers();

/// Delays Ctrl-C until its destructor, so that a file is replaced completely or not at all and no temporary file
/// remains. A second Ctrl-C is not delayed. At most one exists at a time.
class DelayInterrupt {
 public:
  DelayInterrupt();
  ~DelayInterrupt();
  DelayInterrupt(const DelayInterrupt&) = delete;
  DelayInterrupt& operator=(const DelayInterrupt&) = delete;

  /// Whether a delayed Ctrl-C is pending: stop soon.
  [[nodiscard]] static bool is_pending();
};

}  // namespace tamis::cli
