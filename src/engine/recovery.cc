#include "engine/recovery.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>

#include "base/try.h"
#include "engine/lost_folder.h"
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
  published_.publish(Sequence{catalog_.flushed_sequence()});
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
    TAMIS_TRY_STATUS(keep_journals(needed));
    if (!needed.empty()) journals_.only_show(end.journal);
    return {};
  }
  // A mark of a clean close whose sync failed can be read and yet not be durable: CURRENT must know of it.
  const bool is_closed = end.is_last_journal && end.journal.is_closed && known.number == end.header.number &&
                         known.durable_bytes == end.journal.offset;
  if (is_closed) {
    TAMIS_TRY_STATUS(keep_journals(needed));
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

Status Recovery::keep_journals(const std::vector<std::uint64_t>& needed) {
  for (const std::uint64_t number : needed) {
    TAMIS_TRY(const std::optional<std::uint64_t> bytes,
              context_.files.file_size(journal_path(context_.directory, number)));
    journals_.keep(number, bytes.value_or(0));
  }
  return {};
}

Status Recovery::replay(JournalStream& stream) {
  std::shared_ptr<Memtable> memtable = tree_.active();
  std::uint64_t entries = 0;
  while (true) {
    TAMIS_TRY(const std::optional<JournalRecord> record, stream.next());
    if (!record) break;
    TAMIS_TRY(const BatchView batch,
              BatchView::decode(record->payload, Sequence{record->first_sequence}, context_.directory));
    TAMIS_TRY_STATUS(memtable->reserve(batch.size(), record->payload.size()));
    for (const Entry& entry : batch) memtable->insert(entry, context_.hasher(entry.key));
    entries += batch.size();
    published_.publish(Sequence{record->first_sequence + record->count - 1});
    if (!context_.options.read_only && memtable->memory_bytes() >= context_.memtable_bytes) {
      TAMIS_TRY_STATUS(flush_replayed());
      memtable = tree_.active();
    }
  }
  if (entries > 0) {
    context_.tell(StoreEvent::Kind::kRecovered, fmt::format("{} entries from the journal", entries));
  }
  return {};
}

/// What was replayed so far becomes a table. The journals stay needed until all of them are read.
Status Recovery::flush_replayed() {
  if (tree_.active()->empty()) return {};
  (void)tree_.seal(published_.newest(), catalog_.first_journal());
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
  ManifestEdit edit = edit_of(kDefaultKeyspace, {.flushed_sequence = number_of(last)});
  edit.first_journal = number;
  return tree_.install(edit, nullptr);
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
