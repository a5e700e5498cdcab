// The lock files of leveldb::Env.
#include <fcntl.h>
#include <leveldb/status.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "posix_files.h"

namespace tamis::dropin {

using leveldb::Status;

namespace {

/// The files that this process has locked: the kernel would grant it the same lock again.
struct LocksOfProcess {
  std::mutex mutex;
  std::set<std::string> names;
};

LocksOfProcess& locks_of_process() {
  static LocksOfProcess& locks = *new LocksOfProcess();
  return locks;
}

class PosixLock final : public leveldb::FileLock {
 public:
  PosixLock(std::string locked, int descriptor) : name(std::move(locked)), fd(descriptor) {}

  const std::string name;
  const int fd;
};

bool set_lock(int fd, short type) {
  struct flock request {};
  request.l_type = type;
  request.l_whence = SEEK_SET;
  return ::fcntl(fd, F_SETLK, &request) == 0;
}

}  // namespace

Status lock_file(const std::string& name, leveldb::FileLock** lock) {
  *lock = nullptr;
  const std::lock_guard guard(locks_of_process().mutex);
  if (locks_of_process().names.contains(name)) return Status::IOError("lock " + name, "already held by process");
  const int fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return errno_status(name, errno);
  if (!set_lock(fd, F_WRLCK)) {
    Status status = errno_status("lock " + name, errno);
    ::close(fd);
    return status;
  }
  locks_of_process().names.insert(name);
  *lock = new PosixLock(name, fd);
  return Status::OK();
}

Status unlock_file(leveldb::FileLock* lock) {
  const std::unique_ptr<PosixLock> held(static_cast<PosixLock*>(lock));
  const std::lock_guard guard(locks_of_process().mutex);
  const bool is_unlocked = set_lock(held->fd, F_UNLCK);
  Status status = is_unlocked ? Status::OK() : errno_status("unlock " + held->name, errno);
  locks_of_process().names.erase(held->name);
  ::close(held->fd);
  return status;
}

}  // namespace tamis::dropin
