// The store's reports must be consistent with each other and with what was done to it.
#include <fmt/core.h>

#include <cmath>

#include "base/try.h"
#include "model/model_run.h"

namespace tamis::test {
namespace {

struct Reads {
  std::uint64_t blocks = 0;
  std::uint64_t metadata = 0;
};

Reads reads_so_far(const Stats& stats) {
  Reads reads{.metadata = stats.memory.metadata_loads};
  for (const Stats::Level& level : stats.levels) reads.blocks += level.blocks_read;
  return reads;
}

Range range_of(const Bounds& bounds) {
  Range range;
  if (bounds.from) range.from = *bounds.from;
  if (bounds.to) range.to = *bounds.to;
  return range;
}

}  // namespace

void ModelRun::count_work() {
  const Stats stats = db_->stats();
  work_.flushes += stats.flushes;
  work_.compactions += stats.compactions + stats.moves;
}

/// One that is dropped meanwhile needs no compaction.
Status ModelRun::compact(const Operation& operation) {
  const Range range = range_of(operation.bounds);
  const std::uint32_t keyspace = model_.existing(operation.keyspace);
  const std::uint32_t id = *model_.now().at(keyspace).id;
  Status compacted = with(id, [&](auto& what) { return what.compact(range); });
  if (model_.now().at(keyspace).id != id) return {};
  TAMIS_TRY_STATUS(std::move(compacted));
  const bool is_alone = !spec_.runs_in_background && !spec_.schedule_seed;
  if (!is_alone || operation.bounds.from || operation.bounds.to) return {};
  for (const KeyspaceInfo& info : db_->keyspaces()) {
    if (info.id != id) continue;
    const std::size_t keys = model_.now().at(keyspace).map.size();
    if (info.entries < keys) return disagreement("fewer entries than keys after everything was compacted");
    // A clock that ran ahead hides what is not dropped yet.
    std::size_t unfolded = 0;  // Operands on a value that will expire stay apart from it.
    for (const auto& [key, due] : model_.now().at(keyspace).due) unfolded += due.operands ? 1 : 0;
    if (live_snapshots() == 0 && !is_clock_ahead() && info.entries > keys + unfolded) {
      return disagreement(fmt::format("{} entries for {} keys after everything was compacted", info.entries, keys));
    }
  }
  return {};
}

Status ModelRun::verify() {
  TAMIS_TRY(const VerifyReport report, db_->verify());
  if (!report.ok()) {
    return disagreement(fmt::format("verify found {} problems: {}: {}", report.problems.size(),
                                    report.problems.front().file, report.problems.front().what));
  }
  return {};
}

Status ModelRun::approximate_size(const Operation& operation) {
  const Range range = range_of(operation.bounds);
  const std::uint32_t id = model_.at(operation.keyspace, {}).id;
  TAMIS_TRY(const std::uint64_t part, with(id, [&](auto& of) { return of.approximate_size(range); }));
  TAMIS_TRY(const std::uint64_t whole, with(id, [](auto& of) { return of.approximate_size({}); }));
  if (spec_.runs_in_background) return {};
  if (part > whole) return disagreement(fmt::format("a range has {} bytes, everything {}", part, whole));
  if (whole > db_->stats().bytes_on_disk) return disagreement("more bytes than there are on disk");
  if (range.to && *range.to <= range.from && part > 0) return disagreement("an empty range has bytes");
  return {};
}

Status ModelRun::stats() {
  const Stats stats = db_->stats();
  const auto expect = [](std::string_view what, std::uint64_t is, std::uint64_t should_be) -> Status {
    if (is == should_be) return {};
    return disagreement(fmt::format("stats: {} is {}; expected {}", what, is, should_be));
  };
  TAMIS_TRY_STATUS(expect("sequence", stats.sequence, model_.sequence()));
  TAMIS_TRY_STATUS(expect("snapshots", stats.snapshots, live_snapshots()));
  TAMIS_TRY_STATUS(expect("writes", stats.writes, asked_.writes));
  TAMIS_TRY_STATUS(expect("gets", stats.gets, asked_.gets));
  TAMIS_TRY_STATUS(expect("gets_found", stats.gets_found, asked_.gets_found));
  const Stats::Memory& memory = stats.memory;
  TAMIS_TRY_STATUS(expect(
      "memory", memory.used,
      memory.memtables + memory.blocks + memory.indexes + memory.filters + memory.journal + memory.transactions));
  std::uint64_t bytes = 0;
  for (const Stats::Level& level : stats.levels) {
    bytes += level.bytes;
    if (level.tombstones > level.entries) return disagreement("stats: more tombstones than entries");
    if (level.negatives > level.probes) return disagreement("stats: more negatives than probes");
    if (level.hits + level.false_positives > level.probes) return disagreement("stats: more positives than probes");
    if (level.runs > level.tables) return disagreement("stats: more runs than tables");
  }
  TAMIS_TRY_STATUS(expect("bytes_on_disk", stats.bytes_on_disk, bytes + stats.values.bytes));
  if (stats.values.live_bytes > stats.values.bytes) return disagreement("stats: more live bytes than value files have");
  if (stats.memtable_hits > stats.gets_found) return disagreement("stats: more hits in memtables than hits");
  if (!stats.background_error.empty()) return disagreement("stats: " + stats.background_error);
  if (stats.to_text().empty()) return disagreement("stats have no text");
  return {};
}

Status ModelRun::explain(const Operation& operation) {
  const std::string& key = operation.keys.front();
  const Reads before = reads_so_far(db_->stats());
  TAMIS_TRY(const Explanation explanation,
            with(target(operation).id, [&](auto& from) { return from.explain(key, read_options(operation)); }));
  const Reads after = reads_so_far(db_->stats());
  TAMIS_TRY_STATUS(compare_answer(operation, key, explanation.found, explanation.value.value_or("")));
  if (explanation.found != explanation.value.has_value()) return disagreement("explain: found without a value");
  if (explanation.steps.empty() || explanation.to_text().empty()) return disagreement("explain: nothing to tell");
  if (explanation.operands.empty() && explanation.found != (explanation.steps.back().outcome == "found")) {
    return disagreement("explain: the last step is " + explanation.steps.back().outcome);
  }
  for (const Explanation::Step& step : explanation.steps) {
    if (step.filter_verdict == "not asked: the run index says no") ++ruled_out_by_run_index_;
  }
  const bool is_dropped = target(operation).id != model_.at(operation.keyspace, {}).id;  // Then it is not in the stats.
  if (spec_.runs_in_background || is_dropped) return {};
  const bool reads_value = explanation.steps.back().where == "value file";
  if (after.blocks - before.blocks + (reads_value ? 1 : 0) != explanation.reads ||
      after.metadata - before.metadata != explanation.metadata_reads) {
    return disagreement(fmt::format("explain reports {} and {} reads, the counters {} and {}:\n{}", explanation.reads,
                                    explanation.metadata_reads, after.blocks - before.blocks,
                                    after.metadata - before.metadata, explanation.to_text()));
  }
  return {};
}

Status ModelRun::plan() {
  const PlanReport plan = db_->plan();
  double wasted = 0;
  for (const PlanReport::Run& run : plan.runs) {
    if (!(run.rate >= 0 && run.rate <= 1)) return disagreement(fmt::format("plan: a rate of {}", run.rate));
    wasted += run.rate;
  }
  if (std::abs(wasted - plan.wasted_reads) > 1e-9 * wasted) return disagreement("plan: the rates do not add up");
  if (plan.to_text().empty()) return disagreement("a plan has no text");
  return {};
}

}  // namespace tamis::test
