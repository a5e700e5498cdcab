// What happens to a program whose store is on a failing file system. Run by scripts/check-filesystems, as root, each
// trial on its own file system:
//
//     filesystem_trials MOUNT TRIAL     shutdown, full, or copied (with `cp -r`, which shares blocks where it can)
//
// Exits with 0 when the trial passed, 77 when it does not apply to this file system.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tamis/db.h"

namespace tamis::test {
namespace {

constexpr int kSkipped = 77;
constexpr int kPuts = 200;

std::string key(int i) { return fmt::format("key{:05}", i); }

/// How many of the puts were acknowledged, and the next one's status.
struct Puts {
  int acknowledged = 0;
  Status failed;
};

Puts put_until_it_fails(DB& db, int first, int count) {
  Puts puts{.acknowledged = first, .failed = {}};
  for (; puts.acknowledged < first + count; ++puts.acknowledged) {
    puts.failed = db.put(key(puts.acknowledged), std::string(100, 'v'));
    if (!puts.failed.ok()) break;
  }
  return puts;
}

bool has_all(const DB& db, int count) {
  for (int i = 0; i < count; ++i) {
    const auto value = db.get(key(i));
    if (!value.ok() || !value->has_value()) return false;
  }
  return true;
}

int wrong(std::string_view what, const Status& status = {}) {
  fmt::print("{}{}{}\n", what, status.ok() ? "" : ": ", status.ok() ? "" : status.to_text());
  return 1;
}

/// What a file system does by itself when it cannot write its metadata.
int shut_down(const std::string& mount, DB& db) {
  ::sync();  // Cleans the pages, so the next store into one must ask the file system.
  const unsigned without_flushing_the_log = 2;
  const int folder = ::open(mount.c_str(), O_RDONLY);
  const int done = ::ioctl(folder, _IOR('X', 125, unsigned), &without_flushing_the_log);
  if (done != 0) {
    fmt::print("cannot shut it down: {}\n", std::strerror(errno));
    return kSkipped;
  }
  const Puts puts = put_until_it_fails(db, kPuts, 5000);
  if (puts.failed.code() != StatusCode::kIoError) return wrong("puts went on", puts.failed);
  fmt::print("put {} says {}\n", puts.acknowledged, puts.failed.to_text());
  return has_all(db, puts.acknowledged) ? 0 : wrong("what was acknowledged is not read");
}

void fill(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  off_t end = 0;
  for (off_t bytes = 1 << 26; bytes >= 4096; bytes /= 2) {
    while (::fallocate(file, 0, end, bytes) == 0) end += bytes;
  }
  ::fsync(file);
  ::close(file);
}

/// Puts fail while the disk is full and resume when it is not; no acknowledged write is lost.
int fill_up(const std::string& mount, DB& db) {
  fill(mount + "/fill");
  fill(mount + "/more");
  ::sync();
  Puts puts = put_until_it_fails(db, kPuts, 400'000);
  if (puts.failed.code() != StatusCode::kOutOfSpace) return wrong("a full disk", puts.failed);
  fmt::print("put {} says {}\n", puts.acknowledged, puts.failed.to_text());
  if (!has_all(db, puts.acknowledged)) return wrong("what was acknowledged is not read");
  if (::unlink((mount + "/fill").c_str()) != 0) return wrong("unlink");
  ::sync();
  puts = put_until_it_fails(db, puts.acknowledged, 1000);
  if (!puts.failed.ok()) return wrong("with room again", puts.failed);
  if (const Status closed = db.close(); !closed.ok()) return wrong("close", closed);
  const Result<DB> again = DB::open(mount + "/store");
  if (!again.ok()) return wrong("opened again", again.status());
  return has_all(*again, puts.acknowledged) ? 0 : wrong("what was acknowledged is gone");
}

int copy_and_fill_up(const std::string& mount, DB& db) {
  ::sync();
  const std::string copy = fmt::format("cp -r '{0}/store' '{0}/backup'", mount);
  if (std::system(copy.c_str()) != 0) return wrong("cp");
  return fill_up(mount, db);
}

int run(const std::string& mount, std::string_view trial) {
  Options options;
  options.memory_bytes = 16 << 20;
  Result<DB> db = DB::open(mount + "/store", options);
  if (!db.ok()) return wrong("open", db.status());
  if (const Puts puts = put_until_it_fails(*db, 0, kPuts); !puts.failed.ok()) return wrong("put", puts.failed);
  if (trial == "shutdown") return shut_down(mount, *db);
  if (trial == "full") return fill_up(mount, *db);
  if (trial == "copied") return copy_and_fill_up(mount, *db);
  return wrong("no such trial");
}

}  // namespace
}  // namespace tamis::test

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const pid_t child = ::fork();
  if (child == 0) {
    const int code = tamis::test::run(arguments[1], arguments[2]);
    (void)std::fflush(stdout);
    ::_exit(code);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return 2;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  fmt::print("the program was killed: {}\n", ::strsignal(WTERMSIG(status)));
  return 1;
}
