#include "model/model_run.h"

#include <fmt/core.h>

#include <thread>
#include <utility>

#include "base/try.h"
#include "model/option_sets.h"

namespace tamis::test {
namespace {

constexpr int kMaxDepth = 2;

/// Whether the store's behaviour is predictable when others work in between.
bool can_be_interrupted(Verb verb) {
  switch (verb) {
    case Verb::kPut:
    case Verb::kRemove:
    case Verb::kRemoveRange:
    case Verb::kMerge:
    case Verb::kWrite:
    case Verb::kTryWrite:
    case Verb::kFlush:
    case Verb::kCompact:
    case Verb::kWaitIdle: return true;
    default: return false;  // They contain no rewrite or, like a checkpoint, depend on when it ran.
  }
}

/// Whether it leaves the store open; a crash during a rewrite uses a copy of the disk.
bool can_interrupt(Verb verb) {
  return verb != Verb::kReopen && verb != Verb::kAbandon && verb != Verb::kReadOnly && verb != Verb::kRepair;
}

/// To the default keyspace, which gets lifetimes, or to one that is given, which gets due times.
template <typename... Into>
void add(Batch& batch, const Change& change, std::uint64_t clock, const Into&... into) {
  const std::chrono::milliseconds lifetime(change.expires_in);
  if (change.is_range) {
    batch.remove_range(into..., change.key, change.to);
  } else if (change.is_merge) {
    batch.merge(into..., change.key, value_of(change));
  } else if (!change.is_put) {
    batch.remove(into..., change.key);
  } else if (change.expires_in == 0) {
    batch.put(into..., change.key, value_of(change));
  } else if constexpr (sizeof...(into) == 0) {
    batch.put(change.key, value_of(change), lifetime);
  } else {
    batch.put(into..., change.key, value_of(change), ExpiryTime(std::chrono::milliseconds(clock) + lifetime));
  }
}

}  // namespace

Status disagreement(std::string what) { return Status::corruption("store and model disagree: " + std::move(what)); }

ModelRun::ModelRun(RunSpec spec) : spec_(std::move(spec)), interruption_draws_(spec_.schedule_seed.value_or(0)) {
  make_disk(std::make_unique<CrashFileSystem>());
}

ModelRun::~ModelRun() { drop_handles(); }

Environment ModelRun::environment() const {
  Environment environment{.files = interrupted_files_.get(),
                          .random_seed = spec_.seed + machine_.openings,
                          .runs_in_background = spec_.runs_in_background,
                          .unix_milliseconds = [this] { return machine_.clock.load(); },
                          .uptime_milliseconds = [this] { return machine_.uptime.load(); }};
  if (spec_.schedule_seed) environment.schedule_seed = *spec_.schedule_seed + machine_.openings;
  return environment;
}

void ModelRun::make_disk(std::unique_ptr<CrashFileSystem> files) {
  interrupted_files_ = std::make_unique<InterruptedFileSystem>(*files, [this] { interrupt(); });
  files_ = std::move(files);
}

Status ModelRun::run(std::span<const Operation> operations) {
  coming_ = operations;
  if (!db_) TAMIS_TRY_STATUS(open());
  while (!coming_.empty()) {
    Status status = run_next();
    TAMIS_TRY_STATUS(inside_status_);
    TAMIS_TRY_STATUS(status);
  }
  return {};
}

/// Called by the rewriting thread, which is paused meanwhile.
void ModelRun::interrupt() {
  if (!may_interrupt_ || interruption_draws_.coin()) return;
  ++depth_;
  for (std::uint64_t left = 1 + interruption_draws_.below(4); left > 0 && inside_status_.ok(); --left) {
    if (coming_.empty() || !can_interrupt(coming_.front().verb)) break;
    ++interruptions_;
    std::thread([this] {
      apply_if_published();
      const Status status = run_next();
      if (inside_status_.ok()) inside_status_ = status;
    }).join();
  }
  --depth_;
}

Status ModelRun::run_next() {
  const Operation& operation = coming_.front();
  coming_ = coming_.subspan(1);
  ++begun_;
  const bool may_interrupt = spec_.schedule_seed && depth_ < kMaxDepth && can_be_interrupted(operation.verb);
  const bool may_interrupt_outer = std::exchange(may_interrupt_, may_interrupt);
  Status status = run_verb(operation);
  may_interrupt_ = may_interrupt_outer;
  // Anything that would wait for the flush or compaction to end is refused, and nothing has changed.
  if (depth_ > 0 && status.code() == StatusCode::kBusy) return {};
  if (!status.ok() && status.code() != StatusCode::kCorruption) return disagreement(status.to_text());
  return status;
}

Status ModelRun::run_verb(const Operation& operation) {
  switch (operation.verb) {
    case Verb::kPut:
    case Verb::kRemove:
    case Verb::kRemoveRange:
    case Verb::kMerge:
    case Verb::kWrite:
    case Verb::kTryWrite: return write(operation);
    case Verb::kSync: return db_->sync();
    case Verb::kGet: return get(operation);
    case Verb::kGetInto: return get_into(operation);
    case Verb::kGetPinned: return get_pinned(operation);
    case Verb::kMultiGet: return multi_get(operation);
    case Verb::kScan: return scan(operation);
    case Verb::kOpenIterator: return open_iterator(operation);
    case Verb::kMoveIterator: return move_iterator(operation);
    case Verb::kDropIterator: iterators_.at(*operation.slot).reset(); return {};
    case Verb::kSnapshot:
      snapshots_.at(*operation.slot) = db_->snapshot();
      model_.take_snapshot(*operation.slot);
      if (snapshots_.at(*operation.slot)->sequence() == model_.sequence()) return {};
      return disagreement(fmt::format("a snapshot at {} after {} changes", snapshots_.at(*operation.slot)->sequence(),
                                      model_.sequence()));
    case Verb::kRelease:
      snapshots_.at(*operation.slot).reset();
      model_.release(*operation.slot);
      return {};
    case Verb::kMakeKeyspace: return make_keyspace(operation);
    case Verb::kDropKeyspace: return drop_keyspace(operation);
    case Verb::kBegin:
    case Verb::kGetIn:
    case Verb::kScanIn:
    case Verb::kWriteIn:
    case Verb::kSavepoint:
    case Verb::kRollbackTo:
    case Verb::kCommit:
    case Verb::kRollback: return run_in_transaction(operation);
    case Verb::kFlush: return db_->flush();
    case Verb::kCompact: return compact(operation);
    case Verb::kWaitIdle: return db_->wait_idle();
    case Verb::kPassTime: return pass_time(operation.milliseconds);
    case Verb::kResume: return db_->resume();
    case Verb::kCheckpoint: return checkpoint();
    case Verb::kFollow: return follow(operation);
    case Verb::kVerify: return verify();
    case Verb::kApproximateSize: return approximate_size(operation);
    case Verb::kStats: return stats();
    case Verb::kExplain: return explain(operation);
    case Verb::kPlan: return plan();
    case Verb::kReopen: return reopen();
    case Verb::kAbandon: return abandon();
    case Verb::kCrash: return depth_ > 0 ? crash_copy() : crash();
    case Verb::kReadOnly: return read_only();
    case Verb::kRepair: return repair();
  }
  return {};
}

/// Sometimes only the clock moves on, so that what has expired may not be dropped yet.
Status ModelRun::pass_time(std::uint32_t milliseconds) {
  machine_.clock += milliseconds;
  if (milliseconds % 16 != 0) machine_.uptime += milliseconds;
  model_.pass_time(machine_.clock);
  return {};
}

Status ModelRun::write(const Operation& operation) {
  WriteOptions options{.sync = operation.sync};
  Write write{.operation = operation, .time = machine_.clock};
  Batch batch;
  for (const Change& change : operation.changes) {
    write.keyspaces.push_back(model_.existing(change.keyspace));
    write.ids.push_back(model_.at(change.keyspace, {}).id);
    if (write.ids.back() == 0) {
      add(batch, change, machine_.clock);
    } else {
      add(batch, change, machine_.clock, handles_.at(write.ids.back()));
    }
  }
  const Write* outer = std::exchange(writing_, &write);
  Status written;
  if (operation.verb != Verb::kWrite && operation.verb != Verb::kTryWrite) {
    const Change& change = operation.changes.front();
    options.expires_in = std::chrono::milliseconds(change.expires_in);
    written = with(write.ids.front(), [&](auto& into) {
      if (change.is_range) return into.remove_range(change.key, change.to, options);
      if (change.is_merge) return into.merge(change.key, value_of(change), options);
      return change.is_put ? into.put(change.key, value_of(change), options) : into.remove(change.key, options);
    });
  } else if (operation.verb == Verb::kTryWrite) {
    written = db_->try_write(batch, options);
    // Whether it would have waited depends on the options; the answers must not.
    if (written.code() == StatusCode::kBusy) {
      write.time = machine_.clock;
      written = db_->write(batch, options);
    }
  } else {
    written = db_->write(batch, options);
  }
  const bool is_applied = std::exchange(writing_, outer) == nullptr;
  if (written.code() == StatusCode::kInvalidArgument && has_lost_a_keyspace(write)) return {};
  TAMIS_TRY_STATUS(std::move(written));
  if (!is_applied) apply(write);
  return {};
}

/// Whether one of its keyspaces was dropped by an operation in the middle of it.
bool ModelRun::has_lost_a_keyspace(const Write& write) const {
  for (std::size_t i = 0; i < write.keyspaces.size(); ++i) {
    if (model_.now().at(write.keyspaces[i]).id != write.ids[i]) return true;
  }
  return false;
}

void ModelRun::apply(const Write& write) {
  const std::uint64_t before = model_.sequence();
  for (std::size_t i = 0; i < write.keyspaces.size(); ++i) {
    model_.apply(write.operation.changes[i], write.keyspaces[i], write.time);
  }
  asked_.writes += model_.sequence() - before;
}

/// To operations in the middle of a write, its changes are visible or not yet: the store says which.
void ModelRun::apply_if_published() {
  if (writing_ == nullptr || db_->snapshot().sequence() == model_.sequence()) return;
  apply(*std::exchange(writing_, nullptr));
}

Status ModelRun::make_keyspace(const Operation& operation) {
  const std::uint32_t keyspace = operation.keyspace;
  TAMIS_TRY(Keyspace made, db_->keyspace(name_of_keyspace(keyspace), draw_keyspace_options(operation.options_seed)));
  const std::uint32_t id = made.id();
  handles_.insert_or_assign(id, std::move(made));
  if (const std::optional<std::uint32_t> before = model_.now().at(keyspace).id) {
    return before == id ? Status() : disagreement(fmt::format("keyspace {} became {}", *before, id));
  }
  model_.make_keyspace(keyspace, id);
  if (id <= newest_keyspace_) return disagreement(fmt::format("keyspace {} after {}", id, newest_keyspace_));
  newest_keyspace_ = id;
  return {};
}

Status ModelRun::drop_keyspace(const Operation& operation) {
  const std::optional<std::uint32_t> id = model_.now().at(operation.keyspace).id;
  Status dropped = db_->drop_keyspace(name_of_keyspace(operation.keyspace));
  if (!id) {
    if (dropped.code() == StatusCode::kInvalidArgument) return {};
    return disagreement("a missing keyspace was dropped: " + dropped.to_text());
  }
  TAMIS_TRY_STATUS(std::move(dropped));
  model_.drop_keyspace(operation.keyspace);
  const Result<bool> after = handles_.at(*id).get("", &buffer_);
  if (after.status().code() == StatusCode::kInvalidArgument) return {};
  return disagreement("a get from a dropped keyspace said " + after.status().to_text());
}

Status ModelRun::open_keyspaces() {
  handles_.clear();
  for (std::uint32_t keyspace = 1; keyspace < kKeyspaces; ++keyspace) {
    const std::optional<std::uint32_t> id = model_.now().at(keyspace).id;
    if (!id) continue;
    TAMIS_TRY(Keyspace opened, db_->keyspace(name_of_keyspace(keyspace)));
    if (opened.id() != *id) return disagreement(fmt::format("keyspace {} is now {}", *id, opened.id()));
    handles_.emplace(*id, std::move(opened));
  }
  return {};
}

Status ModelRun::open() {
  Options now = options();
  now.create_if_missing = machine_.openings == 0;
  TAMIS_TRY(DB opened, DB::open(kDirectory, now, environment()));
  db_.emplace(std::move(opened));
  asked_ = {};
  TAMIS_TRY_STATUS(compare_all());
  return open_keyspaces();
}

void ModelRun::drop_handles() {
  iterators_ = {};
  snapshots_ = {};
  transactions_ = {};
  model_.release_all();
}

/// With live handles: busy, and nothing has changed.
Status ModelRun::close() {
  bool has_handles = live_snapshots() > 0;
  for (const auto& iterator : iterators_) has_handles |= iterator.has_value();
  if (has_handles) {
    const Status busy = db_->close();
    if (busy.code() != StatusCode::kBusy) return disagreement("close with live handles said " + busy.to_text());
    TAMIS_TRY(const bool found, db_->get("", &buffer_));
    if (found != model_.now()[0].map.contains("")) return disagreement("a get after a refused close");
  }
  count_work();
  drop_handles();
  TAMIS_TRY_STATUS(db_->close());
  const Result<bool> after = db_->get("", &buffer_);
  if (after.status().code() != StatusCode::kClosed) return disagreement("a get after close was answered");
  if (db_->put("a", "b").code() != StatusCode::kClosed) return disagreement("a put after close was accepted");
  for (auto& [id, keyspace] : handles_) {
    if (keyspace.put("a", "b").ok()) return disagreement("a put into a keyspace after close was accepted");
  }
  db_.reset();
  ++machine_.openings;
  return {};
}

Status ModelRun::reopen() {
  TAMIS_TRY_STATUS(close());
  return open();
}

Status ModelRun::abandon() {
  count_work();
  db_.reset();
  for (auto& iterator : iterators_) {
    if (!iterator) continue;
    iterator->store.seek_to_first();
    if (iterator->store.valid() || iterator->store.status().code() != StatusCode::kClosed) {
      return disagreement("an iterator outlived its store and said " + iterator->store.status().to_text());
    }
  }
  for (auto& transaction : transactions_) {
    if (!transaction) continue;
    if (transaction->store.get("a").ok() || transaction->store.commit().code() != StatusCode::kClosed) {
      return disagreement("a transaction outlived its store and was used");
    }
  }
  for (const auto& [id, keyspace] : handles_) {
    if (keyspace.exists("a").ok()) return disagreement("a keyspace outlived its store and was read");
  }
  drop_handles();
  ++machine_.openings;
  return open();
}

Status ModelRun::crash() {
  count_work();
  auto rebooted = std::make_unique<CrashFileSystem>(files_->disk().after_crash(Loss::kNothing, 0));
  drop_handles();
  handles_.clear();
  follower_.reset();
  db_.reset();
  make_disk(std::move(rebooted));
  ++machine_.openings;
  return open();
}

Status ModelRun::crash_copy() {
  CrashFileSystem rebooted(files_->disk().after_crash(Loss::kNothing, 0));
  Environment there = environment();
  there.files = &rebooted;
  TAMIS_TRY(DB db, DB::open(kDirectory, options(), there));
  return compare_with(db);
}

Status ModelRun::read_only() {
  TAMIS_TRY_STATUS(close());
  {
    Options only_reading = options();
    only_reading.read_only = true;
    const std::uint64_t before = files_->disk().content_hash();
    TAMIS_TRY(DB db, DB::open(kDirectory, only_reading, environment()));
    TAMIS_TRY_STATUS(compare_with(db));
    if (db.put("a", "b").code() != StatusCode::kNotSupported) return disagreement("a read-only store took a put");
    if (db.flush().code() != StatusCode::kNotSupported) return disagreement("a read-only store flushed");
    TAMIS_TRY_STATUS(db.close());
    if (files_->disk().content_hash() != before) return disagreement("a read-only opening changed the disk");
  }
  return open();
}

Status ModelRun::repair() {
  TAMIS_TRY_STATUS(close());
  TAMIS_TRY(const RepairReport dry, DB::repair(kDirectory, true, environment()));
  TAMIS_TRY(const RepairReport report, DB::repair(kDirectory, false, environment()));
  if (!report.lost.empty()) return disagreement("repair lost something of a healthy store: " + report.to_text());
  if (dry.lost.size() != report.lost.size() || dry.tables_kept != report.tables_kept) {
    return disagreement("a dry run said:\n" + dry.to_text() + "\nand repair:\n" + report.to_text());
  }
  return open();
}

Status ModelRun::checkpoint() {
  const std::string path = fmt::format("/copy-{}", ++machine_.copies);
  TAMIS_TRY_STATUS(db_->checkpoint(path));
  {
    TAMIS_TRY(DB copy, DB::open(path, options(), environment()));
    TAMIS_TRY_STATUS(compare_with(copy));
    TAMIS_TRY_STATUS(copy.put("only in the copy", "x"));
    TAMIS_TRY_STATUS(copy.close());
  }
  TAMIS_TRY_STATUS(DB::destroy(path, environment()));
  Options must_exist = options();
  must_exist.create_if_missing = false;
  if (DB::open(path, must_exist, environment()).ok()) return disagreement("a destroyed store was opened");
  return {};
}

}  // namespace tamis::test
