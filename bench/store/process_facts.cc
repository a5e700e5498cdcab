#include "store/process_facts.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

namespace tamis::bench {
namespace {

/// The number after `name` in a file of lines "name: number".
std::uint64_t number_in(const char* path, std::string_view name) {
  std::ifstream lines(path);
  for (std::string word; lines >> word;) {
    std::uint64_t number = 0;
    if (word == name && lines >> number) return number;
  }
  return 0;
}

/// A store that is open may remove some meanwhile.
void for_each_file(const std::string& directory, const std::function<void(const std::string&)>& use) {
  std::error_code error;
  std::filesystem::recursive_directory_iterator at(directory, error);
  for (; !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
    std::error_code is_gone;
    if (at->is_regular_file(is_gone)) use(at->path().string());
  }
}

}  // namespace

std::uint64_t bytes_read() { return number_in("/proc/self/io", "read_bytes:"); }

std::uint64_t bytes_written() { return number_in("/proc/self/io", "write_bytes:"); }

std::uint64_t anonymous_memory() { return number_in("/proc/self/status", "RssAnon:") * 1024; }

std::uint64_t major_faults() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_majflt);
}

std::uint64_t mapped_file_bytes(std::string_view part_of_path) {
  std::ifstream lines("/proc/self/maps");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t path = std::min(line.find('/'), line.size());
    if (line.find(part_of_path, path) != std::string::npos) return std::filesystem::file_size(line.substr(path));
  }
  return 0;
}

void trim_memory() { ::malloc_trim(0); }

std::uint64_t disk_bytes(const std::string& directory, std::string_view ending) {
  constexpr std::uint64_t kBytesPerBlock = 512;
  std::uint64_t bytes = 0;
  for_each_file(directory, [&](const std::string& path) {
    struct stat facts = {};
    if (path.ends_with(ending) && ::stat(path.c_str(), &facts) == 0)
      bytes += static_cast<std::uint64_t>(facts.st_blocks) * kBytesPerBlock;
  });
  return bytes;
}

void drop_cached_pages(const std::string& directory) {
  for_each_file(directory, [](const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    ::fdatasync(file);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  });
}

}  // namespace tamis::bench
