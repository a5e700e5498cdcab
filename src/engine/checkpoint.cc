#include "engine/checkpoint.h"

#include <memory>
#include <optional>

#include "base/try.h"
#include "engine/link_or_copy.h"
#include "io/file_names.h"
#include "io/path.h"

namespace tamis {
namespace {

/// The manifest's name is durable first: a half-copied table proves nothing, but the manifest proves that the folder is
/// ours, and destroy may remove it.
Status copy_tables_to(const StoreContext& context, const ManifestState& state, const std::string& path) {
  TAMIS_TRY_STATUS(context.files.sync_directory(path));
  for (const std::uint64_t number : table_numbers(state)) {
    TAMIS_TRY_STATUS(link_or_copy(context.files, table_path(context.directory, number), table_path(path, number)));
  }
  for (const std::uint64_t number : value_file_numbers(state)) {
    TAMIS_TRY_STATUS(
        link_or_copy(context.files, value_file_path(context.directory, number), value_file_path(path, number)));
  }
  return context.files.sync_directory(path);
}

Status write_store(const StoreContext& context, const ManifestState& state, const std::string& path) {
  FileSystem& files = context.files;
  TAMIS_TRY_STATUS(files.make_directory(path));
  TAMIS_TRY_STATUS(files.sync_directory(parent_directory(path)));
  // Readers, who make no files, need its LOCK; and nobody opens the copy before it is complete.
  TAMIS_TRY(const std::unique_ptr<FileLock> lock, files.lock(lock_path(path), LockMode::kExclusive));
  const auto copy = [&] { return copy_tables_to(context, state, path); };
  TAMIS_TRY(const std::unique_ptr<Manifest> manifest,
            Manifest::create_with(files, path, state, 1, *context.random, copy));
  return manifest->close({});
}

}  // namespace

Checkpoint::Checkpoint(const Catalog& catalog, Keyspaces& keyspaces) : keyspaces_(keyspaces) {
  keyspaces_.pause_deletions();
  catalog.inspect([&](const ManifestState& current) { state_ = current; });
  state_.first_journal = 0;
  state_.flushed_sequence = newest_flushed_sequence_of(state_);
}

Checkpoint::~Checkpoint() {
  keyspaces_.resume_deletions();
  keyspaces_.remove_obsolete_files();
}

Status Checkpoint::copy_to(const StoreContext& context, const std::string& path) const {
  TAMIS_TRY(const std::optional<std::uint64_t> file, context.files.file_size(path));
  if (file || context.files.list(path).ok()) {
    return Status::invalid_argument(path + ": exists already; name a new folder");
  }
  return write_store(context, state_, path);
}

}  // namespace tamis
