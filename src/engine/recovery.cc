#include "engine/recovery.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>

#include "base/try.h"
#include "engine/lost_folder.h"
#include "engine/replay.h"
#include "entry/batch_format.h"
#include "io/file_names.h"

namespace tamis {
namespace {

Status missing_journal(const std::string& directory, std::uint64_t number) {
  return Status::corruption(
      fmt::format("{}: the journal is missing; 'tamis repair' goes on without it", journal_path(directory, number)));
}

}  // namespace

Status Recovery::run() {
  TAMIS_TRY(const StoreFiles found, StoreFiles::list(context_.files, context_.directory));
  Status tables;
  catalog_.inspect(
      [&](const ManifestState& state) { tables = found.check_tables_are_there(state, context_.directory); });
  TAMIS_TRY_STATUS(tables);
  published_.publish(Sequence{catalog_.newest_flushed_sequence()});
  const KnownJournalEnd known = catalog_.known_journal_end();
  TAMIS_TRY(const std::vector<std::uint64_t> needed, needed_journals(found, known));
  JournalStreamSpec spec{.store_id = context_.identity.store_id, .first_sequence = catalog_.flushed_sequence() + 1};
  for (const std::uint64_t number : needed) spec.paths.push_back(journal_path(context_.directory, number));
  spec.numbers = needed;
  catalog_.inspect([&](const ManifestState& state) { spec.last_term = state.term; });
  spec.known = {known.number, known.salt, known.durable_bytes};
  TAMIS_TRY(JournalStream stream, JournalStream::open(context_.files, spec));
  TAMIS_TRY_STATUS(replay(stream));
  const JournalStreamEnd& end = stream.end();
  if (context_.options.read_only) {
    TAMIS_TRY_STATUS(keep_journals(needed, stream));
    if (!needed.empty()) journals_.only_show(end.journal);
    return {};
  }
  // A mark of a clean close whose sync failed can be read and yet not be durable: CURRENT must know of it.
  const bool is_closed = end.is_last_journal && end.journal.is_closed && known.number == end.header.number &&
                         known.durable_bytes == end.journal.offset;
  if (is_closed) {
    TAMIS_TRY_STATUS(keep_journals(needed, stream));
    journals_.continue_closed(needed.back(), end.header, end.journal);
  } else {
    TAMIS_TRY_STATUS(begin_new_journal(needed, end));
  }
  return remove_redundant_files(context_, catalog_);
}

/// Ascending. kCorruption when one is missing.
Result<std::vector<std::uint64_t>> Recovery::needed_journals(const StoreFiles& found,
                                                             const KnownJournalEnd& known) const {
  const std::uint64_t first = catalog_.first_journal();
  std::vector<std::uint64_t> needed;
  for (const std::uint64_t number : found.journals) {
    if (number >= first) needed.push_back(number);
  }
  if (first != 0 && (needed.empty() || needed.front() != first)) return missing_journal(context_.directory, first);
  if (known.number >= first && known.number != 0 && !std::ranges::binary_search(needed, known.number)) {
    return missing_journal(context_.directory, known.number);
  }
  return needed;
}

Status Recovery::keep_journals(std::span<const std::uint64_t> needed, const JournalStream& stream) {
  const std::vector<std::uint64_t> first = stream.first_sequences();
  for (std::size_t i = 0; i < needed.size(); ++i) {
    TAMIS_TRY(const std::optional<std::uint64_t> bytes,
              context_.files.file_size(journal_path(context_.directory, needed[i])));
    journals_.keep(needed[i], Sequence{first[i]}, bytes.value_or(0));
  }
  return {};
}

Status Recovery::replay(JournalStream& stream) {
  const auto target_of = [this](KeyspaceId id) -> Result<ReplayTarget> {
    TAMIS_TRY(const Replayed* const into, replayed_for(id));
    return ReplayTarget{into->memtable.get(), into->flushed_sequence};
  };
  std::uint64_t entries = 0;
  while (true) {
    TAMIS_TRY(const std::optional<JournalRecord> record, stream.next());
    if (!record) break;
    TAMIS_TRY(const BatchView batch,
              BatchView::decode(record->payload, Sequence{record->first_sequence}, context_.directory));
    TAMIS_TRY_STATUS(replay_batch(batch, record->payload.size(), context_.hasher, target_of));
    entries += batch.size();
    // An earlier recovery may have flushed more than the journals still have.
    published_.publish(std::max(published_.newest(), Sequence{record->first_sequence + record->count - 1}));
    if (!context_.options.read_only && keyspaces_.active_bytes() >= context_.memtable_bytes) {
      TAMIS_TRY_STATUS(flush_replayed());
    }
  }
  if (entries > 0) {
    context_.tell(StoreEvent::Kind::kRecovered, fmt::format("{} entries from the journal", entries));
  }
  return {};
}

/// Rule 35: an id that was given and is not there was dropped; one that was not given is damage.
Result<Recovery::Replayed*> Recovery::replayed_for(KeyspaceId id) {
  const auto [found, is_new] = replayed_.try_emplace(id);
  Replayed& replayed = found->second;
  if (is_new) {
    replayed.keyspace = keyspaces_.find(id);
    replayed.flushed_sequence = catalog_.flushed_sequence(id);
    bool was_given = false;
    catalog_.inspect([&](const ManifestState& state) { was_given = number_of(id) < state.next_keyspace; });
    if (!was_given) {
      return Status::corruption(fmt::format("{}: a journal has an entry of keyspace {}, which was never created",
                                            context_.directory, number_of(id)));
    }
  }
  if (replayed.keyspace != nullptr && replayed.memtable == nullptr) {
    replayed.memtable = replayed.keyspace->tree.begin_writing(catalog_.first_journal());
  }
  return &replayed;
}

/// What was replayed so far becomes tables, of all keyspaces in one edit: the journals may be in the page cache alone,
/// and a crash of the machine must not leave half of a batch (rule 33). They stay needed until all of them are read.
Status Recovery::flush_replayed() {
  std::vector<std::shared_ptr<OpenKeyspace>> trees;
  for (auto& [id, replayed] : replayed_) {
    if (replayed.memtable == nullptr || replayed.memtable->empty()) continue;
    trees.push_back(replayed.keyspace);
    replayed.memtable.reset();
  }
  if (trees.empty()) return {};
  keyspaces_.seal(trees, published_.newest());
  return maintenance_.flush_sealed();
}

/// The recovered journals are never appended to (rule 2), nor recycled: lost/ may keep them. They are redundant
/// afterwards. The new one is made first, because the manifest may only name one that exists; it has no records until
/// the others are not needed any more. It has a new term: what readers took from the others may be gone.
Status Recovery::begin_new_journal(const std::vector<std::uint64_t>& replayed, const JournalStreamEnd& end) {
  TAMIS_TRY_STATUS(flush_replayed());
  TAMIS_TRY(const std::uint64_t number, catalog_.new_number());
  TAMIS_TRY(const std::uint64_t term, catalog_.begin_term());
  journals_.begin_term(term);
  const Sequence last = published_.newest();
  TAMIS_TRY_STATUS(journals_.begin(number, last + 1));
  if (end.first_stranded) TAMIS_TRY_STATUS(save_stranded(std::span(replayed).subspan(*end.first_stranded)));
  return keyspaces_.install({}, {.flushed_sequence = number_of(last), .first_journal = number});
}

/// Records behind a hole are not part of the store, but they may be all that is left of something. Before the manifest
/// frees their journals these have a second name in lost/, durably: the next opening removes the first one.
Status Recovery::save_stranded(std::span<const std::uint64_t> journals) {
  std::vector<std::string> names;
  for (const std::uint64_t number : journals) {
    const std::string path = journal_path(context_.directory, number);
    names.push_back(path.substr(path.rfind('/') + 1));
  }
  TAMIS_TRY_STATUS(link_to_lost(context_.files, context_.directory, names));
  context_.tell(StoreEvent::Kind::kRecovered, "records behind a hole in the journal were saved in lost/");
  return {};
}

}  // namespace tamis
