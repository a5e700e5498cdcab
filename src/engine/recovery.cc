// Opening a store: what is on disk becomes what is in memory.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/try.h"
#include "engine/engine.h"
#include "engine/lost_folder.h"
#include "engine/store_folder.h"
#include "entry/batch_format.h"
#include "io/file_names.h"
#include "io/path.h"
#include "journal/journal_stream.h"

namespace tamis {
namespace {

/// The files of a folder that are ours, by kind.
struct StoreFiles {
  bool has_current = false;
  std::vector<std::uint64_t> journals;  // Ascending, as the names sort.
  std::vector<std::uint64_t> tables;    // The same.
  std::vector<std::uint64_t> manifests;
  std::vector<std::string> temporaries;
};

Result<StoreFiles> list_store(FileSystem& files, const std::string& directory) {
  TAMIS_TRY(const std::vector<DirectoryEntry> entries, files.list(directory));
  StoreFiles found;
  for (const DirectoryEntry& entry : entries) {
    const std::optional<FileName> name = parse_file_name(entry.name);
    if (!name || entry.is_directory) continue;
    if (name->kind == FileKind::kCurrent) found.has_current = true;
    if (name->kind == FileKind::kJournal) found.journals.push_back(name->number);
    if (name->kind == FileKind::kTable) found.tables.push_back(name->number);
    if (name->kind == FileKind::kManifest) found.manifests.push_back(name->number);
    if (name->kind == FileKind::kTemporary) found.temporaries.push_back(entry.name);
  }
  std::ranges::sort(found.journals);
  std::ranges::sort(found.tables);
  return found;
}

/// Ascending.
std::vector<std::uint64_t> table_numbers(const Shape& shape) {
  std::vector<std::uint64_t> numbers;
  for (const std::vector<Run>& level : shape.levels) {
    for (const Run& run : level) {
      for (const auto& table : run.tables) numbers.push_back(table->number);
    }
  }
  std::ranges::sort(numbers);
  return numbers;
}

/// Tables are opened when they are first read; that one is missing is known before.
Status check_tables_are_there(const Shape& shape, const StoreFiles& found, const std::string& directory) {
  for (const std::uint64_t number : table_numbers(shape)) {
    if (!std::ranges::binary_search(found.tables, number)) {
      return Status::corruption(
          fmt::format("{}: the table is missing; 'tamis repair' goes on without it", table_path(directory, number)));
    }
  }
  return {};
}

Status missing_journal(const std::string& directory, std::uint64_t number) {
  return Status::corruption(
      fmt::format("{}: the journal is missing; 'tamis repair' goes on without it", journal_path(directory, number)));
}

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

}  // namespace

Status Engine::open_store() {
  if (!options_.read_only && options_.create_if_missing) TAMIS_TRY_STATUS(make_directories(files_, directory_));
  {
    TAMIS_TRY_STATUS(check_may_be_opened(files_, directory_));
    const LockMode mode = options_.read_only ? LockMode::kShared : LockMode::kExclusive;
    TAMIS_TRY(const StoreFiles found, list_store(files_, directory_));
    const bool is_empty = found.tables.empty() && found.journals.empty();
    if (!found.has_current && !is_empty) {
      return Status::corruption(directory_ +
                                ": CURRENT is missing, but files of a store are here; 'tamis repair' can "
                                "make a new one");
    }
    if (!found.has_current && (options_.read_only || !options_.create_if_missing)) {
      return Status::io_error(directory_ + ": no store is here");
    }
    MutexLock lock(state_mutex_);
    TAMIS_TRY(lock_, files_.lock(lock_path(directory_), mode));
  }
  TAMIS_TRY_STATUS(open_manifest());
  return recover();
}

Status Engine::open_manifest() {
  TAMIS_TRY(const StoreFiles found, list_store(files_, directory_));
  MutexLock tree_lock(tree_mutex_);
  if (found.has_current) {
    if (options_.error_if_exists) {
      return Status::invalid_argument(directory_ + ": a store is here already, and error_if_exists is set");
    }
    TAMIS_TRY(manifest_, Manifest::open(files_, directory_, *random_));
  } else {
    TAMIS_TRY(manifest_, Manifest::create(files_, directory_, draw_identity(*random_), *random_));
  }
  next_number_ = std::max<std::uint64_t>(manifest_->state().reserved_numbers, 1);  // 0 names no file.
  context_.identity = manifest_->state().identity;
  hasher_ = KeyHasher(context_.identity.hash_key);
  journals_ = std::make_unique<Journals>(files_, directory_, context_.identity.store_id, *random_,
                                         tamis::share_memory(options_, MetadataWanted()).journal);
  published_ = manifest_->state().flushed_sequence;
  MutexLock lock(state_mutex_);
  version_ = std::make_shared<const Version>(manifest_->state().shape, nullptr, context_);
  share_memory(*version_);
  active_ = std::make_shared<Memtable>(memtable_bytes_, spare_memory_);
  writing_ = active_;
  debt_ = policy_->debt(version_->shape(), policy_options());
  compaction_wanted_ = true;
  install_view();
  return {};
}

/// Rules 1 and 2: one stream over all journals that are needed. A journal that was closed cleanly is continued;
/// anything else is written to tables before the first write is accepted.
Status Engine::recover() {
  TAMIS_TRY(const StoreFiles found, list_store(files_, directory_));
  JournalStreamSpec spec{.store_id = context_.identity.store_id};
  KnownJournalEnd known;
  std::uint64_t first_journal = 0;
  {
    MutexLock lock(tree_mutex_);
    spec.first_sequence = manifest_->state().flushed_sequence + 1;
    first_journal = manifest_->state().first_journal;
    known = manifest_->known_journal_end();
    TAMIS_TRY_STATUS(check_tables_are_there(manifest_->state().shape, found, directory_));
  }
  std::vector<std::uint64_t> needed;
  for (const std::uint64_t number : found.journals) {
    if (number >= first_journal) needed.push_back(number);
  }
  if (first_journal != 0 && (needed.empty() || needed.front() != first_journal)) {
    return missing_journal(directory_, first_journal);
  }
  if (known.number >= first_journal && known.number != 0 && !std::ranges::binary_search(needed, known.number)) {
    return missing_journal(directory_, known.number);
  }
  for (const std::uint64_t number : needed) spec.paths.push_back(journal_path(directory_, number));
  spec.numbers = needed;
  spec.known = {known.number, known.salt, known.durable_bytes};
  TAMIS_TRY(JournalStream stream, JournalStream::open(files_, spec));
  TAMIS_TRY_STATUS(replay(stream));
  const JournalStreamEnd& end = stream.end();
  if (options_.read_only) {
    TAMIS_TRY_STATUS(keep_journals(needed));
    if (!needed.empty()) journals_->only_show(end.journal);
    return {};
  }
  // A mark of a clean close whose sync failed can be read and yet not be durable: CURRENT must know of it.
  const bool is_closed = end.is_last_journal && end.journal.is_closed && known.number == end.header.number &&
                         known.durable_bytes == end.journal.offset;
  if (is_closed) {
    TAMIS_TRY_STATUS(keep_journals(needed));
    journals_->continue_closed(needed.back(), end.header, end.journal);
  } else {
    TAMIS_TRY_STATUS(begin_new_journal(needed, end));
  }
  return remove_redundant_files();
}

Status Engine::keep_journals(const std::vector<std::uint64_t>& needed) {
  for (const std::uint64_t number : needed) {
    TAMIS_TRY(const std::optional<std::uint64_t> bytes, files_.file_size(journal_path(directory_, number)));
    journals_->keep(number, bytes.value_or(0));
  }
  return {};
}

Status Engine::replay(JournalStream& stream) {
  std::uint64_t entries = 0;
  while (true) {
    TAMIS_TRY(const std::optional<JournalRecord> record, stream.next());
    if (!record) break;
    TAMIS_TRY(const BatchView batch, BatchView::decode(record->payload, Sequence{record->first_sequence}, directory_));
    TAMIS_TRY_STATUS(writing_->reserve(batch.size(), record->payload.size()));
    for (const Entry& entry : batch) writing_->insert(entry, hasher_(entry.key));
    entries += batch.size();
    published_.store(record->first_sequence + record->count - 1, std::memory_order_release);
    if (!options_.read_only && writing_->memory_bytes() >= memtable_bytes_) TAMIS_TRY_STATUS(flush_replayed());
  }
  if (entries > 0) tell(StoreEvent::Kind::kRecovered, fmt::format("{} entries from the journal", entries));
  return {};
}

/// What was replayed so far becomes a table. The journals stay needed until all of them are read.
Status Engine::flush_replayed() {
  std::uint64_t first_journal = 0;
  {
    MutexLock lock(tree_mutex_);
    first_journal = manifest_->state().first_journal;
  }
  {
    MutexLock lock(state_mutex_);
    if (active_->empty()) return {};
    replace_active(Sequence{published_.load(std::memory_order_relaxed)}, first_journal);
  }
  MutexLock lock(flush_mutex_);
  return flush_oldest();
}

/// The recovered journals are never appended to (rule 2), nor recycled: lost/ may keep them. They are redundant
/// afterwards. The new one is made first, because the manifest may only name one that exists; it has no records until
/// the others are not needed any more.
Status Engine::begin_new_journal(const std::vector<std::uint64_t>& replayed, const JournalStreamEnd& end) {
  TAMIS_TRY_STATUS(flush_replayed());
  TAMIS_TRY(const std::uint64_t number, new_number());
  const Sequence last{published_.load(std::memory_order_relaxed)};
  TAMIS_TRY_STATUS(journals_->begin(number, last + 1));
  if (end.first_stranded) TAMIS_TRY_STATUS(save_stranded(std::span(replayed).subspan(*end.first_stranded)));
  return commit_and_install({.flushed_sequence = number_of(last), .first_journal = number}, nullptr);
}

/// Records behind a hole are not part of the store, but they may be all that is left of something. Before the manifest
/// frees their journals these have a second name in lost/, durably: the next opening removes the first one.
Status Engine::save_stranded(std::span<const std::uint64_t> journals) {
  std::vector<std::string> names;
  for (const std::uint64_t number : journals) {
    const std::string path = journal_path(directory_, number);
    names.push_back(path.substr(path.rfind('/') + 1));
  }
  TAMIS_TRY_STATUS(link_to_lost(files_, directory_, names));
  tell(StoreEvent::Kind::kRecovered, "records behind a hole in the journal were saved in lost/");
  return {};
}

/// Rule 19: only what is provably not needed. Temporary files; tables whose number was reserved and that the manifest
/// does without; journals before the first one needed; manifests before CURRENT's.
Result<std::vector<std::string>> Engine::redundant_files() {
  TAMIS_TRY(const StoreFiles found, list_store(files_, directory_));
  std::vector<std::string> redundant;
  for (const std::string& name : found.temporaries) redundant.push_back(join_path(directory_, name));
  MutexLock lock(tree_mutex_);
  const ManifestState& state = manifest_->state();
  const std::vector<std::uint64_t> live = table_numbers(state.shape);
  for (const std::uint64_t number : found.tables) {
    if (number < state.reserved_numbers && !std::ranges::binary_search(live, number)) {
      redundant.push_back(table_path(directory_, number));
    }
  }
  for (const std::uint64_t number : found.manifests) {
    if (number < manifest_->number()) redundant.push_back(manifest_path(directory_, number));
  }
  for (const std::uint64_t number : found.journals) {
    if (number < state.first_journal) redundant.push_back(journal_path(directory_, number));
  }
  return redundant;
}

/// What was read of the manifest may not be durable yet, and what is deleted because of it must not come before it: so
/// the manifest is committed first. That removes temporary files by itself, hence the second look.
Status Engine::remove_redundant_files() {
  TAMIS_TRY(std::vector<std::string> redundant, redundant_files());
  if (redundant.empty()) return {};
  {
    MutexLock lock(tree_mutex_);
    TAMIS_TRY_STATUS(manifest_->commit({}));
  }
  TAMIS_TRY(redundant, redundant_files());
  for (const std::string& path : redundant) TAMIS_TRY_STATUS(files_.remove(path));
  return {};
}

}  // namespace tamis
