#include "io/file_claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/try.h"
#include "io/errno_status.h"

namespace tamis {

bool FileClaim::is_named(const std::string& path) const {
  struct stat named {};
  struct stat held {};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(file_.get(), &held) == 0 && named.st_dev == held.st_dev &&
         named.st_ino == held.st_ino;
}

Result<FileClaim> FileClaim::take(const std::string& path) {
  Descriptor file(retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file.is_open()) return errno_status(path, "cannot open", errno);
  const bool is_held = retry_interrupted([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) == 0;
  if (!is_held && errno != EWOULDBLOCK) return errno_status(path, "cannot lock", errno);
  FileClaim claim(std::move(file));
  // Between opening and locking, whoever held it may have replaced it.
  if (!is_held || !claim.is_named(path)) return Status::busy(path + ": somebody else is changing this file; try again");
  return claim;
}

Status FileClaim::follow(const std::string& path) {
  if (is_named(path)) return {};
  TAMIS_TRY(*this, take(path));
  return {};
}

}  // namespace tamis
