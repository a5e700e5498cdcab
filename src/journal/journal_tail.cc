#include "journal/journal_tail.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/try.h"

namespace tamis {

Result<JournalTail> JournalTail::open(FileSystem& files, const JournalStreamSpec& spec) {
  TAMIS_TRY(std::vector<JournalReader> journals, open_journals(files, spec));
  return JournalTail(std::move(journals), spec);
}

Result<std::optional<JournalRecord>> JournalTail::next() {
  while (true) {
    TAMIS_TRY(const std::optional<JournalRecord> record, next_of_any());
    if (!record) return record;
    TAMIS_TRY(const bool continues, continues_stream(journals_[current_], *record, wanted_));
    if (continues) return record;
  }
}

/// A later journal is entered with its first record: after a failed creation the earlier one goes on.
Result<std::optional<JournalRecord>> JournalTail::next_of_any() {
  if (journals_.empty()) return std::optional<JournalRecord>();
  if (!is_ended_by_term(current_)) {
    TAMIS_TRY(const std::optional<JournalRecord> record, journals_[current_].next_so_far());
    if (record) return record;
  }
  const std::uint64_t end = journals_[current_].next_sequence();
  for (std::size_t later = current_ + 1; later < journals_.size(); ++later) {
    const std::uint64_t first = journals_[later].header().first_sequence;
    if (first < end || first > std::max(end, wanted_) || is_ended_by_term(later)) continue;
    TAMIS_TRY(const std::optional<JournalRecord> record, journals_[later].next_so_far());
    if (!record) continue;
    current_ = later;
    return record;
  }
  return std::optional<JournalRecord>();
}

bool JournalTail::is_ended_by_term(std::size_t journal) const {
  for (std::size_t later = journal + 1; later < journals_.size(); ++later) {
    const JournalHeader& header = journals_[later].header();
    if (header.term > journals_[journal].header().term && header.first_sequence <= journals_[journal].next_sequence()) {
      return true;
    }
  }
  return false;
}

Status JournalTail::add(FileSystem& files, const std::string& path, std::uint64_t number, std::uint64_t last_term) {
  const JournalStreamSpec spec{.paths = {path},
                               .store_id = store_id_,
                               .first_sequence = ~std::uint64_t{0},
                               .numbers = {number},
                               .last_term = last_term};
  TAMIS_TRY(std::vector<JournalReader> added, open_journals(files, spec));
  const JournalHeader& header = added.front().header();
  const bool is_newer = !journals_.empty() && header.term > journals_[current_].header().term;
  if (is_newer && header.first_sequence < wanted_) {
    return Status::stale(fmt::format("{}: begins a new term with sequence {}, after {} was read", path,
                                     header.first_sequence, wanted_ - 1));
  }
  if (journals_.empty() && header.first_sequence > wanted_) {
    return Status::stale(fmt::format("{}: begins with sequence {}, {} is due", path, header.first_sequence, wanted_));
  }
  journals_.push_back(std::move(added.front()));
  return {};
}

Status JournalTail::check_unchanged() {
  for (std::size_t journal = first_unchecked_; journal < journals_.size(); ++journal) {
    TAMIS_TRY(const bool is_unchanged, journals_[journal].is_unchanged());
    if (!is_unchanged) {
      return Status::stale(fmt::format("{}: recycled while it was read", journals_[journal].path()));
    }
  }
  first_unchecked_ = current_;
  return {};
}

Status JournalTail::check_known_end() const {
  for (std::size_t i = 0; i < journals_.size(); ++i) {
    const JournalReader& journal = journals_[i];
    if (journal.header().number != known_.number || journal.offset() >= known_.durable_offset) continue;
    if (is_ended_by_term(i)) continue;
    return Status::corruption(
        fmt::format("{}: at offset {}: damaged: no valid record stands here, yet the journal was durable up to {}",
                    journal.path(), journal.offset(), known_.durable_offset));
  }
  return {};
}

void JournalTail::release_before(std::uint64_t number) {
  std::size_t unneeded = 0;
  while (unneeded < current_ && journals_[unneeded].header().number < number) ++unneeded;
  journals_.erase(journals_.begin(), journals_.begin() + static_cast<std::ptrdiff_t>(unneeded));
  current_ -= unneeded;
  first_unchecked_ -= std::min(first_unchecked_, unneeded);
}

std::uint64_t JournalTail::bytes() const {
  std::uint64_t bytes = 0;
  for (const JournalReader& journal : journals_) bytes += journal.offset();
  return bytes;
}

}  // namespace tamis
