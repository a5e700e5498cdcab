// Real processes for tests: forked, told apart, killed, waited for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "support/scratch_folder.h"  // Most children work in one.

namespace tamis::test {

/// A child that runs a function and ends; numbers go from it to its parent through a pipe.
///
/// A child that takes longer than a minute is ended by an alarm, so that no test hangs. Whoever forks has no threads,
/// or a child that takes no mutex which one of them may hold.
class ChildProcess {
 public:
  /// What the child can tell its parent. A number that was told arrives, whatever becomes of the child.
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

  /// The next number, waiting for it; none when the child has ended and all were read.
  std::optional<std::uint64_t> next();
  void kill();
  /// Waits: the exit code, or minus the signal that ended it.
  int wait();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int from_child_ = -1;
};

}  // namespace tamis::test
