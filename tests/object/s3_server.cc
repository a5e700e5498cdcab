#include "object/s3_server.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/check.h"
#include "support/source_file.h"

namespace tamis::test {

S3Server::S3Server(Etags etags) {
  const std::string script = source_file("tests/object/s3_server.py");
  const char* const wanted = etags == Etags::kBare ? "bare" : "quoted";
  std::array<int, 2> in = {-1, -1};
  std::array<int, 2> out = {-1, -1};
  TAMIS_CHECK(::pipe2(in.data(), O_CLOEXEC) == 0 && ::pipe2(out.data(), O_CLOEXEC) == 0);
  pid_ = ::fork();
  TAMIS_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    if (::dup2(in[0], STDIN_FILENO) < 0 || ::dup2(out[1], STDOUT_FILENO) < 0) ::_exit(126);
    ::execlp("python3", "python3", script.c_str(), "--etags", wanted, nullptr);
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  to_server_ = in[1];
  from_server_ = out[0];
  port_ = read_line();
}

S3Server::~S3Server() {
  ::close(to_server_);  // It ends when its input does.
  while (::waitpid(pid_, nullptr, 0) < 0) TAMIS_CHECK(errno == EINTR);
  ::close(from_server_);
}

std::string S3Server::read_line() {
  std::string line;
  for (char next = 0;;) {
    const ssize_t count = ::read(from_server_, &next, 1);
    if (count < 0 && errno == EINTR) continue;
    TAMIS_CHECK(count == 1);  // Otherwise the server has failed: see what it wrote.
    if (next == '\n') return line;
    line += next;
  }
}

std::string S3Server::command(const std::string& line) {
  const std::string sent = line + "\n";
  TAMIS_CHECK(::write(to_server_, sent.data(), sent.size()) == static_cast<ssize_t>(sent.size()));
  return read_line();
}

S3Settings S3Server::settings() const {
  S3Settings settings;
  settings.bucket = "test";
  settings.prefix = "some prefix/a+b";
  settings.endpoint = endpoint();
  settings.region = "here";
  settings.access_key = "key";
  settings.secret_key = "secret";
  settings.deadline = std::chrono::seconds(5);
  settings.try_limit = std::chrono::seconds(2);
  return settings;
}

}  // namespace tamis::test
