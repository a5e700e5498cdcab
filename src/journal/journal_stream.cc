#include "journal/journal_stream.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "base/try.h"

namespace tamis {
namespace {

/// A file with a journal's name may be another journal: an older one, from a failed restore.
Status check_identity(const JournalReader& journal, const JournalReader* before, const JournalStreamSpec& spec,
                      std::size_t index) {
  const JournalHeader& header = journal.header();
  if (header.store_id != spec.store_id) {
    return Status::corruption(fmt::format("{}: at offset 32: the journal of another store", journal.path()));
  }
  if (!spec.numbers.empty() && header.number != spec.numbers[index]) {
    return Status::corruption(fmt::format("{}: at offset 48: this is journal {}, under the name of journal {}",
                                          journal.path(), header.number, spec.numbers[index]));
  }
  if (header.number == spec.known.number && header.salt != spec.known.salt) {
    return Status::corruption(fmt::format(
        "{}: at offset 56: another journal {} than the one that CURRENT knows: salt {:016x} instead of {:016x}",
        journal.path(), header.number, header.salt, spec.known.salt));
  }
  if (before != nullptr && journal.header().number <= before->header().number) {
    return Status::corruption(fmt::format("{}: at offset 48: journal number {} follows {} of {}", journal.path(),
                                          journal.header().number, before->header().number, before->path()));
  }
  const std::uint64_t earliest = before == nullptr ? 0 : before->header().term;
  if (header.term < earliest || header.term > spec.last_term) {
    return Status::corruption(fmt::format("{}: at offset 72: term {} is not between {} and {}", journal.path(),
                                          header.term, earliest, spec.last_term));
  }
  return {};
}

}  // namespace

Result<std::vector<JournalReader>> open_journals(FileSystem& files, const JournalStreamSpec& spec) {
  TAMIS_CHECK(spec.numbers.empty() || spec.numbers.size() == spec.paths.size());
  std::vector<JournalReader> journals;
  for (std::size_t i = 0; i < spec.paths.size(); ++i) {
    TAMIS_TRY(JournalReader journal, JournalReader::open(files, spec.paths[i]));
    TAMIS_TRY_STATUS(check_identity(journal, i == 0 ? nullptr : &journals.back(), spec, i));
    if (journal.header().number == spec.known.number) journal.was_durable_to(spec.known.durable_offset);
    journals.push_back(std::move(journal));
  }
  if (!journals.empty() && journals[0].header().first_sequence > spec.first_sequence) {
    return Status::corruption(
        fmt::format("{}: at offset 64: the oldest journal begins with sequence {}, {} is due: a journal is missing",
                    journals[0].path(), journals[0].header().first_sequence, spec.first_sequence));
  }
  return journals;
}

Result<bool> continues_stream(const JournalReader& journal, const JournalRecord& record, std::uint64_t& wanted) {
  const std::uint64_t record_end = record.first_sequence + record.count;
  if (record_end <= wanted) return false;
  if (record.first_sequence != wanted) {
    return Status::corruption(fmt::format("{}: at offset {}: sequences {} to {} form one record, {} is expected",
                                          journal.path(), record.offset, record.first_sequence, record_end - 1,
                                          wanted));
  }
  wanted = record_end;
  return true;
}

Result<JournalStream> JournalStream::open(FileSystem& files, const JournalStreamSpec& spec) {
  TAMIS_TRY(std::vector<JournalReader> journals, open_journals(files, spec));
  return JournalStream(std::move(journals), spec.first_sequence);
}

Result<std::optional<JournalRecord>> JournalStream::next() {
  while (!is_finished_) {
    if (journals_.empty()) {
      end_.next_sequence = wanted_;
      is_finished_ = true;
      break;
    }
    TAMIS_TRY(const std::optional<JournalRecord> record, journals_[current_].next());
    if (!record) {
      TAMIS_TRY_STATUS(enter_next_journal());
      continue;
    }
    TAMIS_TRY(const bool continues, continues_stream(journals_[current_], *record, wanted_));
    if (continues) return record;
  }
  return std::optional<JournalRecord>();
}

std::vector<std::uint64_t> JournalStream::first_sequences() const {
  std::vector<std::uint64_t> first;
  for (const JournalReader& journal : journals_) first.push_back(journal.header().first_sequence);
  return first;
}

const JournalStreamEnd& JournalStream::end() const {
  TAMIS_CHECK(is_finished_);
  return end_;
}

/// At the end of the current journal: moves to its successor, or ends the stream.
Status JournalStream::enter_next_journal() {
  if (journals_[current_].end().has_stranded_records) has_stranded_records(current_);
  const std::uint64_t due = std::max(wanted_, journals_[current_].end().next_sequence);
  for (std::size_t next = current_ + 1; next < journals_.size(); ++next) {
    const std::uint64_t first = journals_[next].header().first_sequence;
    if (first > due) return end_before(next);
    if (first == due || journals_[current_].end().next_sequence <= first) {
      current_ = next;
      return {};
    }
    // It begins before its predecessor's end. This is left over from a failed creation, after which the predecessor
    // continued: it has no records.
    TAMIS_TRY_STATUS(journals_[next].skip_to_end());
    if (journals_[next].end().next_sequence != first) {
      return Status::corruption(fmt::format("{}: at offset 64: begins with sequence {}, which {} holds as well",
                                            journals_[next].path(), first, journals_[current_].path()));
    }
    if (journals_[next].end().has_stranded_records) has_stranded_records(next);
  }
  finish_in(current_);
  return {};
}

/// The current journal ends before the first sequence of journal `later`. If any later one was synced, the current one
/// was durable to its end, and that end is lost.
Status JournalStream::end_before(std::size_t later) {
  for (std::size_t i = later; i < journals_.size(); ++i) {
    TAMIS_TRY_STATUS(journals_[i].skip_to_end());
    const JournalEnd& end = journals_[i].end();
    if (end.was_synced) {
      return Status::corruption(
          fmt::format("{}: at offset {}: damaged: it ends before sequence {}, yet {}, which begins with {}, was synced "
                      "after it",
                      journals_[current_].path(), journals_[current_].end().offset, wanted_, journals_[i].path(),
                      journals_[i].header().first_sequence));
    }
    const bool has_records = end.next_sequence != journals_[i].header().first_sequence;
    if (has_records || end.has_stranded_records) has_stranded_records(i);
  }
  finish_in(current_);
  return {};
}

void JournalStream::finish_in(std::size_t journal) {
  end_.journal = journals_[journal].end();
  end_.header = journals_[journal].header();
  end_.is_last_journal = journal + 1 == journals_.size();
  end_.next_sequence = std::max(wanted_, end_.journal.next_sequence);
  is_finished_ = true;
}

}  // namespace tamis
