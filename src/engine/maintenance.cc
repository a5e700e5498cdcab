#include "engine/maintenance.h"

#include <algorithm>
#include <thread>

#include "base/try.h"
#include "engine/pacing.h"

namespace tamis {
namespace {

/// With more cores a flush, a compaction and two writers do not compete.
constexpr unsigned kFewCores = 3;
bool cores_are_few(const JobPool& pool) {
  return pool.threads() > 1 && std::thread::hardware_concurrency() <= kFewCores;
}

}  // namespace

Maintenance::Maintenance(const StoreContext& context, Catalog& catalog, Keyspaces& keyspaces, Journals& journals,
                         TableRewrites& rewrites, Residency& residency, Health& health, ChangeSignal& changes,
                         SharedWork& work)
    : context_(context),
      catalog_(catalog),
      keyspaces_(keyspaces),
      journals_(journals),
      rewrites_(rewrites),
      residency_(residency),
      health_(health),
      changes_(changes),
      work_(work),
      compactions_(context, catalog, keyspaces, rewrites, health, changes),
      pool_(JobPool::make(context, *this, health, changes)),
      gives_way_(cores_are_few(*pool_)) {
  compactions_.set_interlude([this] {
    publish_();
    give_way_to_flush();
  });
}

bool Maintenance::run(Job job) {
  switch (job) {
    case Job::kFlush: return flush();
    case Job::kCompaction: return work_.help() || compactions_.run_one();
    case Job::kUpkeep: break;
  }
  keep_up();
  return false;
}

bool Maintenance::is_due(Job job) const {
  switch (job) {
    case Job::kFlush: return keyspaces_.has_sealed();
    case Job::kCompaction: return compactions_.is_due();
    case Job::kUpkeep: break;
  }
  return true;
}

bool Maintenance::holds_up_writes(Job job, bool seals) const {
  switch (job) {
    case Job::kFlush: return keyspaces_.has_sealed() && (seals || keyspaces_.active_bytes() >= context_.memtable_bytes);
    case Job::kCompaction: return !seals && keyspaces_.debt() >= kDebtThatStops;
    case Job::kUpkeep: break;
  }
  return false;
}

bool Maintenance::flush() {
  if (!may_begin_flush()) return false;
  MutexLock flush_lock(flush_mutex_);
  if (!keyspaces_.has_sealed() || health_.has_stopped()) return false;
  flush_runs_ = true;
  const Status flushed = flush_oldest();
  if (flushed.ok()) prepare_next_journal();
  flush_runs_ = false;
  changes_.announce();
  if (!flushed.ok()) health_.rewrite_failed("flush", flushed);
  return flushed.ok();
}

/// One that is dropped meanwhile needs no flush.
Status Maintenance::flush_oldest() {
  const std::vector<SealedOfTree> oldest = keyspaces_.oldest_sealed();
  if (oldest.empty()) return {};
  Status flushed = rewrites_.flush(oldest);
  if (flushed.code() == StatusCode::kClosed && !health_.is_closing()) return {};
  TAMIS_TRY_STATUS(flushed);
  health_.rewrite_succeeded();
  journals_.release_before(catalog_.first_journal());
  return {};
}

/// So that the writer who seals the next memtable waits for two syncs, not for three, and not for the manifest.
void Maintenance::prepare_next_journal() {
  journals_.prepare_next();
  if (journals_.reserved_number() > journals_.newest()) return;
  const Result<std::uint64_t> number = catalog_.new_number();  // Has stopped writes when it failed.
  if (number.ok()) journals_.reserve_number(*number);
}

Status Maintenance::flush_sealed() {
  if (!may_begin_flush()) return Status::busy(context_.directory + ": a flush is running");
  MutexLock lock(flush_mutex_);
  while (keyspaces_.has_sealed()) TAMIS_TRY_STATUS(flush_oldest());
  return {};
}

Result<std::vector<TreeChange>> Maintenance::write_changes(const Changes& changes, Sequence first) {
  MutexLock lock(flush_mutex_);
  return rewrites_.write_changes(changes, first);
}

Status Maintenance::release_journals() {
  MutexLock lock(flush_mutex_);
  TAMIS_TRY_STATUS(rewrites_.release_journals());
  journals_.release_before(catalog_.first_journal());
  return {};
}

/// A flush and a compaction at once would leave no core to the writer, who soon waits for the flush, and for the
/// compaction only when much is owed to it.
void Maintenance::give_way_to_flush() {
  if (!gives_way_) return;
  while (true) {
    const ChangeSignal::Ticket ticket = changes_.ticket();
    if (!flush_runs_ || health_.is_closing() || keyspaces_.debt() >= kDebtThatPresses) return;
    changes_.wait(ticket);
  }
}

void Maintenance::keep_up() {
  keyspaces_.remove_obsolete_files();
  keyspaces_.release_dropped();
  residency_.review();
  if (keyspaces_.review_scans()) changes_.announce();
  publish_();
  index_runs();
}

void Maintenance::index_runs() {
  for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces_.all()) {
    keyspace->indexer.index_runs(
        [&](const std::vector<std::uint64_t>& tables) { return is_reading_in_vain(keyspace->tree, tables); });
  }
}

/// The thread that reads runs into columns is the one that compacts, and may be the one that flushes. So it does first
/// what has become due. Afterwards the tables may be gone: then they need not be read to the end.
bool Maintenance::is_reading_in_vain(const Tree& tree, const std::vector<std::uint64_t>& tables) {
  if (health_.is_closing()) return true;
  if (pool_->threads() == 0) return false;
  while (pool_->threads() == 1 && flush()) {
  }
  if (!is_due(Job::kCompaction) || health_.has_stopped() || health_.is_retrying()) return false;
  while (compactions_.run_one()) {
  }
  const std::shared_ptr<const Version> version = tree.version();
  return std::ranges::any_of(tables, [&](std::uint64_t table) { return version->table(table) == nullptr; });
}

Status Maintenance::compact(OpenKeyspace& keyspace, const Range& range, const Progress& progress) {
  using Patience = Compactions::Patience;
  const Patience patience = pool_->may_wait_for_running_job() ? Patience::kWaits : Patience::kIsBusy;
  return compactions_.compact(keyspace, range, progress, patience);
}

Status Maintenance::wait_idle() {
  const auto is_flushed = [this] { return !keyspaces_.has_sealed(); };
  const auto is_compacted = [this] {
    const auto is_done = [this] { return keyspaces_.has_sealed() || (!is_due(Job::kCompaction) && !flush_runs_); };
    while (!is_done() && work_.help()) {  // Rather than sleep.
    }
    return is_done();
  };
  do {  // Others may write during a compaction.
    TAMIS_TRY_STATUS(pool_->wait_until(Job::kFlush, is_flushed, "a flush could not be done"));
    TAMIS_TRY_STATUS(pool_->wait_until(Job::kCompaction, is_compacted, "a rewrite is running"));
  } while (keyspaces_.has_sealed());
  for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces_.all()) keyspace->indexer.wait();
  index_runs();
  keyspaces_.release_dropped();
  const MutexLock flush_lock(flush_mutex_);  // A flush whose table is installed may still be releasing its journal.
  return {};
}

}  // namespace tamis
