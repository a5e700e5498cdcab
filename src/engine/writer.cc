#include "engine/writer.h"

#include <fmt/core.h>

#include <new>
#include <optional>

#include "base/try.h"
#include "engine/pacing.h"
#include "entry/batch_format.h"

namespace tamis {
namespace {

/// Of the leader's buffer: enough for groups of small writes, and small beside the budget.
constexpr std::size_t kMaxKeptPayloadBytes = std::size_t{128} << 10;

}  // namespace

Writer::Writer(const StoreContext& context, Catalog& catalog, Tree& tree, Journals& journals, Maintenance& maintenance,
               Health& health, PublishedSequence& published, ChangeSignal& changes)
    : context_(context),
      catalog_(catalog),
      tree_(tree),
      journals_(journals),
      maintenance_(maintenance),
      pool_(maintenance.pool()),
      health_(health),
      published_(published),
      throttle_(context, tree, maintenance, pool_, health, changes) {}

Status Writer::write(const Changes& changes, const WriteOptions& options, bool may_wait) {
  TAMIS_TRY_STATUS(changes.status());
  if (context_.options.read_only) return context_.check_writable();
  if (changes.empty() && !options.sync) return {};
  const std::uint64_t max_bytes = context_.options.memory_bytes / 4;
  if (changes.byte_size() > max_bytes) {
    return Status::invalid_argument(
        fmt::format("a batch of {} bytes; the largest is a quarter of memory_bytes, {}: split it, or open the store "
                    "with a larger memory_bytes",
                    changes.byte_size(), max_bytes));
  }
  if (!may_wait) TAMIS_TRY_STATUS(check_would_not_wait());
  pool_.before_write(false);
  CommitRequest request{.changes = changes, .sync = options.sync};
  Status status = commits_.commit(request, *this);
  pool_.after_write();
  return status;
}

Status Writer::check_would_not_wait() const {
  const bool is_flushing = tree_.has_sealed();
  if (tree_.debt() <= kDebtThatSlows && !is_flushing) return {};
  return Status::busy(fmt::format("{}: writes would wait: {}", context_.directory,
                                  is_flushing ? "a flush is running" : "compaction is behind"));
}

Status Writer::sync() {
  CommitRequest request{.sync = true};
  return commits_.commit(request, *this);
}

Status Writer::flush() {
  TAMIS_TRY_STATUS(context_.check_writable());
  pool_.before_write(true);
  CommitRequest request{.kind = CommitRequest::Kind::kSeal};
  TAMIS_TRY_STATUS(commits_.commit(request, *this));
  const Sequence last = published_.newest();
  const auto is_flushed = [&] {
    const std::optional<SealedMemtable> oldest = tree_.oldest_sealed();
    return !oldest || oldest->last_sequence > last;
  };
  TAMIS_TRY_STATUS(pool_.wait_until(Job::kFlush, is_flushed, "the flush could not be done"));
  pool_.after_write();
  return {};
}

Status Writer::resume() {
  CommitRequest request{.kind = CommitRequest::Kind::kResume};
  return commits_.commit(request, *this);
}

void Writer::lead(std::span<CommitRequest* const> group) {
  const Status status = lead_group(group);
  for (CommitRequest* request : group) request->status = status;
}

Status Writer::lead_group(std::span<CommitRequest* const> group) {
  const CommitRequest::Kind kind = group.front()->kind;
  if (health_.is_closing()) [[unlikely]]
    return Status::closed(context_.directory + ": the store was closed");
  if (health_.has_stopped()) [[unlikely]] {
    const std::optional<Health::Stop> stop = health_.stop();
    if (stop && !stop->resumes_by_itself && kind != CommitRequest::Kind::kResume) return stop->why;
    TAMIS_TRY_STATUS(restart());
  }
  if (kind == CommitRequest::Kind::kResume) return {};
  Status done;
  if (kind == CommitRequest::Kind::kWrite) {
    done = append_and_insert(group);
  } else {
    done = throttle_.wait_for_flush();
    if (done.ok()) done = seal();
  }
  if (!done.ok() && journals_.is_lost()) health_.stop_writes(done);
  return done;
}

Status Writer::append_and_insert(std::span<CommitRequest* const> group) {
  changes_.clear();
  bool syncs = false;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  for (const CommitRequest* request : group) {
    syncs |= request->sync;
    if (request->changes.empty()) continue;
    changes_.push_back(request->changes);
    entries += request->changes.size();
    bytes += request->changes.byte_size();
  }
  if (entries == 0) return syncs ? journals_.sync() : Status();
  TAMIS_TRY_STATUS(make_room(bytes));
  TAMIS_TRY_STATUS(writing_->reserve(entries, bytes));
  TAMIS_TRY_STATUS(encode_group());
  TAMIS_TRY_STATUS(
      journals_.append(as_bytes(payload_), static_cast<std::uint32_t>(entries), context_.now_unix_milliseconds()));
  if (syncs) TAMIS_TRY_STATUS(journals_.sync());
  insert_group(entries);
  writes_.fetch_add(entries, std::memory_order_relaxed);
  bytes_written_.fetch_add(bytes, std::memory_order_relaxed);
  return {};
}

/// As large as the group.
Status Writer::encode_group() {
  try {
    payload_.clear();
    append_encoded(payload_, changes_);
    return {};
  } catch (const std::bad_alloc&) {
    return Status::out_of_space("no memory for a record of the journal");
  }
}

void Writer::insert_group(std::uint64_t entries) {
  Sequence sequence = published_.newest();
  for (const char* at = payload_.data() + batch_header_bytes(entries); at != payload_.data() + payload_.size();) {
    const EncodedEntry entry = load_batch_entry(at);
    sequence = sequence + 1;
    writing_->insert({entry.key, entry.value, sequence, entry.kind}, context_.hasher(entry.key));
    at = entry.end;
  }
  if (payload_.capacity() > kMaxKeptPayloadBytes) std::string().swap(payload_);
  published_.publish(sequence);
}

/// Seals the memtable when it is full, and slows writers down while the background is behind.
Status Writer::make_room(std::uint64_t group_bytes) {
  TAMIS_TRY_STATUS(throttle_.slow_down(group_bytes));
  if (writing_->memory_bytes() < context_.memtable_bytes) return {};
  TAMIS_TRY_STATUS(throttle_.wait_for_flush());
  return seal();
}

/// The memtable gets no more writes and a new journal begins. Called with nothing sealed.
Status Writer::seal() {
  if (writing_->empty()) return {};
  const Sequence last = published_.newest();
  std::uint64_t number = journals_.reserved_number();  // Once: a flush may be reserving another.
  if (number <= journals_.newest()) {
    TAMIS_TRY(number, catalog_.new_number());
  }
  TAMIS_TRY_STATUS(journals_.begin(number, last + 1));
  writing_ = tree_.seal(last, number);
  return {};
}

/// After a failure of the journal, the manifest or a flush: what is in memory goes to tables, and writes go on through
/// new files (rule 5). They have a new term (rule 42). Memory is not sealed again and again while flushes fail.
Status Writer::restart() {
  TAMIS_TRY_STATUS(catalog_.renew_if_failed());
  const bool is_lost = journals_.is_lost();
  if (is_lost) TAMIS_TRY_STATUS(begin_term());
  TAMIS_TRY_STATUS(maintenance_.flush_sealed());
  if (!is_lost) TAMIS_TRY_STATUS(begin_term());
  health_.resume_writes();
  return {};
}

/// Seals the memtable even if it is empty, so that its flush frees the journals before the new one.
Status Writer::begin_term() {
  const Sequence last = published_.newest();
  TAMIS_TRY(const std::uint64_t number, catalog_.new_number());
  TAMIS_TRY(const std::uint64_t term, catalog_.begin_term());
  journals_.begin_term(term);
  if (journals_.is_lost()) {
    TAMIS_TRY_STATUS(journals_.begin_after_failure(number, last + 1));
  } else {
    TAMIS_TRY_STATUS(journals_.begin(number, last + 1));
  }
  writing_ = tree_.seal(last, number);
  return {};
}

}  // namespace tamis
