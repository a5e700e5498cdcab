#include "process/child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/check.h"

namespace tamis::test {

void ChildProcess::Teller::tell(std::uint64_t number) const {
  TAMIS_CHECK(::write(fd_, &number, sizeof number) == sizeof number);
}

ChildProcess::ChildProcess(const Work& work) {
  std::array<int, 2> ends = {-1, -1};
  TAMIS_CHECK(::pipe(ends.data()) == 0);
  pid_ = ::fork();
  TAMIS_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    ::close(ends[0]);
    ::alarm(60);
    const int code = work(Teller(ends[1]));
    ::_exit(code);
  }
  ::close(ends[1]);
  from_child_ = ends[0];
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    kill();
    (void)wait();
  }
  ::close(from_child_);
}

std::optional<std::uint64_t> ChildProcess::next() {
  std::uint64_t number = 0;
  for (;;) {
    const ssize_t count = ::read(from_child_, &number, sizeof number);
    if (count == sizeof number) return number;
    if (count < 0 && errno == EINTR) continue;
    TAMIS_CHECK(count == 0);
    return std::nullopt;
  }
}

void ChildProcess::kill() { ::kill(pid_, SIGKILL); }

int ChildProcess::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) TAMIS_CHECK(errno == EINTR);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace tamis::test
