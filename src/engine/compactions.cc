#include "engine/compactions.h"

#include <algorithm>
#include <functional>

#include "base/try.h"
#include "compaction/expired_tables.h"
#include "compaction/value_plan.h"
#include "engine/pacing.h"

namespace tamis {
namespace {

/// Of compact(), about: where two steps meet, a table of the level below is written twice.
constexpr std::uint64_t kTablesPerStep = 16;

std::vector<std::uint64_t> damaged_values(const Version& version) {
  std::vector<std::uint64_t> numbers;
  for (const std::shared_ptr<ValueFile>& file : version.value_files()) {
    if (file->is_damaged()) numbers.push_back(file->facts().number);
  }
  return numbers;
}

/// Old tombstones become due with time, even if no table changes.
bool is_settled(const OpenKeyspace& keyspace, std::uint64_t now_unix_seconds) {
  return keyspace.settled_generation == keyspace.tree.generation() && keyspace.settled_at == now_unix_seconds;
}

}  // namespace

bool Compactions::is_due() const {
  if (running_count_ > 0 || settled_generation_ != keyspaces_.generation()) return true;
  return context_.expiry.is_used() && settled_at_ != context_.now_unix_seconds();  // Time makes work.
}

bool Compactions::run_one() {
  if (!health_.check_working().ok()) return false;
  Result<bool> has_stepped = remove_covered();
  if (has_stepped.ok() && !*has_stepped) {
    const std::optional<Begun> begun = begin_next();
    if (!begun) return false;
    if (Status done = finish(*begun); !done.ok()) has_stepped = std::move(done);
  }
  if (has_stepped.ok()) return true;
  if (has_stepped.status().code() != StatusCode::kClosed) health_.rewrite_failed("compaction", has_stepped.status());
  return false;
}

std::optional<Compactions::Begun> Compactions::begin_next() {
  MutexLock lock(mutex_);
  const std::uint64_t generation = keyspaces_.generation();
  const std::uint64_t now = context_.now_unix_seconds();
  if (settled_generation_ == generation && settled_at_ == now) return std::nullopt;
  if (stuck_ == std::tuple(generation, begun_, running_.size(), now)) return std::nullopt;
  std::vector<std::shared_ptr<OpenKeyspace>> keyspaces = keyspaces_.all();
  std::ranges::stable_sort(keyspaces, std::greater(), [](const auto& keyspace) { return keyspace->tree.debt(); });
  for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces) {
    if (std::optional<Begun> begun = begin_in(keyspace, now)) return begun;
  }
  stuck_ = {generation, begun_, running_.size(), now};
  if (!running_.empty()) return std::nullopt;
  settled_at_ = now;
  settled_generation_ = generation;
  changes_.announce();  // For those who wait until nothing is due.
  return std::nullopt;
}

std::optional<Compactions::Begun> Compactions::begin_in(const std::shared_ptr<OpenKeyspace>& keyspace,
                                                        std::uint64_t now_unix_seconds) {
  const std::uint64_t generation = keyspace->tree.generation();
  if (is_settled(*keyspace, now_unix_seconds)) return std::nullopt;
  // The version is not kept: its tables could not be removed right after the compaction.
  const std::shared_ptr<const Version> version = keyspace->tree.version();
  const Claims& claims = claims_[keyspace->id()];
  Admission admission(claims);
  auto plan = plan_for(keyspace->tree, *version, admission);
  if (plan) return begin(keyspace, version->shape(), std::move(*plan));
  if (claims.empty()) {
    keyspace->settled_at = now_unix_seconds;
    keyspace->settled_generation = generation;
  }
  return std::nullopt;
}

std::optional<CompactionPlan> Compactions::plan_for(const Tree& tree, const Version& version,
                                                    Admission& admission) const {
  const Shape& shape = version.shape();
  const CompactionPolicy& policy = tree.settings()->policy;
  const std::uint64_t expired_by = policy.is_automatic ? rewrites_.expired_by() : 0;
  if (auto plan = pick_wholly_expired(shape, expired_by, admission)) return plan;
  PolicyOptions options = tree.policy_options();
  options.extra_runs_scanned = version.extra_runs_scanned();
  if (auto plan = policy.pick_beside(shape, options, admission)) return plan;
  if (auto plan = pick_mostly_expired(shape, expired_by, admission)) return plan;
  if (!policy.is_automatic) return std::nullopt;
  return pick_values(shape, damaged_values(version), admission);
}

Compactions::Begun Compactions::begin(std::shared_ptr<OpenKeyspace> keyspace, const Shape& shape, CompactionPlan plan) {
  const Claims::Id claim = claims_[keyspace->id()].begin(shape, plan);
  const std::uint64_t number = ++begun_;
  running_.insert(number);
  running_count_ = running_.size();
  return {.keyspace = std::move(keyspace), .plan = std::move(plan), .claim = claim, .number = number};
}

/// One that was dropped meanwhile needs no compaction.
Status Compactions::finish(const Begun& begun) {
  OpenKeyspace& keyspace = *begun.keyspace;
  const auto is_cancelled = [&] {
    interlude_();
    return health_.is_closing() || keyspace.is_dropped();
  };
  Status done = rewrites_.execute(keyspace, begun.plan, is_cancelled);
  if (done.ok()) {
    health_.rewrite_succeeded();
    keyspace.tree.remove_obsolete_files();
  }
  {
    MutexLock lock(mutex_);
    const auto claims = claims_.find(keyspace.id());
    claims->second.end(begun.claim);
    if (claims->second.empty() && !claims->second.reserved()) claims_.erase(claims);
    running_.erase(begun.number);
    running_count_ = running_.size();
  }
  changes_.announce();
  return !done.ok() && keyspace.is_dropped() ? Status() : done;
}

Result<bool> Compactions::remove_covered(OpenKeyspace& keyspace) {
  if (keyspace.tree.version()->range_deletes() == nullptr) return false;
  {
    MutexLock lock(mutex_);
    const Claims& claims = claims_[keyspace.id()];
    const auto is_free = [&](std::uint64_t table) { return !claims.has(table); };
    TAMIS_TRY(const bool has_removed, rewrites_.remove_covered(keyspace, is_free));
    if (!has_removed) return false;
  }
  health_.rewrite_succeeded();
  keyspace.tree.remove_obsolete_files();
  return true;
}

Result<bool> Compactions::remove_covered() {
  for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces_.all()) {
    if (is_settled(*keyspace, context_.now_unix_seconds())) continue;
    Result<bool> has_removed = remove_covered(*keyspace);
    if (keyspace->is_dropped()) continue;
    if (!has_removed.ok() || *has_removed) return has_removed;
  }
  return false;
}

Status Compactions::compact(OpenKeyspace& keyspace, const Range& range, const Progress& progress, Patience patience) {
  TAMIS_TRY(const RangeGoal goal, goal_for(keyspace.tree, range, patience));
  std::uint64_t most_left = 0;
  while (true) {
    const std::uint64_t left = bytes_left_for_range(keyspace.tree.version()->shape(), goal);
    most_left = std::max(most_left, left);
    if (progress && !progress(most_left - left, most_left)) return Status::closed("stopped");
    TAMIS_TRY(const bool has_stepped, step_towards(keyspace, goal, patience));
    if (!has_stepped) return {};
    // With few threads this one is needed for what writers wait for.
    if (keyspaces_.debt() >= kDebtThatPresses) (void)run_one();
  }
}

/// What is in tables now. A compaction that runs may have begun when snapshots were alive that are gone now, and its
/// tables must not count as new: it is waited for.
Result<RangeGoal> Compactions::goal_for(const Tree& tree, const Range& range, Patience patience) {
  std::optional<std::uint64_t> last;  // Of those that run at the call.
  while (true) {
    const ChangeSignal::Ticket ticket = changes_.ticket();
    {
      MutexLock lock(mutex_);
      if (!last) last = begun_;
      if (running_.empty() || *running_.begin() > *last) break;
    }
    if (patience == Patience::kIsBusy) return busy();
    changes_.wait(ticket);
  }
  return RangeGoal{.from = range.from,
                   .to = range.to,
                   .newest = Sequence{catalog_.flushed_sequence(tree.id())},
                   .first_new_table = catalog_.next_number(),
                   .expired_by = rewrites_.expired_by(),
                   .step_bytes = kTablesPerStep * tree.settings()->options.table_bytes};
}

/// False when there was nothing left to do.
Result<bool> Compactions::step_towards(OpenKeyspace& keyspace, const RangeGoal& goal, Patience patience) {
  if (patience == Patience::kIsBusy && running_count_ > 0) return busy();
  MutexLock step_lock(step_mutex_);
  TAMIS_TRY(const bool has_removed, remove_covered(keyspace));
  if (has_removed) return true;
  const std::shared_ptr<OpenKeyspace> kept = keyspaces_.find(keyspace.id());
  if (kept == nullptr) return Status::closed(context_.directory + ": the keyspace was dropped");
  while (true) {
    const ChangeSignal::Ticket ticket = changes_.ticket();
    if (Status working = health_.check_working(); !working.ok()) {
      MutexLock lock(mutex_);
      claims_[kept->id()].reserve(std::nullopt);
      return working;
    }
    bool must_wait = false;
    const std::optional<Begun> begun = begin_step(kept, goal, must_wait);
    if (begun) TAMIS_TRY_STATUS(finish(*begun));
    if (!must_wait) return begun.has_value();
    changes_.wait(ticket);
  }
}

std::optional<Compactions::Begun> Compactions::begin_step(const std::shared_ptr<OpenKeyspace>& keyspace,
                                                          const RangeGoal& goal, bool& must_wait) {
  MutexLock lock(mutex_);
  const std::shared_ptr<const Version> version = keyspace->tree.version();
  Claims& claims = claims_[keyspace->id()];
  claims.reserve(std::nullopt);
  std::optional<CompactionPlan> plan = pick_for_range(version->shape(), goal);
  if (!plan) return std::nullopt;
  const PlanReach reach = reach_of(version->shape(), *plan);
  must_wait = claims.meets(reach);
  if (!must_wait) return begin(keyspace, version->shape(), std::move(*plan));
  claims.reserve(reach);
  return std::nullopt;
}

}  // namespace tamis
