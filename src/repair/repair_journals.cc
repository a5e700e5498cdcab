#include "repair/repair_journals.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/try.h"
#include "entry/batch_format.h"
#include "io/file_names.h"
#include "journal/journal_reader.h"
#include "journal/journal_stream.h"
#include "repair/repair_problem.h"

namespace tamis {
namespace {

/// Reads all journals.
///
/// Threads: one.
class JournalWalk {
 public:
  JournalWalk(FileSystem& files, const std::string& directory, const JournalsToRead& wanted, const TakeEntry& take)
      : files_(files), directory_(directory), wanted_(wanted), take_(take), due_(wanted.flushed_sequence + 1) {}

  Result<JournalsRead> run() {
    TAMIS_TRY_STATUS(open_all());
    if (wanted_.is_flushed_known && read_.lost.empty() && can_be_replayed()) {
      TAMIS_TRY(JournalStream stream, JournalStream::open(files_, stream_spec()));
      TAMIS_TRY_STATUS(replay(stream));
    } else {
      for (JournalReader& journal : journals_) TAMIS_TRY_STATUS(read_one(journal));
    }
    return std::move(read_);
  }

 private:
  /// Reads the headers. Without a header there is no salt, and records cannot be recognised.
  Status open_all() {
    for (const std::uint64_t number : std::set{wanted_.first_journal, wanted_.known_end.number}) {
      if (number == 0 || number < wanted_.first_journal) continue;
      if (std::ranges::binary_search(wanted_.numbers, number)) continue;
      read_.lost.push_back({file_name_of(journal_path(directory_, number)), 0, "the journal is missing"});
    }
    for (const std::uint64_t number : wanted_.numbers) {
      if (number < wanted_.first_journal) continue;
      const std::string path = journal_path(directory_, number);
      Result<JournalReader> journal = JournalReader::open(files_, path);
      if (journal.ok() && is_known_end(journal->header())) journal->was_durable_to(wanted_.known_end.durable_bytes);
      if (!journal.ok() && !is_damage(journal.status())) return journal.status();
      if (!journal.ok()) {
        read_.lost.push_back(problem_of(path, 0, journal.status()));
      } else if (journal->header().store_id != wanted_.store_id) {
        read_.lost.push_back({file_name_of(path), 32, "the journal of another store"});
      } else {
        read_.features |= journal->header().features;
        const std::uint64_t first = std::max<std::uint64_t>(journal->header().first_sequence, 1);
        read_.last_sequence = std::max(read_.last_sequence, first - 1);
        if (is_another(journal->header(), number)) {
          read_.lost.push_back({file_name_of(path), 48, "another journal is here under its name"});
        }
        journals_.push_back(*std::move(journal));
      }
    }
    return {};
  }

  [[nodiscard]] bool is_known_end(const JournalHeader& header) const {
    return wanted_.known_end.number == header.number && wanted_.known_end.salt == header.salt;
  }

  [[nodiscard]] bool is_another(const JournalHeader& header, std::uint64_t number) const {
    return header.number != number || (number == wanted_.known_end.number && !is_known_end(header));
  }

  [[nodiscard]] JournalStreamSpec stream_spec() const {
    JournalStreamSpec spec{.store_id = wanted_.store_id, .first_sequence = wanted_.flushed_sequence + 1};
    for (const JournalReader& journal : journals_) spec.paths.push_back(journal.path());
    spec.known = {wanted_.known_end.number, wanted_.known_end.salt, wanted_.known_end.durable_bytes};
    return spec;
  }

  /// Whether opening the store would accept these journals.
  [[nodiscard]] bool can_be_replayed() {
    Result<JournalStream> stream = JournalStream::open(files_, stream_spec());
    if (!stream.ok()) return false;
    while (true) {
      const Result<std::optional<JournalRecord>> record = stream->next();
      if (!record.ok()) return false;
      if (!*record) return true;
      const Result<BatchView> batch =
          BatchView::decode((*record)->payload, Sequence{(*record)->first_sequence}, directory_);
      if (!batch.ok() || has_unknown_keyspace(*batch)) return false;
    }
  }

  Status replay(JournalStream& stream) {
    while (true) {
      TAMIS_TRY(const std::optional<JournalRecord> record, stream.next());
      if (!record) return {};
      TAMIS_TRY_STATUS(take_record(*record, directory_));
    }
  }

  Status read_one(JournalReader& journal) {
    bool is_first = true;
    while (true) {
      Result<std::optional<JournalRecord>> record = journal.next();
      if (!record.ok()) {
        if (!is_damage(record.status())) return record.status();
        read_.lost.push_back(problem_of(journal.path(), 0, record.status()));
        const Result<bool> goes_on = journal.skip_damage();
        if (!goes_on.ok() || !*goes_on) return {};
        is_first = false;  // The gap has been reported.
        continue;
      }
      if (!*record) return {};
      const std::uint64_t first = (*record)->first_sequence;
      if (first + (*record)->count <= due_) continue;  // In a table or an earlier journal.
      if (is_first && first > due_ && knows_due_) {
        read_.lost.push_back({file_name_of(journal.path()), (*record)->offset,
                              fmt::format("sequences {} to {} are missing before this record", due_, first - 1)});
      }
      is_first = false;
      const Status taken = take_record(**record, journal.path());
      if (taken.code() != StatusCode::kCorruption) TAMIS_TRY_STATUS(taken);
      if (!taken.ok()) read_.lost.push_back(problem_of(journal.path(), (*record)->offset, taken));
    }
  }

  /// Opening the store refuses an id that was never given (rule 35).
  [[nodiscard]] bool has_unknown_keyspace(const BatchView& batch) const {
    for (BatchView::Iterator it = batch.begin(); it != batch.end(); ++it) {
      if (number_of(it.keyspace()) >= wanted_.next_keyspace) return true;
      if (!batch.keyspaces().has_markers) return false;
    }
    return false;
  }

  /// Entries of this keyspace up to here are in tables; all of them if it was dropped.
  [[nodiscard]] std::uint64_t flushed_sequence_of(KeyspaceId keyspace) const {
    const auto found = wanted_.flushed.find(keyspace);
    if (found != wanted_.flushed.end()) return found->second;
    return number_of(keyspace) < wanted_.next_keyspace ? number_of(kMaxSequence) : wanted_.flushed_sequence;
  }

  Status take_record(const JournalRecord& record, const std::string& name) {
    TAMIS_TRY(const BatchView batch, BatchView::decode(record.payload, Sequence{record.first_sequence}, name));
    std::optional<KeyspaceId> current;
    std::uint64_t flushed = 0;
    for (BatchView::Iterator it = batch.begin(); it != batch.end(); ++it) {
      if (current != it.keyspace()) {
        current = it.keyspace();
        flushed = flushed_sequence_of(*current);
      }
      if (number_of(it->sequence) <= flushed) continue;
      TAMIS_TRY_STATUS(take_(*current, *it));
      ++read_.entries;
    }
    due_ = record.first_sequence + record.count;
    knows_due_ = true;
    read_.last_sequence = std::max(read_.last_sequence, due_ - 1);
    read_.last_commit_time = std::max(read_.last_commit_time, record.commit_time);
    return {};
  }

  FileSystem& files_;
  const std::string& directory_;
  const JournalsToRead& wanted_;
  const TakeEntry& take_;
  std::vector<JournalReader> journals_;
  JournalsRead read_;
  std::uint64_t due_;  // The expected first sequence of the next record.
  bool knows_due_ = wanted_.is_flushed_known;
};

}  // namespace

Result<JournalsRead> read_journals(FileSystem& files, const std::string& directory, const JournalsToRead& wanted,
                                   const TakeEntry& take) {
  return JournalWalk(files, directory, wanted, take).run();
}

}  // namespace tamis
