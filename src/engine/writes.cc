// The way of a put: group, journal, memtable, published.
#include <fmt/core.h>

#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include "base/try.h"
#include "engine/engine.h"
#include "engine/pacing.h"
#include "entry/batch_format.h"

namespace tamis {
namespace {

/// Of the leader's buffer: enough for groups of small writes, too little to be missed in the budget.
constexpr std::size_t kMostKeptPayloadBytes = std::size_t{128} << 10;

}  // namespace

Status Engine::write(const Changes& changes, const WriteOptions& options, bool may_wait) {
  TAMIS_TRY_STATUS(check_open());
  TAMIS_TRY_STATUS(changes.status());
  if (options_.read_only) return Status::not_supported(directory_ + ": the store was opened read-only");
  if (changes.empty() && !options.sync) return {};
  if (changes.byte_size() > options_.memory_bytes / 4) {
    return Status::invalid_argument(
        fmt::format("a batch of {} bytes; the largest is a quarter of memory_bytes, {}: split it, or open the store "
                    "with a larger memory_bytes",
                    changes.byte_size(), options_.memory_bytes / 4));
  }
  if (!may_wait) {
    MutexLock lock(state_mutex_);
    if (debt_.load(std::memory_order_relaxed) > kDebtThatSlows || !sealed_.empty()) {
      return Status::busy(fmt::format("{}: writes would wait: {}", directory_,
                                      sealed_.empty() ? "compaction is behind" : "a flush is running"));
    }
  }
  if (schedule_ != nullptr) make_way(false);
  CommitRequest request{.changes = changes, .sync = options.sync};
  Status status = commits_.commit(request, *this);
  if (!environment_.runs_in_background) run_scheduled_work();
  return status;
}

Status Engine::sync() {
  TAMIS_TRY_STATUS(check_open());
  if (options_.read_only) return {};
  CommitRequest request{.sync = true};
  return commits_.commit(request, *this);
}

Status Engine::flush() {
  TAMIS_TRY_STATUS(check_open());
  if (options_.read_only) return Status::not_supported(directory_ + ": the store was opened read-only");
  if (schedule_ != nullptr) make_way(true);
  CommitRequest request{.seals = true};
  TAMIS_TRY_STATUS(commits_.commit(request, *this));
  const std::uint64_t last = published_.load(std::memory_order_acquire);
  if (!environment_.runs_in_background) {
    while (flush_if_due()) {
    }
    run_scheduled_work();
  }
  MutexLock lock(state_mutex_);
  while (!sealed_.empty() && number_of(sealed_.back().last_sequence) <= last) {
    if (write_stop_) return write_stop_->why;
    if (!environment_.runs_in_background) return Status::busy(directory_ + ": the flush could not be done");
    state_changed_.wait(state_mutex_);
  }
  return {};
}

Status Engine::resume() {
  TAMIS_TRY_STATUS(check_open());
  CommitRequest request{.resumes = true};
  return commits_.commit(request, *this);
}

void Engine::lead(std::span<CommitRequest* const> group) {
  const Status status = lead_writes(group);
  for (CommitRequest* request : group) request->status = status;
}

Status Engine::lead_writes(std::span<CommitRequest* const> group) {
  TAMIS_TRY_STATUS(check_open());
  if (is_write_stopped_.load(std::memory_order_acquire)) {
    const std::optional<WriteStop> stop = write_stop();
    if (stop && !stop->resumes_by_itself && !group.front()->resumes) return stop->why;
    TAMIS_TRY_STATUS(restart_writes());
  }
  Status done = group.front()->seals ? wait_for_flush() : append_and_insert(group);
  if (done.ok() && group.front()->seals) done = seal();
  if (!done.ok() && journals_->is_lost()) stop_writes(done);
  return done;
}

/// Everything that can fail comes before the memtable is touched (rule 6).
Status Engine::append_and_insert(std::span<CommitRequest* const> group) {
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
  if (entries > 0) {
    TAMIS_TRY_STATUS(make_room(bytes));
    TAMIS_TRY_STATUS(writing_->reserve(entries, bytes));
    TAMIS_TRY_STATUS(encode_group());
    Status appended = journals_->append(as_bytes(payload_), static_cast<std::uint32_t>(entries));
    if (appended.ok() && syncs) appended = journals_->sync();
    TAMIS_TRY_STATUS(appended);
    Sequence sequence{published_.load(std::memory_order_relaxed)};
    for (const char* at = payload_.data() + batch_header_bytes(entries); at != payload_.data() + payload_.size();) {
      const EncodedEntry entry = load_batch_entry(at);
      sequence = sequence + 1;
      writing_->insert({entry.key, entry.value, sequence, entry.kind}, hasher_(entry.key));
      at = entry.end;
    }
    if (payload_.capacity() > kMostKeptPayloadBytes) std::string().swap(payload_);
    published_.store(number_of(sequence), std::memory_order_release);
    writes_.fetch_add(entries, std::memory_order_relaxed);
    user_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return {};
  }
  return syncs ? journals_->sync() : Status();
}

/// As large as the group.
Status Engine::encode_group() {
  try {
    payload_.clear();
    append_encoded(payload_, changes_);
    return {};
  } catch (const std::bad_alloc&) {
    return Status::out_of_space("no memory for a record of the journal");
  }
}

/// Seals the memtable when it is full, and slows writers down while the background is behind.
Status Engine::make_room(std::uint64_t group_bytes) {
  slow_down(group_bytes);
  if (writing_->memory_bytes() < memtable_bytes_) return {};
  TAMIS_TRY_STATUS(wait_for_flush());
  return seal();
}

/// Until no sealed memtable is left: memory holds two of them, one being written and one being flushed.
Status Engine::wait_for_flush() {
  if (!environment_.runs_in_background) {
    while (flush_if_due()) {
    }
  }
  {
    MutexLock lock(state_mutex_);
    if (sealed_.empty()) return {};
  }
  const auto begin = std::chrono::steady_clock::now();
  begin_stall("the memtable is full and the one before it is still being flushed");
  Status flushed = wait_until_flushed();
  const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  delayed_writes_.fetch_add(1, std::memory_order_relaxed);
  delay_us_.fetch_add(static_cast<std::uint64_t>(waited.count()), std::memory_order_relaxed);
  end_stall();
  return flushed;
}

Status Engine::wait_until_flushed() {
  MutexLock lock(state_mutex_);
  while (!sealed_.empty()) {
    if (write_stop_) return write_stop_->why;
    if (!environment_.runs_in_background) return Status::busy(directory_ + ": the flush could not be done");
    state_changed_.wait(state_mutex_);
  }
  return {};
}

void Engine::slow_down(std::uint64_t group_bytes) {
  if (!environment_.runs_in_background) return;
  const double debt = debt_.load(std::memory_order_relaxed);
  if (debt <= kDebtThatSlows) return end_stall();
  begin_stall("compaction is behind");
  owed_delay_us_ += write_delay_us(debt, group_bytes);
  if (owed_delay_us_ < kShortestDelayUs) return;
  const std::uint64_t delay = std::exchange(owed_delay_us_, 0);
  delayed_writes_.fetch_add(1, std::memory_order_relaxed);
  delay_us_.fetch_add(delay, std::memory_order_relaxed);
  std::this_thread::sleep_for(std::chrono::microseconds(delay));
}

void Engine::begin_stall(std::string_view why) {
  if (is_stalled_) return;
  is_stalled_ = true;
  {
    MutexLock lock(state_mutex_);
    stall_reason_ = why;
  }
  tell(StoreEvent::Kind::kStallBegan, why);
}

void Engine::end_stall() {
  if (!is_stalled_) return;
  is_stalled_ = false;
  tell(StoreEvent::Kind::kStallEnded, "");
}

/// The memtable gets no more writes and a new journal begins. Called by the leader, with nothing sealed before it.
Status Engine::seal() {
  if (writing_->empty()) return {};
  const Sequence last{published_.load(std::memory_order_relaxed)};
  std::uint64_t number = journal_number_.load(std::memory_order_relaxed);
  if (number <= journals_->newest()) {
    TAMIS_TRY(number, new_number());
  }
  TAMIS_TRY_STATUS(journals_->begin(number, last + 1));
  MutexLock lock(state_mutex_);
  replace_active(last, number);
  state_changed_.notify_all();
  return {};
}

void Engine::replace_active(Sequence last, std::uint64_t next_journal) noexcept {
  sealed_.insert(sealed_.begin(), {.memtable = active_, .last_sequence = last, .next_journal = next_journal});
  active_ = std::make_shared<Memtable>(memtable_bytes_, spare_memory_);
  writing_ = active_;
  install_view();
}

/// After a failure of the journal, the manifest or a flush: what is in memory goes to tables, and writes go on through
/// new files (rule 5). Called by the leader.
Status Engine::restart_writes() {
  const Sequence last{published_.load(std::memory_order_relaxed)};
  {
    MutexLock lock(tree_mutex_);
    if (manifest_failed_) {
      TAMIS_TRY_STATUS(manifest_->renew());
      manifest_failed_ = false;
    }
  }
  if (journals_->is_lost()) {
    TAMIS_TRY(const std::uint64_t number, new_number());
    TAMIS_TRY_STATUS(journals_->begin_after_failure(number, last + 1));
    {
      MutexLock lock(state_mutex_);
      replace_active(last, number);
    }
  }
  {
    MutexLock flush_lock(flush_mutex_);
    while (true) {
      {
        MutexLock lock(state_mutex_);
        if (sealed_.empty()) break;
      }
      TAMIS_TRY_STATUS(flush_oldest());
    }
  }
  {
    MutexLock lock(state_mutex_);
    write_stop_.reset();
    is_write_stopped_ = false;
    failed_rewrites_ = 0;
    state_changed_.notify_all();
  }
  tell(StoreEvent::Kind::kResumed, "writes go on");
  return {};
}

void Engine::stop_writes(const Status& why) {
  {
    MutexLock lock(state_mutex_);
    if (write_stop_) return;
    is_write_stopped_ = true;
    write_stop_ = WriteStop{.why = why, .resumes_by_itself = why.code() == StatusCode::kOutOfSpace};
    state_changed_.notify_all();
  }
  tell(StoreEvent::Kind::kBackgroundError, why.message());
}

std::optional<Engine::WriteStop> Engine::write_stop() const {
  MutexLock lock(state_mutex_);
  return write_stop_;
}

}  // namespace tamis
