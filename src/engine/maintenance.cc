#include "engine/maintenance.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <thread>

#include "base/try.h"
#include "compaction/expired_tables.h"
#include "compaction/value_plan.h"
#include "engine/pacing.h"

namespace tamis {
namespace {

/// With more cores a flush, a compaction and two writers do not compete.
constexpr unsigned kFewCores = 3;
/// Of compact(), about: where two steps meet, a table of the level below is written twice.
constexpr std::uint64_t kTablesPerStep = 16;

std::vector<std::uint64_t> damaged_values(const Version& version) {
  std::vector<std::uint64_t> numbers;
  for (const std::shared_ptr<ValueFile>& file : version.value_files()) {
    if (file->is_damaged()) numbers.push_back(file->facts().number);
  }
  return numbers;
}

bool cores_are_few(const JobPool& pool) {
  return pool.threads() > 1 && std::thread::hardware_concurrency() <= kFewCores;
}

}  // namespace

Maintenance::Maintenance(const StoreContext& context, Catalog& catalog, Keyspaces& keyspaces, Journals& journals,
                         TableRewrites& rewrites, Residency& residency, Health& health, ChangeSignal& changes)
    : context_(context),
      catalog_(catalog),
      keyspaces_(keyspaces),
      journals_(journals),
      rewrites_(rewrites),
      residency_(residency),
      health_(health),
      changes_(changes),
      pool_(JobPool::make(context, *this, health, changes)),
      gives_way_(cores_are_few(*pool_)) {}

bool Maintenance::run(Job job) {
  switch (job) {
    case Job::kFlush: return flush();
    case Job::kCompaction: return compact_if_due();
    case Job::kUpkeep: break;
  }
  keep_up();
  return false;
}

bool Maintenance::is_due(Job job) const {
  switch (job) {
    case Job::kFlush: return keyspaces_.has_sealed();
    case Job::kCompaction:
      if (settled_generation_ != keyspaces_.generation()) return true;
      return context_.expiry.is_used() && settled_at_ != context_.now_unix_seconds();  // Time makes work.
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
  if (!may_begin(flush_runs_)) return false;
  MutexLock flush_lock(flush_mutex_);
  if (!keyspaces_.has_sealed() || health_.has_stopped()) return false;
  flush_runs_ = true;
  const Status flushed = flush_oldest();
  if (flushed.ok()) prepare_next_journal();
  end(flush_runs_);
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
  if (!may_begin(flush_runs_)) return Status::busy(context_.directory + ": a flush is running");
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

/// Old tombstones become due with time, even if no table changes.
bool Maintenance::compact_if_due() {
  if (!may_begin(compaction_runs_)) return false;
  MutexLock compaction_lock(compaction_mutex_);
  const std::uint64_t generation = keyspaces_.generation();
  const std::uint64_t now = context_.now_unix_seconds();
  if (settled_generation_ == generation && settled_at_ == now) return false;
  if (!health_.check_working().ok()) return false;
  compaction_runs_ = true;
  const Result<bool> done = compact_one(now);
  if (done.ok() && !*done) {
    settled_at_ = now;
    settled_generation_ = generation;
  }
  end(compaction_runs_);
  if (!done.ok() && done.status().code() != StatusCode::kClosed) health_.rewrite_failed("compaction", done.status());
  return done.ok() && *done;
}

/// The version is not kept: its tables could not be removed right after the compaction.
std::optional<CompactionPlan> Maintenance::plan_for(const Tree& tree, std::uint64_t now_unix_seconds) const {
  const std::shared_ptr<const TreeSettings> settings = tree.settings();
  const std::shared_ptr<const Version> version = tree.version();
  const Shape& shape = version->shape();
  const std::uint64_t expired_by = settings->policy.is_automatic ? rewrites_.expired_by() : 0;
  std::optional<CompactionPlan> plan = pick_wholly_expired(shape, expired_by);
  if (!plan) plan = settings->policy.pick(shape, settings->policy_options(context_.memtable_bytes, now_unix_seconds));
  if (!plan) plan = pick_mostly_expired(shape, expired_by);
  if (!plan && settings->policy.is_automatic) plan = pick_values(shape, damaged_values(*version));
  return plan;
}

/// One compaction of the tree that needs it most. False: none needs any.
Result<bool> Maintenance::compact_one(std::uint64_t now_unix_seconds) {
  std::vector<std::shared_ptr<OpenKeyspace>> keyspaces = keyspaces_.all();
  std::ranges::stable_sort(keyspaces, std::greater(), [](const auto& keyspace) { return keyspace->tree.debt(); });
  for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces) {
    const std::uint64_t generation = keyspace->tree.generation();
    if (keyspace->settled_generation == generation && keyspace->settled_at == now_unix_seconds) continue;
    const Result<bool> has_removed = remove_covered(*keyspace);
    if (!has_removed.ok() && !keyspace->is_dropped()) return has_removed.status();
    if (!has_removed.ok() || *has_removed) return true;
    const std::optional<CompactionPlan> plan = plan_for(keyspace->tree, now_unix_seconds);
    if (plan) {
      Status done = execute(*keyspace, *plan);
      if (!done.ok() && !keyspace->is_dropped()) return done;  // One that was dropped meanwhile needs none.
      return true;
    }
    keyspace->settled_at = now_unix_seconds;
    keyspace->settled_generation = generation;
  }
  return false;
}

Status Maintenance::execute(OpenKeyspace& keyspace, const CompactionPlan& plan) {
  const auto is_cancelled = [&] {
    publish_();
    give_way_to_flush();
    return health_.is_closing() || keyspace.is_dropped();
  };
  TAMIS_TRY_STATUS(rewrites_.execute(keyspace, plan, is_cancelled));
  health_.rewrite_succeeded();
  keyspace.tree.remove_obsolete_files();
  return {};
}

Result<bool> Maintenance::remove_covered(OpenKeyspace& keyspace) {
  TAMIS_TRY(const bool has_removed, rewrites_.remove_covered(keyspace));
  if (!has_removed) return false;
  health_.rewrite_succeeded();
  keyspace.tree.remove_obsolete_files();
  return true;
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
  while (compact_if_due()) {
  }
  const std::shared_ptr<const Version> version = tree.version();
  return std::ranges::any_of(tables, [&](std::uint64_t table) { return version->table(table) == nullptr; });
}

Status Maintenance::compact(OpenKeyspace& keyspace, const Range& range, const Progress& progress) {
  TAMIS_TRY(const RangeGoal goal, goal_for(keyspace.tree, range));
  std::uint64_t most_left = 0;
  while (true) {
    const std::uint64_t left = bytes_left_for_range(keyspace.tree.version()->shape(), goal);
    most_left = std::max(most_left, left);
    if (progress && !progress(most_left - left, most_left)) return Status::closed("stopped");
    TAMIS_TRY(const bool has_stepped, step_towards(keyspace, goal));
    if (!has_stepped) return {};
    // A thread that waits for the mutex may not get it between two steps, and writers must not suffer from that.
    if (keyspaces_.debt() >= kDebtThatPresses) (void)compact_if_due();
  }
}

/// What is in tables now.
Result<RangeGoal> Maintenance::goal_for(const Tree& tree, const Range& range) {
  if (!may_begin(compaction_runs_)) return Status::busy(context_.directory + ": a compaction is running");
  // A compaction that runs may have begun when snapshots were alive that are gone now: its tables have smaller numbers.
  MutexLock compaction_lock(compaction_mutex_);
  return RangeGoal{.from = range.from,
                   .to = range.to,
                   .newest = Sequence{catalog_.flushed_sequence(tree.id())},
                   .first_new_table = catalog_.next_number(),
                   .expired_by = rewrites_.expired_by(),
                   .step_bytes = kTablesPerStep * tree.settings()->options.table_bytes};
}

/// False when there was nothing left to do.
Result<bool> Maintenance::step_towards(OpenKeyspace& keyspace, const RangeGoal& goal) {
  if (!may_begin(compaction_runs_)) return Status::busy(context_.directory + ": a compaction is running");
  MutexLock compaction_lock(compaction_mutex_);
  TAMIS_TRY_STATUS(health_.check_working());
  compaction_runs_ = true;
  Result<bool> has_removed = remove_covered(keyspace);
  if (!has_removed.ok() || *has_removed) {
    end(compaction_runs_);
    return has_removed;
  }
  const std::optional<CompactionPlan> plan = pick_for_range(keyspace.tree.version()->shape(), goal);
  const Status done = plan ? execute(keyspace, *plan) : Status();
  end(compaction_runs_);
  if (!done.ok()) return done;
  return plan.has_value();
}

Status Maintenance::wait_idle() {
  const auto is_flushed = [this] { return !keyspaces_.has_sealed(); };
  const auto is_compacted = [this] {
    return keyspaces_.has_sealed() || (!is_due(Job::kCompaction) && !flush_runs_ && !compaction_runs_);
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

void Maintenance::end(std::atomic<bool>& runs) {
  runs = false;
  changes_.announce();
}

}  // namespace tamis
