// How a verb gives up: one exception, thrown where the reason is known, turned into a message and an exit
// status in main.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "tamis/status.h"

namespace tamis::cli {

/// What the shell sees; scripts rely on these numbers.
enum ExitStatus : int {
  kExitOk = 0,
  kExitNo = 1,  ///< The answer is no, or a verification failed.
  kExitUsage = 2,
  kExitInputOutput = 3,
  kExitCorruption = 4,
  kExitBusy = 5,
  kExitInterrupted = 130,
};

ExitStatus exit_status_of(StatusCode code);

/// A command that cannot go on. The message names the file and says what to do.
class CommandError : public std::exception {
 public:
  CommandError(ExitStatus exit_status, std::string message) : exit_status_(exit_status), message_(std::move(message)) {}
  explicit CommandError(const Status& status)
      : CommandError(exit_status_of(status.code()), std::string(status.message())) {}

  [[nodiscard]] ExitStatus exit_status() const { return exit_status_; }
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  ExitStatus exit_status_;
  std::string message_;
};

[[noreturn]] void usage_error(std::string message);
/// For a system call that failed just now: "path: doing: reason", out of errno, and what to do where that helps.
[[noreturn]] void system_error(std::string_view path, std::string_view doing);

/// The value, or the status as an exception.
template <typename T>
T need(Result<T> result) {
  if (!result.ok()) throw CommandError(result.status());
  return std::move(result).value();
}
inline void need(const Status& status) {
  if (!status.ok()) throw CommandError(status);
}

}  // namespace tamis::cli
