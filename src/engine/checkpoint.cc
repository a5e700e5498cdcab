// A copy of the store that costs no copying where files can be linked.
#include <utility>

#include "base/try.h"
#include "engine/engine.h"
#include "io/append_file.h"
#include "io/path.h"
#include "tree/file_names.h"

namespace tamis {
namespace {

/// For file systems without links, and for a target on another one.
Status copy_file(FileSystem& files, const std::string& from, const std::string& to) {
  TAMIS_TRY(const std::unique_ptr<ReadableFile> source, files.open_readable(from));
  TAMIS_TRY(std::unique_ptr<WritableFile> target, files.open_writable(to, OpenMode::kCreate));
  AppendFile copy(std::move(target), 0);
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  while (true) {
    TAMIS_TRY(const std::size_t count, source->read_at(copy.end(), buffer));
    if (count == 0) break;
    TAMIS_TRY_STATUS(copy.append(Bytes(buffer).first(count)));
  }
  TAMIS_TRY_STATUS(copy.sync());
  return copy.close();
}

}  // namespace

/// Everything is flushed first, so the copy needs no journal (rule 21). Tables stay while they are linked.
Status Engine::checkpoint(const std::string& path) {
  TAMIS_TRY_STATUS(check_open());
  TAMIS_TRY_STATUS(flush());
  if (files_.list(path).ok()) return Status::invalid_argument(path + ": exists already; name a new folder");
  {
    MutexLock lock(state_mutex_);
    ++deletions_paused_;
  }
  ManifestState state;
  {
    MutexLock lock(tree_mutex_);
    state = manifest_->state();
  }
  state.first_journal = 0;
  const auto copy = [&]() -> Status {
    TAMIS_TRY_STATUS(files_.make_directory(path));
    TAMIS_TRY_STATUS(files_.sync_directory(parent_directory(path)));
    // Nobody opens it before it is whole; and the file has to be there for readers, who make none.
    TAMIS_TRY(const std::unique_ptr<FileLock> lock, files_.lock(lock_path(path), LockMode::kExclusive));
    for (const std::vector<Run>& level : state.shape.levels) {
      for (const Run& run : level) {
        for (const auto& table : run.tables) {
          const std::string from = table_path(directory_, table->number);
          const std::string to = table_path(path, table->number);
          if (!files_.link(from, to).ok()) TAMIS_TRY_STATUS(copy_file(files_, from, to));
        }
      }
    }
    TAMIS_TRY_STATUS(files_.sync_directory(path));
    TAMIS_TRY(const std::unique_ptr<Manifest> manifest, Manifest::create_with(files_, path, state, 1, *random_));
    return manifest->close({});
  };
  Status copied = copy();
  {
    MutexLock lock(state_mutex_);
    --deletions_paused_;
  }
  remove_obsolete_files();
  return copied;
}

}  // namespace tamis
