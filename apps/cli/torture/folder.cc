#include "cli/torture/folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "cli/error.h"
#include "cli/files.h"

namespace tamis::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "tamis torture: this folder may be removed\n";

std::string mark_path(const std::string& folder) { return folder + "/TORTURE"; }

bool has_mark(const std::string& folder) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(mark_path(folder), error))) return false;
  InputFile file(mark_path(folder));
  return read_rest(file) == kMark;
}

}  // namespace

std::string store_path(const std::string& folder) { return folder + "/store"; }
std::string checkpoint_path(const std::string& folder) { return folder + "/checkpoint"; }
std::string left_path(const std::string& folder) { return folder + "/left"; }
std::string copy_path(const std::string& folder) { return folder + "/copy"; }

void need_torture_folder(const std::string& folder) {
  if (has_mark(folder)) return;
  usage_error(fmt::format("{}: exists and was not created by 'tamis torture'; name a new folder", folder));
}

TortureFolder::TortureFolder(std::string path) : path_(std::move(path)) {
  if (path_.empty()) usage_error("DIR is empty; name a new folder");
  std::error_code error;
  if (fs::exists(fs::symlink_status(path_, error))) {
    need_torture_folder(path_);
  } else {
    if (!fs::create_directory(path_, error)) {
      throw CommandError(kExitInputOutput, fmt::format("{}: cannot create: {}", path_, error.message()));
    }
    write_whole(mark_path(path_), kMark);
  }
  mark_ = ::open(mark_path(path_).c_str(), O_RDONLY | O_CLOEXEC);
  if (mark_ < 0) system_error(mark_path(path_), "cannot open");
  if (::flock(mark_, LOCK_EX | LOCK_NB) != 0) {
    ::close(mark_);
    throw CommandError(kExitBusy, fmt::format("{}: another 'tamis torture' is running here", path_));
  }
  empty();
}

TortureFolder::~TortureFolder() { ::close(mark_); }

void TortureFolder::empty() const {
  for (const std::string& made : {store_path(path_), checkpoint_path(path_), left_path(path_), copy_path(path_)}) {
    std::error_code error;
    fs::remove_all(made, error);
    if (error) throw CommandError(kExitInputOutput, fmt::format("{}: cannot remove: {}", made, error.message()));
  }
}

void TortureFolder::remove() {
  empty();
  std::error_code ignored;
  if (std::distance(fs::directory_iterator(path_, ignored), {}) > 1) return;  // It holds a file that is not ours.
  fs::remove(mark_path(path_), ignored);
  fs::remove(path_, ignored);
}

std::vector<std::string> names_in(const std::string& store) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(store, error)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

void copy_store(const std::string& from, const std::string& to, const std::string& changed) {
  fs::remove_all(to);
  fs::create_directory(to);
  for (const std::string& name : names_in(from)) {
    const std::string source = fmt::format("{}/{}", from, name);
    const std::string target = fmt::format("{}/{}", to, name);
    std::error_code error;
    if (name.ends_with(".tms") && name != changed) {
      fs::create_hard_link(source, target, error);
      if (!error) continue;
    }
    fs::copy(source, target, fs::copy_options::recursive);
  }
}

void flip_byte(const std::string& path, std::uint64_t offset, std::uint8_t difference) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) system_error(path, "cannot open");
  char byte = 0;
  const auto at = static_cast<off_t>(offset);
  const bool is_read = ::pread(file, &byte, 1, at) == 1;
  byte = static_cast<char>(static_cast<unsigned char>(byte) + difference);
  const bool is_written = is_read && ::pwrite(file, &byte, 1, at) == 1;
  ::close(file);
  if (!is_written) system_error(path, "cannot change");
}

}  // namespace tamis::cli
