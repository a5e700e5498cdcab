// All journals of a store, replayed as one stream of records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/file_system.h"
#include "journal/journal_reader.h"
#include "tamis/status.h"

namespace tamis {

/// Which records to replay.
struct JournalStreamSpec {
  std::vector<std::string> paths = {};      ///< Journals of one store that are still needed, oldest first.
  StoreId store_id = {};                    ///< The store they must belong to.
  std::uint64_t first_sequence = 0;         ///< Earlier ones are already in tables.
  std::vector<std::uint64_t> numbers = {};  ///< The expected number of each path; empty: any.
  /// The store's: a journal begins in a term that CURRENT has.
  std::uint64_t last_term = ~std::uint64_t{0};
  /// What is known about one of them from elsewhere; number 0: nothing.
  struct KnownEnd {
    std::uint64_t number = 0;
    std::uint64_t salt = 0;
    std::uint64_t durable_offset = 0;
  } known = {};
};

/// Where and how a stream ended.
struct JournalStreamEnd {
  std::uint64_t next_sequence = 0;
  JournalHeader header;  ///< Of the journal it ended in; empty if there were none.
  JournalEnd journal;    ///< That journal's end. It may be continued if it is closed and the last one.
  bool is_last_journal = false;
  /// The first journal, by index in the spec, with valid records that are not part of the stream.
  std::optional<std::size_t> first_stranded;
};

/// Opens all of them: kCorruption if a header is damaged, foreign, out of order or not that of the expected journal.
Result<std::vector<JournalReader>> open_journals(FileSystem& files, const JournalStreamSpec& spec);

/// Whether the record, of this journal, goes on with a stream of which `wanted` is the next sequence; then `wanted`
/// moves behind it. False if it ends before. kCorruption if it begins anywhere else.
Result<bool> continues_stream(const JournalReader& journal, const JournalRecord& record, std::uint64_t& wanted);

/// Iterates over the records of several journals, starting at a sequence.
///
/// Invariants:
///  1. The records are dense: each begins with the sequence after the previous one, across journals.
///  2. The stream ends at the first gap anywhere. A gap before durable records is kCorruption. So is a first journal
///     that begins after the wanted sequence: a journal is missing.
///  3. Nothing is written.
///
/// Threads: one at a time.
class JournalStream {
 public:
  /// Reads every header; see open_journals.
  static Result<JournalStream> open(FileSystem& files, const JournalStreamSpec& spec);

  /// The next record, valid until the next call; none at the end.
  Result<std::optional<JournalRecord>> next();
  /// The first sequence of each journal, by its header; in the order of the spec.
  [[nodiscard]] std::vector<std::uint64_t> first_sequences() const;
  /// Precondition: next() returned none.
  [[nodiscard]] const JournalStreamEnd& end() const;

 private:
  JournalStream(std::vector<JournalReader> journals, std::uint64_t first_sequence)
      : journals_(std::move(journals)), wanted_(first_sequence) {}

  Status enter_next_journal();
  Status end_before(std::size_t later);
  void finish_in(std::size_t journal);
  void has_stranded_records(std::size_t journal) { end_.first_stranded = end_.first_stranded.value_or(journal); }

  std::vector<JournalReader> journals_;
  std::size_t current_ = 0;
  std::uint64_t wanted_;  // The first sequence of the next record returned.
  bool is_finished_ = false;
  JournalStreamEnd end_;
};

}  // namespace tamis
