#include "io/file_handles.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <list>
#include <utility>
#include <vector>

#include "base/epoch.h"
#include "base/hash.h"
#include "base/try.h"

namespace tamis {
namespace {

using SharedFile = std::shared_ptr<const ReadableFile>;

struct Handle {
  Handle(std::uint64_t of, SharedFile opened) : id(of), file(std::move(opened)) {}

  const std::uint64_t id;
  const SharedFile file;
  std::atomic<Handle*> next = nullptr;  // In its bucket.
  std::atomic<bool> was_used = false;   // Since it was opened, or spared. Relaxed: a lost use does not matter.
};
using Handles = std::list<Handle>;

/// Handles that are found no more. Declared before the mutex is taken, so that they are closed after it is released,
/// when nobody can be about to use what was found before (rule 10).
struct Dropped {
  Dropped() = default;
  Dropped(const Dropped&) = delete;
  Dropped& operator=(const Dropped&) = delete;
  ~Dropped() {
    if (!handles.empty()) epoch::wait(epoch::retire());
  }

  Handles handles;
};

}  // namespace

/// A hash table with a fixed number of buckets. It changes under the mutex and is searched without, inside an
/// EpochGuard.
struct FileHandles::State {
  State(FileSystem& file_system, std::size_t most, ReadMode read_mode)
      : files(file_system),
        limit(most),
        mode(read_mode),
        buckets(std::bit_ceil(std::clamp<std::size_t>(most, 16, 4096))) {}

  FileSystem& files;
  const std::size_t limit;
  const ReadMode mode;
  std::vector<std::atomic<Handle*>> buckets;

  mutable Mutex mutex;
  Handles kept GUARDED_BY(mutex);              // The newest, and those spared most recently, first.
  std::uint64_t closes GUARDED_BY(mutex) = 0;  // Calls of close().

  std::atomic<Handle*>& bucket_of(std::uint64_t id) { return buckets[remix(id) & (buckets.size() - 1)]; }
  SharedFile find(std::uint64_t id);
  void add(std::uint64_t id, SharedFile file) REQUIRES(mutex);
  void let_go(Handles::iterator handle, Dropped& to) REQUIRES(mutex);
  void make_room(Dropped& dropped) REQUIRES(mutex);
  SharedFile keep(std::uint64_t id, SharedFile file, std::uint64_t closes_before) EXCLUDES(mutex);
  Result<SharedFile> open_file(const std::string& path) EXCLUDES(mutex);
  bool close_unused() EXCLUDES(mutex);
};

FileHandles::FileHandles(FileSystem& files, std::size_t limit, ReadMode mode)
    : state_(std::make_unique<State>(files, limit, mode)) {}
FileHandles::~FileHandles() = default;

Result<SharedFile> FileHandles::open(std::uint64_t id, const std::string& path) {
  if (SharedFile file = state_->find(id); file != nullptr) return file;
  std::uint64_t closes_before = 0;
  {
    const MutexLock lock(state_->mutex);
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
  Dropped dropped;
  const MutexLock lock(state_->mutex);
  ++state_->closes;
  const auto found = std::ranges::find(state_->kept, id, &Handle::id);
  if (found != state_->kept.end()) state_->let_go(found, dropped);
}

std::size_t FileHandles::open_files() const {
  const MutexLock lock(state_->mutex);
  return state_->kept.size();
}

/// Null if not open. No mutex: every read of a block that is not cached asks this.
SharedFile FileHandles::State::find(std::uint64_t id) {
  const EpochGuard guard;
  for (Handle* handle = bucket_of(id).load(); handle != nullptr; handle = handle->next.load()) {
    if (handle->id != id) continue;
    if (!handle->was_used.load(std::memory_order_relaxed)) handle->was_used.store(true, std::memory_order_relaxed);
    return handle->file;
  }
  return nullptr;
}

void FileHandles::State::add(std::uint64_t id, SharedFile file) {
  Handle& handle = kept.emplace_front(id, std::move(file));
  std::atomic<Handle*>& first = bucket_of(id);
  handle.next.store(first.load());
  first.store(&handle);
}

void FileHandles::State::let_go(Handles::iterator handle, Dropped& to) {
  std::atomic<Handle*>* link = &bucket_of(handle->id);
  while (link->load() != &*handle) link = &link->load()->next;
  link->store(handle->next.load());
  to.handles.splice(to.handles.end(), kept, handle);
}

/// For one more. Spares each handle once that was used since it was opened or last spared.
void FileHandles::State::make_room(Dropped& dropped) {
  while (kept.size() >= limit && !kept.empty()) {
    const auto oldest = std::prev(kept.end());
    if (oldest->was_used.exchange(false, std::memory_order_relaxed)) {
      kept.splice(kept.begin(), kept, oldest);
    } else {
      let_go(oldest, dropped);
    }
  }
}

/// If several threads opened the same file at once, all use the first. A file that may have been forgotten meanwhile is
/// not kept: it would never be forgotten again.
SharedFile FileHandles::State::keep(std::uint64_t id, SharedFile file, std::uint64_t closes_before) {
  Dropped dropped;
  const MutexLock lock(mutex);
  if (SharedFile other = find(id); other != nullptr) return other;
  if (limit == 0) return file;
  if (closes != closes_before) return file;
  make_room(dropped);
  add(id, file);
  return file;
}

/// Opening a file for reading needs only a descriptor, so kOutOfSpace means EMFILE.
Result<SharedFile> FileHandles::State::open_file(const std::string& path) {
  const auto open = [&] { return mode == ReadMode::kDirect ? files.open_direct(path) : files.open_readable(path); };
  Result<std::unique_ptr<ReadableFile>> file = open();
  const bool lacks_descriptors = file.status().code() == StatusCode::kOutOfSpace;
  if (lacks_descriptors && close_unused()) file = open();
  if (!file.ok()) return file.status();
  return SharedFile(*std::move(file));
}

/// Whether there were any. One that is found meanwhile is closed by its user.
bool FileHandles::State::close_unused() {
  Dropped dropped;
  const MutexLock lock(mutex);
  for (auto handle = kept.begin(); handle != kept.end();) {
    const auto next = std::next(handle);
    if (handle->file.use_count() == 1) let_go(handle, dropped);
    handle = next;
  }
  return !dropped.handles.empty();
}

std::size_t files_to_keep_open(std::size_t most) {
  const long limit = ::sysconf(_SC_OPEN_MAX);  // -1: no limit.
  return limit < 0 ? most : std::min(most, std::max<std::size_t>(static_cast<std::size_t>(limit) / 2, 1));
}

}  // namespace tamis
