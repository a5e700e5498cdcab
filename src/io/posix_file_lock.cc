#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/try.h"
#include "io/descriptor.h"
#include "io/errno_status.h"
#include "io/path.h"
#include "io/posix_file_system.h"

namespace tamis {
namespace {

class PosixFileLock final : public FileLock {
 public:
  PosixFileLock(Descriptor file, Descriptor folder) : file_(std::move(file)), folder_(std::move(folder)) {}

 private:
  const Descriptor file_;
  const Descriptor folder_;
};

/// The beginning of a small file; empty if it cannot be read.
std::string read_small_file(int fd) {
  std::array<char, 512> buffer;
  const ssize_t count = retry_interrupted([&] { return ::pread(fd, buffer.data(), buffer.size(), 0); });
  return count > 0 ? std::string(buffer.data(), static_cast<std::size_t>(count)) : std::string();
}

std::string host_name() {
  std::array<char, 256> name = {};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

/// When the process started, in clock ticks since boot (field 22 of /proc/PID/stat): with the pid it identifies a
/// process uniquely. Empty if there is no such process.
std::string process_start(std::string_view pid) {
  const std::string path = fmt::format("/proc/{}/stat", pid);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return {};
  const std::string stat = read_small_file(file.get());
  std::size_t at = stat.rfind(')');  // The program's name may contain spaces; field 3 follows its bracket.
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string::npos) return {};
  return stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
}

/// "pid 4711 started 123456 on host": written by the lock's holder. Padded to cover any earlier text: truncating the
/// file first costs 5 ms on ext4, most of a short opening.
std::string own_description() {
  const std::string pid = fmt::format("{}", ::getpid());
  return fmt::format("{:<383}\n", fmt::format("pid {} started {} on {}", pid, process_start(pid), host_name()));
}

struct Holder {
  std::string pid;
  std::string start;
  std::string host;
};

Holder parse_holder(std::string_view text) {
  const auto word_after = [text](std::string_view label) {
    const std::size_t at = text.find(label);
    if (at == std::string_view::npos) return std::string();
    const std::string_view rest = text.substr(at + label.size());
    return std::string(rest.substr(0, rest.find_first_of(" \n")));
  };
  return {word_after("pid "), word_after("started "), word_after(" on ")};
}

/// The kernel says that the lock is held, but not by whom. The file's text does, unless a reader holds it: readers
/// write nothing.
std::string describe_holder(int fd) {
  const Holder holder = parse_holder(read_small_file(fd));
  if (holder.pid.empty()) return "locked by a process that opened it for reading";
  if (holder.host != host_name())
    return fmt::format("locked; its last writer was pid {} on {}", holder.pid, holder.host);
  if (holder.pid == fmt::format("{}", ::getpid())) return "locked by this process";
  if (process_start(holder.pid) == holder.start) return fmt::format("locked by pid {}", holder.pid);
  return fmt::format("locked; its last writer, pid {}, has exited: a child of it or a reader still holds the lock",
                     holder.pid);
}

Status write_description(const Descriptor& file, const std::string& path) {
  const std::string text = own_description();
  const ssize_t written = retry_interrupted([&] { return ::pwrite(file.get(), text.data(), text.size(), 0); });
  if (written < 0) return errno_status(path, "cannot write the lock's holder", errno);
  return {};
}

/// The folder is locked too: if the file was removed, the next process would create and lock another one. On file
/// systems that cannot lock a folder, the file alone must suffice.
Result<Descriptor> lock_folder_of(const std::string& path, bool exclusive) {
  const std::string folder = parent_directory(path);
  Descriptor opened(retry_interrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!opened.is_open()) return errno_status(folder, "cannot open", errno);
  const int how = (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
  if (retry_interrupted([&] { return ::flock(opened.get(), how); }) == 0 || errno != EWOULDBLOCK) return opened;
  return Status::busy(
      fmt::format("{}: the folder is locked, but {} is not: its holder's lock file was removed", folder, path));
}

}  // namespace

Result<std::unique_ptr<FileLock>> lock_posix_file(const std::string& path, LockMode mode) {
  const bool exclusive = mode == LockMode::kExclusive;
  const int flags = (exclusive ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC;
  Descriptor file(retry_interrupted([&] { return ::open(path.c_str(), flags, 0666); }));
  if (!file.is_open()) return errno_status(path, "cannot open", errno);
  struct flock request {};
  request.l_type = exclusive ? F_WRLCK : F_RDLCK;
  request.l_whence = SEEK_SET;  // Start 0, length 0: the whole file.
  if (retry_interrupted([&] { return ::fcntl(file.get(), F_OFD_SETLK, &request); }) != 0) {
    if (errno == EAGAIN || errno == EACCES) {
      return Status::busy(fmt::format("{}: {}", path, describe_holder(file.get())));
    }
    return errno_status(path, "cannot lock", errno);
  }
  TAMIS_TRY(Descriptor folder, lock_folder_of(path, exclusive));
  if (exclusive) TAMIS_TRY_STATUS(write_description(file, path));
  return std::unique_ptr<FileLock>(std::make_unique<PosixFileLock>(std::move(file), std::move(folder)));
}

Result<std::optional<std::int64_t>> process_that_locks(const std::string& path) {
  const Descriptor file(retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file.is_open()) {
    if (errno == ENOENT) return std::optional<std::int64_t>();
    return errno_status(path, "cannot open", errno);
  }
  struct flock request {};
  request.l_type = F_WRLCK;  // Would be refused by any other lock.
  request.l_whence = SEEK_SET;
  if (retry_interrupted([&] { return ::fcntl(file.get(), F_GETLK, &request); }) != 0) {
    return errno_status(path, "cannot ask for its lock", errno);
  }
  if (request.l_type == F_UNLCK) return std::optional<std::int64_t>();
  return std::optional<std::int64_t>(request.l_pid);
}

}  // namespace tamis
