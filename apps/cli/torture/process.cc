#include "cli/torture/process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "cli/error.h"

namespace tamis::cli {
namespace {

/// Both ends are the same program on the same machine.
struct Header {
  Message::Kind kind;
  std::uint8_t writer;
  std::uint16_t text_bytes;
  std::uint32_t unused;
  std::uint64_t number;
};

constexpr std::size_t kMaxText = PIPE_BUF - sizeof(Header);  // Pipe writes up to PIPE_BUF are atomic.

constexpr const char* kThisProgram = "/proc/self/exe";

/// Runs between fork and exec: only async-signal-safe calls.
[[noreturn]] void become_writer(pid_t parent, int pipe_end, const std::array<const char*, 6>& words) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::setpgid(0, 0);
  ::dup2(pipe_end, STDOUT_FILENO);
  ::execv(kThisProgram, const_cast<char* const*>(words.data()));
  ::_exit(kExitInputOutput);
}

}  // namespace

void tell(int descriptor, const Message& message) {
  const std::string_view text = std::string_view(message.text).substr(0, kMaxText);
  const Header header = {message.kind, message.writer, static_cast<std::uint16_t>(text.size()), 0, message.number};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += text;
  // Without a watcher there is nothing left to do; SIGPIPE ends the process.
  if (::write(descriptor, bytes.data(), bytes.size()) < 0) ::_exit(1);
}

std::optional<Message> MessageBuffer::next() {
  Header header;
  if (bytes_.size() - at_ < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes_.data() + at_, sizeof header);
  if (bytes_.size() - at_ - sizeof header < header.text_bytes) return std::nullopt;
  Message message = {header.kind, header.writer, header.number, bytes_.substr(at_ + sizeof header, header.text_bytes)};
  at_ += sizeof header + header.text_bytes;
  if (at_ > bytes_.size() / 2) {
    bytes_.erase(0, at_);
    at_ = 0;
  }
  return message;
}

TortureProcess::TortureProcess(const std::string& folder, std::uint64_t seed, std::uint64_t round) {
  const std::string seed_text = fmt::format("{}", seed);
  const std::string round_text = fmt::format("{}", round);
  const std::array<const char*, 6> words = {"tamis",           "torture-writer",   folder.c_str(),
                                            seed_text.c_str(), round_text.c_str(), nullptr};
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) system_error("pipe", "cannot create");
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) become_writer(parent, ends[1], words);
  ::close(ends[1]);
  from_ = ends[0];
  if (pid_ < 0) {
    ::close(from_);
    system_error("tamis torture-writer", "cannot start");
  }
}

TortureProcess::~TortureProcess() {
  if (pid_ > 0) {
    kill();
    (void)wait();
  }
  ::close(from_);
}

std::optional<Message> TortureProcess::next(std::chrono::microseconds patience) {
  if (auto message = messages_.next()) return message;
  if (has_ended_) return std::nullopt;
  pollfd waited = {.fd = from_, .events = POLLIN, .revents = 0};
  const timespec limit = {.tv_sec = patience.count() / 1'000'000, .tv_nsec = patience.count() % 1'000'000 * 1000};
  if (::ppoll(&waited, 1, &limit, nullptr) <= 0) return std::nullopt;  // Also after a signal.
  std::array<char, 65'536> bytes;
  const ssize_t count = ::read(from_, bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR) return std::nullopt;
  if (count < 0) system_error("pipe", "cannot read");
  has_ended_ = count == 0;
  messages_.add({bytes.data(), static_cast<std::size_t>(count)});
  return messages_.next();
}

void TortureProcess::kill() { ::kill(pid_, SIGKILL); }

int TortureProcess::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) system_error("tamis torture-writer", "cannot wait for");
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace tamis::cli
