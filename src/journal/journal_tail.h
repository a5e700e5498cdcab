// The journals of a store that somebody writes, read as far as they reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/file_system.h"
#include "journal/journal_reader.h"
#include "journal/journal_stream.h"
#include "tamis/status.h"

namespace tamis {

/// Iterates over the records of journals that another process may be writing, recycling or removing. Unlike a
/// JournalStream it has no end: later calls return what was written since (rule 42).
///
/// Invariants:
///  1. The records are dense: each begins with the sequence after the previous one, across journals.
///  2. What is not a valid record is the end for now, never damage.
///  3. A journal counts up to the first sequence of a later one with a newer term: what follows was not committed.
///  4. Nothing is written. The files stay open, so that removing them hurts nobody.
///
/// Threads: one at a time.
class JournalTail {
 public:
  static Result<JournalTail> open(FileSystem& files, const JournalStreamSpec& spec);

  /// The next record, valid until the next call; none if there is none yet.
  Result<std::optional<JournalRecord>> next();
  /// Adds a journal that began after the others. kStale if its term is newer and it begins before a sequence that was
  /// returned: that was not committed.
  Status add(FileSystem& files, const std::string& path, std::uint64_t number, std::uint64_t last_term);
  /// kStale if a journal that was read since the last such check was recycled, or its last record replaced.
  Status check_unchanged();
  /// kCorruption if the journal that was closed cleanly has less than it had then.
  [[nodiscard]] Status check_known_end() const;
  /// Journals below this number are not needed.
  void release_before(std::uint64_t number);

  /// The sequence that is due.
  [[nodiscard]] std::uint64_t next_sequence() const { return wanted_; }
  /// The number of the last record's journal; 0 if there are no journals.
  [[nodiscard]] std::uint64_t journal() const { return journals_.empty() ? 0 : journals_[current_].header().number; }
  /// Of the newest journal; 0 if there are none.
  [[nodiscard]] std::uint64_t newest_journal() const {
    return journals_.empty() ? 0 : journals_.back().header().number;
  }
  /// The same for its term.
  [[nodiscard]] std::uint64_t newest_term() const { return journals_.empty() ? 0 : journals_.back().header().term; }
  [[nodiscard]] std::size_t journals() const { return journals_.size(); }
  /// Of records and headers, as far as they were read.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  JournalTail(std::vector<JournalReader> journals, const JournalStreamSpec& spec)
      : journals_(std::move(journals)), store_id_(spec.store_id), known_(spec.known), wanted_(spec.first_sequence) {}

  Result<std::optional<JournalRecord>> next_of_any();
  [[nodiscard]] bool is_ended_by_term(std::size_t journal) const;

  std::vector<JournalReader> journals_;
  StoreId store_id_;
  JournalStreamSpec::KnownEnd known_;
  std::size_t current_ = 0;
  std::size_t first_unchecked_ = 0;
  std::uint64_t wanted_;  // The first sequence of the next record returned.
};

}  // namespace tamis
