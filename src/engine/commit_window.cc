#include "engine/commit_window.h"

#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/try.h"

namespace tamis {
namespace {

/// A key in a message: printable bytes, \xNN for others, shortened if it is long.
std::string shown_key(std::string_view key) {
  constexpr std::size_t kMaxShown = 64;
  std::string text;
  for (const char byte : key.substr(0, kMaxShown)) {
    const auto number = static_cast<unsigned char>(byte);
    if (number >= 0x20 && number < 0x7f) {
      text.push_back(byte);
    } else {
      text += fmt::format("\\x{:02x}", number);
    }
  }
  if (key.size() > kMaxShown) text += "…";
  return text;
}

/// Kind 4, whatever its flags: the key is the first one that is deleted, the value the end of the range.
bool deletes_range(const EncodedEntry& entry) { return (static_cast<std::uint8_t>(entry.kind) & 7U) == 4; }

/// The first key of the read set that `written` has after the sequence.
std::optional<WrittenKey> read_and_written(const ReadSet& reads, const WrittenKeys& written, Sequence sequence) {
  std::optional<WrittenKey> found;
  reads.visit_points([&](const ReadSet::Point& point) {
    const WrittenKey key{point.keyspace, point.key};
    if (!found && written.has_key_after(key, sequence)) found = key;
  });
  for (const ReadSet::Interval& interval : reads.intervals()) {
    if (found) break;
    const auto key = written.key_in_range_after(interval.keyspace, interval.range, sequence);
    if (key) found = WrittenKey{interval.keyspace, *key};
  }
  return found;
}

/// The first key of the changes that `written` has after the sequence. Blind merges do not conflict with each other
/// (rule 40).
std::optional<WrittenKey> changed_and_written(const Changes& changes, const WrittenKeys& written, Sequence sequence) {
  std::optional<WrittenKey> found;
  changes.visit([&](KeyspaceId keyspace, const EncodedEntry& entry) {
    if (found) return;
    if (deletes_range(entry)) {
      const KeyRange range = WrittenKeys::range_of(entry.key, entry.value);
      if (const auto key = written.key_in_range_after(keyspace, range, sequence)) found = WrittenKey{keyspace, *key};
    } else if (entry.kind == EntryKind::kMerge ? written.has_no_merge_after({keyspace, entry.key}, sequence)
                                               : written.has_key_after({keyspace, entry.key}, sequence)) {
      found = WrittenKey{keyspace, entry.key};
    }
  });
  return found;
}

std::optional<WrittenKey> find_conflict(const CommitCheck& check, const Changes& changes, const WrittenKeys& written,
                                        Sequence sequence) {
  if (check.reads != nullptr) return read_and_written(*check.reads, written, sequence);
  return changed_and_written(changes, written, sequence);
}

Status conflict(WrittenKey key) {
  const std::string where =
      key.keyspace == kDefaultKeyspace ? std::string() : fmt::format(" of keyspace {}", number_of(key.keyspace));
  return Status::conflict(
      fmt::format("the key '{}'{} was written since the transaction began", shown_key(key.key), where));
}

}  // namespace

Status CommitWindow::check(const CommitCheck& check, const Changes& changes) {
  if (check.snapshot < complete_after_) {
    count_conflict();
    return Status::conflict("the transaction is older than the recent commits that are kept in memory");
  }
  std::optional<WrittenKey> key;
  const bool has_newer = !order_.empty() && order_.back().sequence > check.snapshot;
  if (has_newer) key = find_conflict(check, changes, written_, check.snapshot);
  if (!key && !group_.empty()) key = find_conflict(check, changes, group_, Sequence{0});
  if (!key) return {};
  count_conflict();
  return conflict(*key);
}

Status CommitWindow::add_to_group(const Changes& changes) {
  try {
    changes.visit([&](KeyspaceId keyspace, const EncodedEntry& entry) {
      if (deletes_range(entry)) return group_.add_interval(keyspace, entry.key, entry.value, Sequence{1});
      group_.add({keyspace, entry.key}, entry.kind, Sequence{1});
    });
    return {};
  } catch (const std::bad_alloc&) {
    return Status::out_of_space("no memory for checking a transaction");
  }
}

/// Whether the keys and intervals of these changes can be recorded at all.
bool CommitWindow::fits(std::span<const Changes> changes) const {
  std::uint64_t bytes = 0;
  for (const Changes& of_one : changes) bytes += of_one.byte_size();
  if (bytes <= max_bytes_) return true;
  bytes = 0;
  for (const Changes& of_one : changes) {
    of_one.visit([&](KeyspaceId, const EncodedEntry& entry) {
      bytes += deletes_range(entry) ? WrittenKeys::bytes_of_interval(entry.key, entry.value)
                                    : kBytesOfAKey + entry.key.size();
    });
  }
  return bytes <= max_bytes_;
}

/// If memory is short, the window is empty afterwards, and the transactions that live conflict.
void CommitWindow::record_all(std::span<const Changes> changes, Sequence before, Sequence last) {
  bool is_recorded = fits(changes);
  try {
    if (is_recorded) record_changes(changes, before);
  } catch (const std::bad_alloc&) {
    is_recorded = false;
  }
  if (!is_recorded) {
    forget_all();
    complete_after_ = last;
    return;
  }
  if (order_.size() >= trims_at_) {
    if (const std::optional<Sequence> oldest = handles_.oldest_snapshot()) forget_until(*oldest);
    trims_at_ = std::max(kMinTrim, 2 * order_.size());
  }
  forget_beyond_limit();
}

void CommitWindow::record_changes(std::span<const Changes> changes, Sequence before) {
  Sequence sequence = before;
  for (const Changes& of_one : changes) {
    of_one.visit([&](KeyspaceId keyspace, const EncodedEntry& entry) {
      sequence = sequence + 1;
      count_bytes(sizeof(Recorded));
      if (deletes_range(entry)) {
        written_.add_interval(keyspace, entry.key, entry.value, sequence);
        count_bytes(static_cast<std::int64_t>(WrittenKeys::bytes_of_interval(entry.key, entry.value)));
        order_.push_back({sequence, std::nullopt});
        return;
      }
      const auto [key, is_new] = written_.add({keyspace, entry.key}, entry.kind, sequence);
      if (is_new) count_bytes(static_cast<std::int64_t>(kBytesOfAKey + entry.key.size()));
      order_.push_back({sequence, key});
    });
  }
}

/// No live transaction is older than this sequence.
void CommitWindow::forget_until(Sequence last) {
  while (!order_.empty() && order_.front().sequence <= last) forget_oldest();
}

void CommitWindow::forget_oldest() {
  const Recorded oldest = order_.front();
  order_.pop_front();
  std::uint64_t bytes = sizeof(Recorded);
  if (!oldest.key) {
    bytes += written_.erase_intervals_until(oldest.sequence);
  } else if ((*oldest.key)->second.any == oldest.sequence) {
    bytes += kBytesOfAKey + (*oldest.key)->first.key.size();
    written_.erase(*oldest.key);
  }
  complete_after_ = oldest.sequence;
  count_bytes(-static_cast<std::int64_t>(bytes));
}

void CommitWindow::forget_beyond_limit() {
  while (bytes_.load(std::memory_order_relaxed) > max_bytes_) forget_oldest();
}

void CommitWindow::forget_all() {
  order_.clear();
  trims_at_ = kMinTrim;
  written_.clear();
  bytes_.store(0, std::memory_order_relaxed);
}

void CommitWindow::count_bytes(std::int64_t more) {
  bytes_.store(bytes_.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(more), std::memory_order_relaxed);
}

Stats::Transactions CommitWindow::stats() const {
  return {.live = live_.load(std::memory_order_relaxed),
          .committed = committed_.load(std::memory_order_relaxed),
          .conflicts = conflicts_.load(std::memory_order_relaxed),
          .window_bytes = bytes_.load(std::memory_order_relaxed)};
}

}  // namespace tamis
