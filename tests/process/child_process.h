// Real processes for tests: forked, observed, killed, waited for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "support/scratch_folder.h"  // Most children work in one.

namespace tamis::test {

/// A child that runs a function and ends; it sends numbers to its parent through a pipe.
///
/// An alarm ends a child after a minute, so no test hangs. The forking process must have no threads, or the child must
/// take no mutex that one of them may hold.
class ChildProcess {
 public:
  /// The child's channel to its parent. A number that was sent arrives, whatever happens to the child.
  class Teller {
   public:
    explicit Teller(int fd) : fd_(fd) {}
    void tell(std::uint64_t number) const;

   private:
    int fd_;
  };
  /// The result is the exit code.
  using Work = std::function<int(const Teller& teller)>;

  explicit ChildProcess(const Work& work);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Waits for the next number; none when the child has ended and all were read.
  std::optional<std::uint64_t> next();
  void kill();
  /// Waits and returns the exit code, or minus the signal that ended the child.
  int wait();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int from_child_ = -1;
};

}  // namespace tamis::test
