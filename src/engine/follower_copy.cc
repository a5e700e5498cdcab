// A copy of a store that another process writes.
#include <utility>

#include "base/try.h"
#include "engine/follower.h"
#include "engine/link_or_copy.h"
#include "engine/store.h"
#include "io/file_names.h"
#include "io/path.h"
#include "journal/journal_writer.h"

namespace tamis {

Status Follower::checkpoint(const std::string& path) {
  FileSystem& files = context_.files;
  TAMIS_TRY(const std::optional<std::uint64_t> file, files.file_size(path));
  if (file || files.list(path).ok()) return Status::invalid_argument(path + ": exists already; name a new folder");
  TAMIS_TRY_STATUS(files.make_directory(path));
  TAMIS_TRY_STATUS(files.sync_directory(parent_directory(path)));
  {
    // Nobody opens the copy before it is complete.
    TAMIS_TRY(const std::unique_ptr<FileLock> lock, files.lock(lock_path(path), LockMode::kExclusive));
    MutexLock one_at_a_time(mutex_);
    TAMIS_TRY_STATUS(attempt([&](const Current& current) REQUIRES(mutex_) { return copy_once(current, path); }));
  }
  Options options = context_.options;
  options.read_only = options.follows = options.create_if_missing = false;
  TAMIS_TRY(const std::shared_ptr<Store> copy, Store::open(path, options, context_.environment));
  TAMIS_TRY_STATUS(copy->flush());
  return copy->close(true);
}

/// Tables whose names are gone are read through the descriptors that are held. The journal is one, whatever the writer
/// has: records that are in tables already do no harm (rule 34).
Status Follower::copy_once(const Current& current, const std::string& path) {
  TAMIS_TRY(ManifestReader manifest, ManifestReader::open(context_.files, context_.directory, current));
  TAMIS_TRY_STATUS(manifest.read_durable(current));
  TAMIS_TRY(ManifestState state, manifest.state(current));
  TAMIS_TRY(JournalTail tail, open_journals(state, current.journal_end));
  FollowedView view(std::move(tail));
  TAMIS_TRY_STATUS(view.take(state, keyspaces_));
  TAMIS_TRY_STATUS(open_tables(view));
  state.first_journal = state.reserved_numbers++;
  const std::string journal_name = journal_path(path, state.first_journal);
  const JournalHeader header{.kind = JournalKind::kWrites,
                             .store_id = state.identity.store_id,
                             .number = state.first_journal,
                             .salt = context_.random->next(),
                             .first_sequence = state.flushed_sequence + 1,
                             .term = state.term,
                             .features = state.features};
  TAMIS_TRY(const std::unique_ptr<JournalWriter> journal,
            JournalWriter::create(context_.files, {journal_name, header}));
  const auto append = [&](const JournalRecord& record) {
    return journal->append(record.payload, record.count, record.commit_time);
  };
  Status copied = read_on(view, append).status();
  if (copied.ok()) copied = check_still(view, current);
  if (copied.ok()) copied = journal->sync();
  if (!copied.ok()) {
    TAMIS_TRY_STATUS(context_.files.remove(journal_name));
    return copied;
  }
  const auto copy_tables = [&]() -> Status {
    for (const auto& [id, followed] : view.trees) {
      for (const std::shared_ptr<Table>& table : followed.version->tables()) {
        TAMIS_TRY(const std::shared_ptr<const ReadableFile> held, table->open_file());
        TAMIS_TRY_STATUS(
            link_or_copy(context_.files, table->path(), table_path(path, table->facts().number), held.get()));
      }
      for (const std::shared_ptr<ValueFile>& file : followed.version->value_files()) {
        TAMIS_TRY(const std::shared_ptr<const ReadableFile> held, file->open_file());
        TAMIS_TRY_STATUS(
            link_or_copy(context_.files, file->path(), value_file_path(path, file->facts().number), held.get()));
      }
    }
    return context_.files.sync_directory(path);
  };
  TAMIS_TRY(const std::unique_ptr<Manifest> written,
            Manifest::create_with(context_.files, path, state, 1, *context_.random, copy_tables));
  return written->close({});
}

}  // namespace tamis
