// A child process of this program that writes to a store until it is killed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/torture/channel.h"

namespace tamis::cli {

/// Invariants: the process ends with this object, and also when its parent ends for any reason.
///
/// Threads: one at a time.
class TortureProcess {
 public:
  /// Starts "tamis torture-writer FOLDER SEED ROUND". Ctrl-C does not reach it.
  TortureProcess(const std::string& folder, std::uint64_t seed, std::uint64_t round);
  ~TortureProcess();
  TortureProcess(const TortureProcess&) = delete;
  TortureProcess& operator=(const TortureProcess&) = delete;

  /// The next message; nullopt on timeout or after the last one: has_ended() tells which.
  std::optional<Message> next(std::chrono::microseconds patience);
  /// It closed its end of the pipe, and all its messages were read.
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
