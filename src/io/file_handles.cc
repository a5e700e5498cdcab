#include "io/file_handles.h"

#include <unistd.h>

#include <algorithm>
#include <list>
#include <unordered_map>
#include <utility>

#include "base/try.h"

namespace tamis {

using SharedFile = std::shared_ptr<const ReadableFile>;

struct FileHandles::State {
  struct Handle {
    std::uint64_t id;
    SharedFile file;
  };
  using Handles = std::list<Handle>;

  State(FileSystem& file_system, std::size_t most) : files(file_system), limit(most) {}

  FileSystem& files;
  const std::size_t limit;

  mutable Mutex mutex;
  Handles kept GUARDED_BY(mutex);  // Most recently used first.
  std::unordered_map<std::uint64_t, Handles::iterator> by_id GUARDED_BY(mutex);
  std::uint64_t closes GUARDED_BY(mutex) = 0;  // Calls of close().

  SharedFile find(std::uint64_t id) REQUIRES(mutex);
  void let_go(Handles::iterator handle, Handles& to) REQUIRES(mutex);
  SharedFile keep(std::uint64_t id, SharedFile file, std::uint64_t closes_before);
  Result<SharedFile> open_file(const std::string& path);
  bool close_unused();
};

FileHandles::FileHandles(FileSystem& files, std::size_t limit) : state_(std::make_unique<State>(files, limit)) {}
FileHandles::~FileHandles() = default;

Result<SharedFile> FileHandles::open(std::uint64_t id, const std::string& path) {
  std::uint64_t closes_before = 0;
  {
    const MutexLock lock(state_->mutex);
    if (SharedFile file = state_->find(id); file != nullptr) return file;
    closes_before = state_->closes;
  }
  TAMIS_TRY(SharedFile file, state_->open_file(path));
  return state_->keep(id, std::move(file), closes_before);
}

bool FileHandles::is_missing(const std::string& path) const {
  const Result<std::optional<std::uint64_t>> size = state_->files.file_size(path);
  return size.ok() && !*size;
}

void FileHandles::read_many(std::span<FileRead> reads) { state_->files.read_many(reads); }

void FileHandles::close(std::uint64_t id) {
  State::Handles closed;  // Outlives the lock: closing is a system call.
  const MutexLock lock(state_->mutex);
  ++state_->closes;
  const auto found = state_->by_id.find(id);
  if (found != state_->by_id.end()) state_->let_go(found->second, closed);
}

std::size_t FileHandles::open_files() const {
  const MutexLock lock(state_->mutex);
  return state_->kept.size();
}

/// Null if not open.
SharedFile FileHandles::State::find(std::uint64_t id) {
  const auto found = by_id.find(id);
  if (found == by_id.end()) return nullptr;
  kept.splice(kept.begin(), kept, found->second);
  return found->second->file;
}

/// Moves a handle to `to`, whose destructor closes it unless the file is still being read.
void FileHandles::State::let_go(Handles::iterator handle, Handles& to) {
  by_id.erase(handle->id);
  to.splice(to.end(), kept, handle);
}

/// If several threads opened the same file at once, all use the first. A file that may have been forgotten meanwhile is
/// not kept: it would never be forgotten again.
SharedFile FileHandles::State::keep(std::uint64_t id, SharedFile file, std::uint64_t closes_before) {
  Handles closed;
  const MutexLock lock(mutex);
  if (SharedFile other = find(id); other != nullptr) {
    closed.push_back({id, std::move(file)});
    return other;
  }
  if (closes != closes_before) return file;
  kept.push_front({id, file});
  by_id.emplace(id, kept.begin());
  if (kept.size() > limit) let_go(std::prev(kept.end()), closed);
  return file;
}

/// Opening a file for reading needs only a descriptor, so kOutOfSpace means EMFILE.
Result<SharedFile> FileHandles::State::open_file(const std::string& path) {
  Result<std::unique_ptr<ReadableFile>> file = files.open_readable(path);
  const bool lacks_descriptors = file.status().code() == StatusCode::kOutOfSpace;
  if (lacks_descriptors && close_unused()) file = files.open_readable(path);
  if (!file.ok()) return file.status();
  return SharedFile(*std::move(file));
}

/// Whether there were any.
bool FileHandles::State::close_unused() {
  Handles closed;
  const MutexLock lock(mutex);
  for (auto handle = kept.begin(); handle != kept.end();) {
    const auto next = std::next(handle);
    // One reference is the list's. Only find adds others, under this lock.
    if (handle->file.use_count() == 1) let_go(handle, closed);
    handle = next;
  }
  return !closed.empty();
}

std::size_t files_to_keep_open(std::size_t most) {
  const long limit = ::sysconf(_SC_OPEN_MAX);  // -1: no limit.
  return limit < 0 ? most : std::min(most, std::max<std::size_t>(static_cast<std::size_t>(limit) / 2, 1));
}

}  // namespace tamis
