// Removing a store.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/try.h"
#include "engine/never_throws.h"
#include "engine/store_folder.h"
#include "io/file_names.h"
#include "io/path.h"
#include "io/posix_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

Status remove_files(FileSystem& files, const std::string& directory, const std::vector<std::string>& names) {
  for (const std::string& name : names) TAMIS_TRY_STATUS(files.remove(join_path(directory, name)));
  return files.sync_directory(directory);
}

/// The folder, if the files named like ours may be removed; an error if another program may have written them.
Result<StoreFolder> folder_to_destroy(FileSystem& files, const std::string& path) {
  TAMIS_TRY(StoreFolder folder, look_at_folder(files, path));
  if (!folder.unreadable.ok()) return folder.unreadable;
  if (folder.has_names() && !folder.may_be_destroyed()) return check_is_store(folder, path);
  return folder;
}

/// Files that are ours only by name are removed first, then CURRENT, then the rest. So a crash leaves a store, or files
/// that are provably ours, and destroy can be repeated.
Status destroy_store(const std::string& folder_path, const Environment& environment) {
  TAMIS_TRY(const std::string path, plain_path(folder_path));
  FileSystem& files = environment.files != nullptr ? *environment.files : posix_file_system();
  TAMIS_TRY(const StoreFolder before, folder_to_destroy(files, path));
  if (!before.has_names()) return {};
  TAMIS_TRY(const std::unique_ptr<FileLock> lock, files.lock(lock_path(path), LockMode::kExclusive));
  TAMIS_TRY(StoreFolder folder, folder_to_destroy(files, path));
  TAMIS_TRY_STATUS(remove_files(files, path, folder.only_named));
  const std::string current = "CURRENT";
  if (std::erase(folder.proven, current) > 0) TAMIS_TRY_STATUS(remove_files(files, path, {current}));
  TAMIS_TRY_STATUS(remove_files(files, path, folder.proven));
  if (folder.not_ours.empty()) return {};
  return Status::not_supported(
      fmt::format("{}: the store was destroyed, except {}: no tamis magic", path, fmt::join(folder.not_ours, ", ")));
}

}  // namespace

Status DB::destroy(const std::string& path, const Environment& environment) {
  return never_throws([&] { return destroy_store(path, environment); });
}

}  // namespace tamis
