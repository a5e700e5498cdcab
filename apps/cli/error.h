// How a verb fails: one exception, thrown where the cause is known. main turns it into a message and an exit status.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "tamis/status.h"

namespace tamis::cli {

/// Exit statuses; scripts rely on these numbers.
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

/// A command that failed. The message names the file and says what to do.
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
/// For a system call that just failed: "path: doing: reason", from errno, with advice where there is some.
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
