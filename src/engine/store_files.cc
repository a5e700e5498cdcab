#include "engine/store_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/try.h"
#include "engine/store_folder.h"
#include "io/file_names.h"
#include "io/path.h"

namespace tamis {
namespace {

/// Makes the folder and every one above it that is missing.
Status make_directories(FileSystem& files, const std::string& path) {
  Status listed = files.list(path).status();
  if (listed.ok()) return {};
  TAMIS_TRY(const std::optional<std::uint64_t> size, files.file_size(path));
  if (size) return listed;  // Something is there: a file, or a folder of somebody else's.
  const std::string parent = parent_directory(path);
  if (parent != path) TAMIS_TRY_STATUS(make_directories(files, parent));
  TAMIS_TRY_STATUS(files.make_directory(path));
  return files.sync_directory(parent);
}

/// The paths, given the state of the manifest.
Result<std::vector<std::string>> redundant_files(const StoreContext& context, const Catalog& catalog) {
  const std::string& directory = context.directory;
  TAMIS_TRY(const StoreFiles found, StoreFiles::list(context.files, directory));
  std::vector<std::string> redundant;
  for (const std::string& name : found.temporaries) redundant.push_back(join_path(directory, name));
  for (const std::uint64_t number : found.manifests) {
    if (number < catalog.manifest_number()) redundant.push_back(manifest_path(directory, number));
  }
  catalog.inspect([&](const ManifestState& state) {
    const auto add_unlisted = [&](const auto& numbers, const std::vector<std::uint64_t>& live, auto path_of) {
      for (const std::uint64_t number : numbers) {
        if (number < state.reserved_numbers && !std::ranges::binary_search(live, number)) {
          redundant.push_back(path_of(directory, number));
        }
      }
    };
    add_unlisted(found.tables, table_numbers(state), table_path);
    add_unlisted(found.value_files, value_file_numbers(state), value_file_path);
    for (const std::uint64_t number : found.journals) {
      if (number < state.first_journal) redundant.push_back(journal_path(directory, number));
    }
  });
  return redundant;
}

}  // namespace

Result<StoreFiles> StoreFiles::list(FileSystem& files, const std::string& directory) {
  TAMIS_TRY(const std::vector<DirectoryEntry> entries, files.list(directory));
  StoreFiles found;
  for (const DirectoryEntry& entry : entries) {
    const std::optional<FileName> name = parse_file_name(entry.name);
    if (!name || entry.is_directory) continue;
    if (name->kind == FileKind::kCurrent) found.has_current = true;
    if (name->kind == FileKind::kCounters) found.has_counters = true;
    if (name->kind == FileKind::kJournal) found.journals.push_back(name->number);
    if (name->kind == FileKind::kTable) found.tables.push_back(name->number);
    if (name->kind == FileKind::kValues) found.value_files.push_back(name->number);
    if (name->kind == FileKind::kManifest) found.manifests.push_back(name->number);
    if (name->kind == FileKind::kTemporary) found.temporaries.push_back(entry.name);
  }
  std::ranges::sort(found.journals);
  std::ranges::sort(found.tables);
  return found;
}

Status StoreFiles::check_tables_are_there(const ManifestState& state, const std::string& directory) const {
  for (const std::uint64_t number : table_numbers(state)) {
    if (!std::ranges::binary_search(tables, number)) {
      return Status::corruption(
          fmt::format("{}: the table is missing; 'tamis repair' goes on without it", table_path(directory, number)));
    }
  }
  return {};
}

Result<std::unique_ptr<FileLock>> lock_folder(const StoreContext& context) {
  const Options& options = context.options;
  const std::string& directory = context.directory;
  const bool may_create = !options.read_only && options.create_if_missing;
  if (may_create) TAMIS_TRY_STATUS(make_directories(context.files, directory));
  TAMIS_TRY_STATUS(check_may_be_opened(context.files, directory));
  TAMIS_TRY(const StoreFiles found, StoreFiles::list(context.files, directory));
  if (!found.has_current && (!found.tables.empty() || !found.journals.empty())) {
    return Status::corruption(directory +
                              ": CURRENT is missing, but files of a store are here; 'tamis repair' can make a new one");
  }
  if (!found.has_current && !may_create) return Status::io_error(directory + ": no store is here");
  return context.files.lock(lock_path(directory), options.read_only ? LockMode::kShared : LockMode::kExclusive);
}

Status check_direct_reads(const StoreContext& context) {
  return context.files.open_direct(current_path(context.directory)).status();
}

Status check_can_be_followed(const StoreContext& context) {
  TAMIS_TRY_STATUS(check_may_be_opened(context.files, context.directory));
  TAMIS_TRY(const std::optional<std::uint64_t> size, context.files.file_size(current_path(context.directory)));
  return size ? Status() : Status::io_error(context.directory + ": no store is here");
}

/// What was read of the manifest may not be durable yet, and nothing may be deleted because of it before it is: so the
/// manifest is committed first. That removes temporary files by itself, hence the second look.
Status remove_redundant_files(const StoreContext& context, Catalog& catalog) {
  TAMIS_TRY(std::vector<std::string> redundant, redundant_files(context, catalog));
  if (redundant.empty()) return {};
  TAMIS_TRY_STATUS(catalog.commit({}, [](const ManifestState&) {}));
  TAMIS_TRY(redundant, redundant_files(context, catalog));
  for (const std::string& path : redundant) TAMIS_TRY_STATUS(context.files.remove(path));
  return {};
}

}  // namespace tamis
