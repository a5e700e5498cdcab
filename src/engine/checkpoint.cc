// A copy of the store that costs no copying where files can be linked.
#include <utility>

#include "base/try.h"
#include "engine/engine.h"
#include "engine/link_or_copy.h"
#include "io/file_names.h"
#include "io/path.h"

namespace tamis {
/// Everything is flushed first, so the copy needs no journal (rule 21). Tables stay while they are linked.
Status Engine::checkpoint(const std::string& folder) {
  TAMIS_TRY_STATUS(check_open());
  TAMIS_TRY(const std::string path, plain_path(folder));
  TAMIS_TRY_STATUS(flush());
  TAMIS_TRY(const std::optional<std::uint64_t> file, files_.file_size(path));
  if (file || files_.list(path).ok()) return Status::invalid_argument(path + ": exists already; name a new folder");
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
    // Readers, who make no files, need its LOCK; and nobody opens the copy before it is one.
    TAMIS_TRY(const std::unique_ptr<FileLock> lock, files_.lock(lock_path(path), LockMode::kExclusive));
    for (const std::vector<Run>& level : state.shape.levels) {
      for (const Run& run : level) {
        for (const auto& table : run.tables) {
          const std::string from = table_path(directory_, table->number);
          const std::string to = table_path(path, table->number);
          TAMIS_TRY_STATUS(link_or_copy(files_, from, to));
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
