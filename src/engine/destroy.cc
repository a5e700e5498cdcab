// Removing a store.
#include "base/try.h"
#include "engine/never_throws.h"
#include "engine/repair.h"
#include "io/path.h"
#include "io/posix_file_system.h"
#include "tamis/db.h"
#include "tree/file_names.h"

namespace tamis {
namespace {

/// CURRENT goes first: what a crash leaves behind is no store, and can be destroyed again.
Status destroy_store(const std::string& path, const Environment& environment) {
  FileSystem& files = environment.files != nullptr ? *environment.files : posix_file_system();
  TAMIS_TRY(const std::vector<DirectoryEntry> entries, files.list(path));
  TAMIS_TRY(const std::unique_ptr<FileLock> lock, files.lock(lock_path(path), LockMode::kExclusive));
  TAMIS_TRY(const std::optional<std::uint64_t> current, files.file_size(current_path(path)));
  if (current) TAMIS_TRY_STATUS(files.remove(current_path(path)));
  TAMIS_TRY_STATUS(files.sync_directory(path));
  for (const DirectoryEntry& entry : entries) {
    const std::optional<FileName> name = parse_file_name(entry.name);
    if (!name || entry.is_directory || name->kind == FileKind::kCurrent || name->kind == FileKind::kLock) continue;
    TAMIS_TRY_STATUS(files.remove(join_path(path, entry.name)));
  }
  return files.sync_directory(path);
}

}  // namespace

Result<RepairReport> DB::repair(const std::string& path, bool dry_run, const Environment& environment,
                                const Progress& progress) {
  return never_throws([&] { return repair_store(path, dry_run, environment, progress); });
}

Status DB::destroy(const std::string& path, const Environment& environment) {
  return never_throws([&] { return destroy_store(path, environment); });
}

}  // namespace tamis
