#include "cli/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "cli/error.h"
#include "cli/interrupt.h"

namespace tamis::cli {
namespace {

bool is_special_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

/// An output file, closed in all cases.
class OutputFile {
 public:
  /// `name` is used in messages: users do not know the temporary file.
  OutputFile(const std::string& path, const std::string& name, int flags)
      : name_(name), descriptor_(::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666)) {
    if (descriptor_ < 0) system_error(name, "cannot create");
  }
  ~OutputFile() { ::close(descriptor_); }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes) { write_all(descriptor_, name_, bytes); }
  void sync() {
    if (::fsync(descriptor_) != 0) system_error(name_, "cannot sync");
  }

 private:
  const std::string& name_;
  int descriptor_;
};

}  // namespace

InputFile::InputFile(const std::string& path) : name_(path == "-" ? "standard input" : path) {
  descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) system_error(name_, "cannot open");
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0) system_error(name_, "cannot stat");
  if (S_ISDIR(info.st_mode)) {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
    throw CommandError(kExitInputOutput, fmt::format("{}: is a folder, not a file", name_));
  }
  is_regular_ = S_ISREG(info.st_mode);
  if (is_regular_) size_ = static_cast<std::uint64_t>(info.st_size);
}

InputFile::~InputFile() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

std::size_t InputFile::read(std::span<char> into) {
  for (;;) {
    const ssize_t count = ::read(descriptor_, into.data(), into.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) system_error(name_, "cannot read");
  }
}

std::string read_rest(InputFile& file, std::uint64_t most) {
  std::string bytes;
  for (std::size_t used = 0;;) {
    bytes.resize(used + (std::size_t{1} << 20));
    const std::size_t count = file.read(std::span(bytes).subspan(used));
    used += count;
    if (count > 0 && used <= most) continue;
    bytes.resize(used);
    return bytes;
  }
}

void write_all(int descriptor, std::string_view name, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) system_error(name, "cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_whole(const std::string& path, std::string_view bytes) {
  const DelayInterrupt until_written;
  if (path == "-") return write_all(STDOUT_FILENO, "standard output", bytes);
  if (is_special_file(path)) return OutputFile(path, path, 0).write(bytes);
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  try {
    OutputFile file(temporary, path, O_CREAT | O_TRUNC);
    file.write(bytes);
    file.sync();
    if (::rename(temporary.c_str(), path.c_str()) != 0) system_error(path, "cannot rename over");
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

}  // namespace tamis::cli
