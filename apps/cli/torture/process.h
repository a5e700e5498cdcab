// A process of this same program, which writes a store until it is killed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/torture/channel.h"

namespace tamis::cli {

/// Invariants: when this is gone, so is the process; it also ends when its parent does, whatever the reason.
///
/// Threads: one at a time.
class TortureProcess {
 public:
  /// Starts "tamis torture-writer FOLDER SEED ROUND". Ctrl-C does not reach it.
  TortureProcess(const std::string& folder, std::uint64_t seed, std::uint64_t round);
  ~TortureProcess();
  TortureProcess(const TortureProcess&) = delete;
  TortureProcess& operator=(const TortureProcess&) = delete;

  /// The next message; nothing when none came in time, or none will come any more: has_ended() tells.
  std::optional<Message> next(std::chrono::microseconds patience);
  /// It closed its end of the pipe, and all that it said was read.
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  void kill();
  /// The exit status, or minus the signal that ended it.
  int wait();

 private:
  pid_t pid_ = -1;
  int from_ = -1;
  bool has_ended_ = false;
  MessageBuffer messages_;
};

}  // namespace tamis::cli
