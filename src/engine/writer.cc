#include "engine/writer.h"

#include <fmt/core.h>

#include <new>
#include <optional>
#include <utility>

#include "base/try.h"
#include "engine/memory_shares.h"
#include "engine/pacing.h"
#include "entry/batch_format.h"

namespace tamis {
Writer::Writer(const StoreContext& context, Catalog& catalog, Keyspaces& keyspaces, Journals& journals,
               Maintenance& maintenance, DeleteWalks& delete_walks, Health& health, PublishedSequence& published,
               const LiveHandles& handles, ChangeSignal& changes)
    : context_(context),
      catalog_(catalog),
      keyspaces_(keyspaces),
      journals_(journals),
      maintenance_(maintenance),
      delete_walks_(delete_walks),
      pool_(maintenance.pool()),
      health_(health),
      published_(published),
      throttle_(context, keyspaces, maintenance, pool_, health, changes),
      window_(handles, share_memory(context.options, MetadataWanted()).window),
      most_bytes_in_memory_(context.options.memory_bytes / 4) {}

Status Writer::write(const Changes& changes, const WriteOptions& options, bool may_wait, const CommitCheck* check) {
  TAMIS_TRY_STATUS(changes.status());
  if (context_.options.read_only) return context_.check_writable();
  if (changes.empty() && !options.sync) return {};
  if (!may_wait) TAMIS_TRY_STATUS(check_would_not_wait());
  const LatencyTimer timer(context_.timed.put);
  if (changes.has_long_keys()) [[unlikely]]
    TAMIS_TRY_STATUS(run_alone([this] { return use(Feature::kLongKeys); }));
  if (changes.has_expiry() && !has_used_expiry_.load(std::memory_order_acquire)) [[unlikely]] {
    TAMIS_TRY_STATUS(run_alone([this] { return use(Feature::kExpiry); }));
    has_used_expiry_.store(true, std::memory_order_release);
  }
  if (changes.has_range_deletes()) [[unlikely]]
    TAMIS_TRY_STATUS(run_alone([this] { return use(Feature::kRangeDeletes); }));
  if (changes.has_merges()) [[unlikely]]
    TAMIS_TRY_STATUS(prepare_merges(changes));
  if (changes.byte_size() > most_bytes_in_memory_.load(std::memory_order_relaxed)) [[unlikely]]
    return write_large(changes, check);
  pool_.before_write(false);
  CommitRequest request;  // Set field by field: an initializer would first zero all of it.
  request.changes = changes;
  request.sync = options.sync;
  request.check = check;
  Status status = commits_.commit(request, *this);
  if (delete_walks_.are_due()) [[unlikely]]
    delete_walks_.walk();
  pool_.after_write();
  return status;
}

Status Writer::check_would_not_wait() const {
  const bool is_flushing = keyspaces_.has_sealed();
  if (keyspaces_.debt() <= kDebtThatSlows && !is_flushing) return {};
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
    const std::vector<SealedOfTree> oldest = keyspaces_.oldest_sealed();
    // The list is empty a moment before the writer who seals next knows.
    return oldest.empty() ? !keyspaces_.has_sealed() : oldest.front().sealed.last_sequence > last;
  };
  TAMIS_TRY_STATUS(pool_.wait_until(Job::kFlush, is_flushed, "the flush could not be done"));
  pool_.after_write();
  return {};
}

Status Writer::resume() {
  CommitRequest request{.kind = CommitRequest::Kind::kResume};
  return commits_.commit(request, *this);
}

Status Writer::run_alone(const std::function<Status()>& task) {
  CommitRequest request{.kind = CommitRequest::Kind::kTask, .task = &task};
  return commits_.commit(request, *this);
}

Status Writer::change_memory(const std::function<Result<Options>()>& change) {
  return run_alone([&]() -> Status {
    TAMIS_TRY(const Options options, change());
    const MemoryShares shares = share_memory(options, MetadataWanted());
    window_.limit(shares.window);
    journals_.limit_window(shares.journal);
    most_bytes_in_memory_.store(options.memory_bytes / 4, std::memory_order_relaxed);
    return {};
  });
}

void Writer::lead(std::span<CommitRequest* const> group) {
  const Status status = lead_group(group);
  for (CommitRequest* request : group) {
    if (!request->is_rejected) [[likely]]
      request->status = status;
  }
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
  Status done;
  switch (kind) {
    case CommitRequest::Kind::kResume: return {};
    case CommitRequest::Kind::kWrite:
      done = append_and_insert(group);
      if (done.ok() && has_range_deletes_) [[unlikely]]
        seal_if_tables_are_covered();
      break;
    case CommitRequest::Kind::kTask: done = (*group.front()->task)(); break;
    case CommitRequest::Kind::kSeal:
      done = throttle_.wait_for_flush();
      if (done.ok()) done = seal(trees_with_entries());
      break;
  }
  if (!done.ok() && journals_.is_lost()) health_.stop_writes(done);
  return done;
}

Status Writer::append_and_insert(std::span<CommitRequest* const> group) {
  changes_.clear();
  committing_ = 0;
  bool syncs = false;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  has_range_deletes_ = false;
  for (CommitRequest* request : group) {
    if (request->is_rejected || request->check != nullptr) [[unlikely]] {
      if (!accept(*request)) continue;
    }
    syncs |= request->sync;
    if (request->changes.empty()) continue;
    changes_.push_back(request->changes);
    has_range_deletes_ |= request->changes.has_range_deletes();
    entries += request->changes.size();
    bytes += request->changes.byte_size();
  }
  if (committing_ != 0) [[unlikely]]
    window_.forget_group();
  if (entries == 0) return syncs ? sync_journal() : Status();
  TAMIS_TRY_STATUS(make_room(bytes));
  TAMIS_TRY_STATUS(encode_group());
  if (!keyspaces_of_group_.are_default()) [[unlikely]] {
    if (reject_dropped(group)) return append_and_insert(group);
    TAMIS_TRY_STATUS(append_to_trees(entries, syncs));
  } else {
    TAMIS_TRY_STATUS(writing_->reserve(entries, bytes));
    if (has_range_deletes_) [[unlikely]]
      TAMIS_TRY_STATUS(prepare_range_deletes(entries));
    TAMIS_TRY_STATUS(append_to_journal(entries, syncs));
    insert_group(entries);
  }
  writes_.fetch_add(entries, std::memory_order_relaxed);
  bytes_written_.fetch_add(bytes, std::memory_order_relaxed);
  return {};
}

/// Whether the request is to be written. A transaction is checked against the window and the accepted members before it
/// (rule 39). One that is refused is not in the record, and the others do not depend on it.
bool Writer::accept(CommitRequest& request) {
  if (request.check != nullptr && committing_++ == 0) in_group_ = 0;
  if (request.is_rejected) return false;
  Status checked;
  while (in_group_ < changes_.size() && checked.ok()) {
    checked = window_.add_to_group(changes_[in_group_]);
    if (checked.ok()) ++in_group_;
  }
  if (checked.ok()) checked = check_transaction(*request.check, request.changes);
  request.is_rejected = !checked.ok();
  request.status = std::move(checked);
  return !request.is_rejected;
}

Status Writer::check_transaction(const CommitCheck& check, const Changes& changes) {
  bool has_dropped = false;
  changes.visit_keyspaces([&](KeyspaceId id) { has_dropped |= is_dropped(id); });
  if (check.reads != nullptr) {
    for (const KeyspaceId id : check.reads->keyspaces()) has_dropped |= is_dropped(id);
  }
  if (!has_dropped) return window_.check(check, changes);
  window_.count_conflict();
  return Status::conflict(context_.directory + ": a keyspace was dropped since the transaction began");
}

/// As large as the group.
Status Writer::encode_group() {
  try {
    payload_.clear();
    append_encoded(payload_, changes_, keyspaces_of_group_);
    return {};
  } catch (const std::bad_alloc&) {
    return Status::out_of_space("no memory for a record of the journal");
  }
}

void Writer::insert_group(std::uint64_t entries) {
  Entry entry{.key = {}, .value = {}, .sequence = published_.newest()};
  const char* const end = payload_.data() + payload_.size();
  for (const char* at = payload_.data() + batch_header_bytes(kDefaultKeyspace, entries); at != end;) {
    at = load_batch_entry(at, entry);
    entry.sequence = entry.sequence + 1;
    insert_entry(*writing_, entry, context_.hasher);
  }
  publish(entry.sequence);
  if (entry.kind == EntryKind::kDelete) [[unlikely]]
    tell_deletes(kDefaultKeyspace, entry.key, entries);
  forget_payload();
}

/// The group ends with a delete, and is published. If it begins with one, all of it is taken for deletes in key order.
void Writer::tell_deletes(KeyspaceId keyspace, std::string_view last, std::uint64_t entries) {
  KeyspaceId id = keyspaces_of_group_.first;
  const EncodedEntry first = load_batch_entry(payload_.data() + batch_header_bytes(id, entries), id);
  const bool are_in_order = id == keyspace && first.kind == EntryKind::kDelete && first.key <= last;
  delete_walks_.add(keyspace, are_in_order ? first.key : last, last, are_in_order ? entries : 1);
}

/// Seals memtables when they are full, and slows writers down while the background is behind.
Status Writer::make_room(std::uint64_t group_bytes) {
  TAMIS_TRY_STATUS(throttle_.slow_down(group_bytes));
  if (writing_->memory_bytes() + others_bytes_ < context_.memtable_bytes) return {};
  TAMIS_TRY_STATUS(throttle_.wait_for_flush());
  return seal(trees_to_seal());
}

/// After a failure of the journal, the manifest or a flush: what is in memory goes to tables, and writes go on through
/// new files (rule 5), with a new term (rule 42). After a failure of the journal all memtables are flushed, in one
/// edit: the journals may lack what some of them hold (rule 33).
Status Writer::restart() {
  TAMIS_TRY_STATUS(catalog_.renew_if_failed());
  const bool is_lost = journals_.is_lost();
  if (is_lost) TAMIS_TRY_STATUS(begin_term());
  TAMIS_TRY_STATUS(maintenance_.flush_sealed());
  if (!is_lost) TAMIS_TRY_STATUS(begin_term());
  TAMIS_TRY_STATUS(maintenance_.release_journals());
  health_.resume_writes();
  return {};
}

Status Writer::begin_term() {
  const Sequence last = published_.newest();
  TAMIS_TRY(const std::uint64_t number, catalog_.new_number());
  TAMIS_TRY(const std::uint64_t term, catalog_.begin_term());
  journals_.begin_term(term);
  if (journals_.is_lost()) {
    TAMIS_TRY_STATUS(journals_.begin_after_failure(number, last + 1));
    was_sealed(trees_with_entries(), last, number);
  } else {
    TAMIS_TRY_STATUS(journals_.begin(number, last + 1));
    writing_ = keyspaces_.default_keyspace().tree.begin_writing(number);
  }
  return {};
}

}  // namespace tamis
