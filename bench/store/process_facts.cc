#include "store/process_facts.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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

void for_each_file(const std::string& directory, const std::function<void(const std::string&)>& use) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) use(entry.path().string());
  }
}

}  // namespace

std::uint64_t bytes_written() { return number_in("/proc/self/io", "write_bytes:"); }

std::uint64_t anonymous_memory() { return number_in("/proc/self/status", "RssAnon:") * 1024; }

std::uint64_t major_faults() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_majflt);
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
