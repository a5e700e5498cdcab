#include "engine/table_rewrites.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/try.h"
#include "compaction/covered_tables.h"
#include "compaction/expired_tables.h"
#include "compaction/parts.h"
#include "compaction/plan_parts.h"
#include "engine/background_threads.h"
#include "engine/memory_shares.h"
#include "engine/warm_blocks.h"
#include "entry/merging_iterator.h"
#include "io/file_names.h"

namespace tamis {
namespace {

std::vector<const Run*> all_runs(const Shape& shape) {
  std::vector<const Run*> runs;
  for (const std::vector<Run>& level : shape.levels) {
    for (const Run& run : level) runs.push_back(&run);
  }
  return runs;
}

void add_tables(ShapeEdit& edit, const RewriteResult& result, std::uint32_t level, std::uint64_t run) {
  for (const std::shared_ptr<const TableFacts>& table : result.tables) edit.added.push_back({level, run, table});
  edit.values_added.insert(edit.values_added.end(), result.values.begin(), result.values.end());
}

Status add_range_deletes(Table& table, std::vector<RangeTombstone>& to) {
  if (table.facts().range_deletes == 0) return {};
  TAMIS_TRY(const std::shared_ptr<const std::vector<RangeTombstone>> fragments, table.range_deletes());
  to.insert(to.end(), fragments->begin(), fragments->end());
  return {};
}

/// From the first to the last key of some tables; everything if there are none.
KeyRange extent_of(std::span<const std::shared_ptr<const TableFacts>> tables) {
  if (tables.empty()) return {};
  KeySpan extent = span_of(*tables.front());
  for (const auto& table : tables) extent = extent.joined(span_of(*table));
  return extent.to_range();
}

/// The inputs' entries, without the tables that lie outside the part.
std::unique_ptr<EntryIterator> open_inputs(const Version& version, const CompactionPlan& plan, const KeyRange& part,
                                           BlocksOpened& opened) {
  std::vector<std::unique_ptr<EntryIterator>> runs;
  for (const CompactionInput& input : plan.inputs) {
    std::vector<std::uint64_t> tables;
    std::ranges::copy_if(input.tables, std::back_inserter(tables),
                         [&](std::uint64_t number) { return version.table(number)->facts().overlaps(part); });
    runs.push_back(version.iterate_tables(tables, &opened));
  }
  return make_merging_iterator(std::move(runs));
}

/// Tables of levels 0 and 1 end where the others do (compaction/level_zero.h).
void cut_for_groups(RewriteSpec& spec, LevelZeroCuts cuts) {
  if (spec.output_level > 1) return;
  spec.cuts.keys = std::move(cuts.keys);
  const std::uint64_t bytes = spec.output_level == 0 ? cuts.bytes_in_level_zero : cuts.bytes_in_level_one;
  spec.table_bytes = std::min(spec.table_bytes, bytes);
}

/// For each entry that is not of the oldest input, how many entries the merge has dropped; nothing if all are.
std::optional<double> overwritten_by_newer(const Shape& shape, const CompactionPlan& plan,
                                           const RewriteResult& result) {
  std::uint64_t oldest = 0;
  for (const std::uint64_t number : plan.inputs.back().tables) {
    oldest += (*shape.find_table(number)->facts)->entries;
  }
  if (result.entries_read <= oldest) return std::nullopt;
  return std::min(1.0, static_cast<double>(result.entries_dropped) / static_cast<double>(result.entries_read - oldest));
}

/// Of two times, 0 meaning none.
std::uint64_t older(std::uint64_t a, std::uint64_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

}  // namespace

Status TableRewrites::flush(std::span<const SealedOfTree> flushes) {
  const Stopwatch stopwatch;
  std::vector<TreeChange> changes;
  std::vector<RewriteResult> results;
  for (const SealedOfTree& flush : flushes) {
    TreeChange& change =
        changes.emplace_back(TreeChange{.keyspace = flush.keyspace.get(), .flushed = flush.sealed.memtable.get()});
    change.edit.flushed_sequence = number_of(flush.sealed.last_sequence);
    const Memtable& memtable = *flush.sealed.memtable;
    TAMIS_TRY(RewriteResult result, write_run(*flush.keyspace, *memtable.iterate(), memtable.entries(),
                                              memtable.range_deletes().all(), {}, change.edit));
    results.push_back(std::move(result));
  }
  ManifestEdit rest = journals_after(flushes);
  for (TreeChange& change : changes) {  // The store's says the same for most.
    if (rest.flushed_sequence >= change.edit.flushed_sequence) change.edit.flushed_sequence.reset();
  }
  Status installed = keyspaces_.install(changes, std::move(rest));
  if (installed.ok()) context_.timed.flush.add(stopwatch.ns());
  for (const RewriteResult& result : results) {
    if (installed.code() == StatusCode::kClosed) remove_unused(result);
    if (!installed.ok()) continue;
    flushes_.fetch_add(1, std::memory_order_relaxed);
    context_.tell(StoreEvent::Kind::kFlushed, "memtable", &result);
  }
  return installed;
}

Result<RewriteResult> TableRewrites::write_run(const OpenKeyspace& keyspace, EntryIterator& source,
                                               std::uint64_t entries, std::vector<RangeTombstone> range_deletes,
                                               const std::deque<Run>& newer, KeyspaceEdit& edit) {
  const Shape shape = keyspace.tree.version()->shape();  // Not the version: it would keep tables that go meanwhile.
  const std::shared_ptr<const TreeSettings> settings = keyspace.tree.settings();
  TAMIS_TRY(const std::uint64_t run, catalog_.new_number());
  RewriteSpec spec = spec_for(keyspace, *settings, shape, 0, run);
  cut_for_groups(spec, keyspace.tree.level_zero_cuts());
  spec.range_deletes = std::move(range_deletes);
  spec.values.bytes_apart = settings->options.value_bytes_apart;
  const Features in_use = catalog_.features();
  // There may be some entries that need it.
  for (const Feature feature : {Feature::kLongKeys, Feature::kExpiry, Feature::kMerges, Feature::kValuesApart}) {
    if (in_use.includes(Features::of(feature))) spec.features |= Features::of(feature);
  }
  for (const Run& older : newer) spec.older_runs.push_back(&older);
  for (const Run* older : all_runs(shape)) spec.older_runs.push_back(older);
  const FilterPlanner filters(shape, {}, 0, run, entries, keyspace.tree.filter_plan_options());
  spec.filters = &filters;
  begin_rewrite(spec);
  TAMIS_TRY(RewriteResult result, rewrite(source, spec));
  if (limit_.exists()) (void)limit_.take(result.bytes_written, WriteLimit::Clock::now());
  TAMIS_TRY_STATUS(make_durable(result));
  add_tables(edit.shape, result, 0, run);
  return result;
}

/// Everything before the first journal that is still needed is in tables, whatever its keyspace. The newest journal is
/// read first: what a tree without entries gets from now on is in that one or in a later one.
ManifestEdit TableRewrites::journals_after(std::span<const SealedOfTree> flushes) const {
  const std::uint64_t newest = journals_.newest();
  if (newest == 0) return {};  // Recovery needs all of them to its end.
  const std::uint64_t first = std::min(newest, keyspaces_.first_journal(flushes));
  return {.flushed_sequence = number_of(journals_.first_sequence(first)) - 1, .first_journal = first};
}

Status TableRewrites::execute(OpenKeyspace& keyspace, const CompactionPlan& plan,
                              const std::function<bool()>& is_cancelled) {
  const std::shared_ptr<const Version> version = keyspace.tree.version();
  if (plan.is_drop) return drop(keyspace, plan, version->shape());
  TAMIS_TRY_STATUS(check_plan(version->shape(), plan));
  return plan.is_move ? move(keyspace, plan, version->shape()) : merge(keyspace, plan, *version, is_cancelled);
}

Status TableRewrites::move(OpenKeyspace& keyspace, const CompactionPlan& plan, const Shape& shape) {
  TreeChange change{.keyspace = &keyspace};
  RewriteResult moved;
  for (const std::uint64_t number : plan.inputs.front().tables) {
    TAMIS_TRY(std::shared_ptr<const TableFacts> facts, facts_of(shape, number));
    change.edit.shape.removed.push_back(number);
    moved.tables.push_back(std::move(facts));
  }
  add_tables(change.edit.shape, moved, plan.output_level, plan.output_run);
  TAMIS_TRY_STATUS(keyspaces_.install({&change, 1}));
  moves_.fetch_add(1, std::memory_order_relaxed);
  context_.tell(StoreEvent::Kind::kMoved, plan.reason, &moved);
  return {};
}

/// Rule 28. A snapshot of a time before may have come since the plan was made: then the table stays.
Status TableRewrites::drop(OpenKeyspace& keyspace, const CompactionPlan& plan, const Shape& shape) {
  const LiveHandles::Readable readable = handles_.readable(published_, context_.expiry.advance());
  const std::vector<const Run*> older = runs_older_than_inputs(shape, plan);
  TreeChange change{.keyspace = &keyspace};
  for (const std::uint64_t number : plan.inputs.front().tables) {
    TAMIS_TRY(const std::shared_ptr<const TableFacts> facts, facts_of(shape, number));
    const bool goes = may_go_unread(*facts, older, readable.sequences, readable.expired_by);
    if (goes) change.edit.shape.removed.push_back(number);
  }
  TAMIS_TRY_STATUS(keyspaces_.install({&change, 1}));
  tables_expired_.fetch_add(change.edit.shape.removed.size(), std::memory_order_relaxed);
  compactions_.fetch_add(1, std::memory_order_relaxed);
  const RewriteResult nothing;
  context_.tell(StoreEvent::Kind::kCompacted, plan.reason, &nothing);
  return {};
}

std::uint64_t TableRewrites::expired_by() const {
  if (!context_.expiry.is_used()) return 0;
  return handles_.readable(published_, context_.expiry.advance()).expired_by.front();
}

Status TableRewrites::merge(OpenKeyspace& keyspace, const CompactionPlan& plan, const Version& version,
                            const std::function<bool()>& is_cancelled) {
  const Stopwatch stopwatch;
  const Shape& shape = version.shape();
  const std::shared_ptr<const TreeSettings> settings = keyspace.tree.settings();
  RewriteSpec spec = spec_for(keyspace, *settings, shape, plan.output_level, plan.output_run);
  spec.older_runs = runs_older_than_inputs(shape, plan);
  const std::span<const Run> next = runs_of(shape, plan.output_level + 1);
  if (next.size() == 1) spec.cuts.next_level = &next.front();
  cut_for_groups(spec, keyspace.tree.level_zero_cuts());
  TreeChange change{.keyspace = &keyspace};
  std::vector<std::uint64_t>& removed = change.edit.shape.removed;
  std::uint64_t keys = 0;
  for (const CompactionInput& input : plan.inputs) {
    for (const std::uint64_t number : input.tables) {
      TAMIS_TRY(const std::shared_ptr<const TableFacts> facts, facts_of(shape, number));
      removed.push_back(number);
      spec.replaced.inputs.push_back(facts);
      spec.features |= facts->features;
      keys += facts->keys;
      TAMIS_TRY_STATUS(add_range_deletes(*version.table(number), spec.range_deletes));
      spec.oldest_delete_unix_seconds = older(facts->oldest_delete_unix_seconds, spec.oldest_delete_unix_seconds);
    }
  }
  spec.values.collected = plan.collected;
  spec.values.read = [&version](const ValuePointer& pointer, std::string_view key, std::string& to) {
    return version.value_file(pointer.file)->copy_out(pointer, key, to);
  };
  // Repair must know, without a manifest, that obsolete tables were replaced even when what replaced them is gone.
  const Tree::ObsoleteListing obsolete(keyspace.tree);
  spec.replaced.others = obsolete.numbers();
  const FilterPlanner filters(shape, removed, plan.output_level, plan.output_run, keys,
                              keyspace.tree.filter_plan_options());
  spec.filters = &filters;
  begin_rewrite(spec);
  const std::vector<KeyRange> parts = parts_of_plan(shape, plan, settings->options);
  if (parts.size() > 1) {
    TAMIS_TRY(spec.replaced.rewrite, catalog_.new_number());
  }
  const auto open = [&](const KeyRange& part, BlocksOpened& opened) {
    return open_inputs(version, plan, part, opened);
  };
  TAMIS_TRY(const RewriteResult result, write_parts(open, spec, parts, is_cancelled));
  TAMIS_TRY_STATUS(make_durable(result));
  add_tables(change.edit.shape, result, plan.output_level, plan.output_run);
  const Status installed = keyspaces_.install({&change, 1});
  if (installed.code() == StatusCode::kClosed) remove_unused(result);
  TAMIS_TRY_STATUS(installed);
  if (plan.inputs.front().level == 0) {
    if (const auto fraction = overwritten_by_newer(shape, plan, result)) keyspace.tree.found_overwritten(*fraction);
  }
  context_.timed.compaction.add(stopwatch.ns());
  compactions_.fetch_add(1, std::memory_order_relaxed);
  context_.tell(StoreEvent::Kind::kCompacted, plan.reason, &result);
  return {};
}

/// The snapshots are copied after the version was taken: one that is made later sees the range deletes.
Result<bool> TableRewrites::remove_covered(OpenKeyspace& keyspace,
                                           const std::function<bool(std::uint64_t table)>& is_free) {
  const std::shared_ptr<const Version> version = keyspace.tree.version();
  if (version->range_deletes() == nullptr) return false;
  TreeChange change{.keyspace = &keyspace};
  const std::vector<Sequence> sequences = handles_.readable(published_, /*horizon=*/0).sequences;
  change.edit.shape.removed = tables_covered_whole(version->shape(), version->range_deletes()->known(), sequences);
  std::erase_if(change.edit.shape.removed, [&](std::uint64_t table) { return !is_free(table); });
  if (change.edit.shape.removed.empty()) return false;
  TAMIS_TRY_STATUS(keyspaces_.install({&change, 1}));
  compactions_.fetch_add(1, std::memory_order_relaxed);
  const RewriteResult nothing;
  context_.tell(StoreEvent::Kind::kCompacted, "range deletes cover whole tables", &nothing);
  return true;
}

/// The keyspace was dropped while these tables were written.
void TableRewrites::remove_unused(const RewriteResult& result) {
  for (const auto& table : result.tables) {
    (void)context_.files.remove(table_path(context_.directory, table->number)).ok();
    cache_.erase_table(table->number, table->cached_blocks());
  }
  for (const ValueFileFacts& values : result.values) {
    (void)context_.files.remove(value_file_path(context_.directory, values.number)).ok();
  }
}

void TableRewrites::begin_rewrite(RewriteSpec& spec) {
  if (!spec.older_runs.empty()) return;
  spec.zeroed_up_to =
      empty_ranges_.begin_rewrite(spec.keyspace.id, extent_of(spec.replaced.inputs), spec.snapshots.back());
}

Status TableRewrites::make_durable(const RewriteResult& result) {
  bytes_written_.fetch_add(result.bytes_written, std::memory_order_relaxed);
  return context_.files.sync_directory(context_.directory);
}

/// When one part fails, the others end early, and nothing of them stays.
Result<RewriteResult> TableRewrites::write_parts(const OpenSource& open, const RewriteSpec& spec,
                                                 std::span<const KeyRange> parts,
                                                 const std::function<bool()>& is_cancelled) {
  std::atomic<bool> has_failed = false;
  std::vector<Result<RewriteResult>> results(parts.size(), Status::closed("the rewrite was cancelled"));
  std::vector<SharedWork::Piece> pieces;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    pieces.emplace_back([&, i] {
      RewriteSpec own = spec;
      own.part = parts[i];
      own.calls.is_cancelled = [&, counted = std::uint64_t{0}](std::uint64_t written) mutable {
        if (has_failed || is_cancelled()) return true;
        wait_for_limit(written - std::min(written, counted), is_cancelled);
        counted = std::max(written, counted);
        return false;
      };
      WarmBlocks warm(cache_);
      own.calls.wrote_block = [&warm](auto... block) { warm.add(block...); };
      results[i] = rewrite(*open(parts[i], warm.input()), own);
      if (results[i].ok()) return;
      has_failed = true;
      warm.erase();
    });
  }
  work_.run(pieces);
  Status failed;
  RewriteResult all;
  for (const Result<RewriteResult>& result : results) {
    if (result.ok()) {
      all.add(*result);
    } else if (failed.ok() || failed.code() == StatusCode::kClosed) {  // The others have only ended early.
      failed = result.status();
    }
  }
  if (failed.ok()) return all;
  remove_unused(all);
  return failed;
}

void TableRewrites::wait_for_limit(std::uint64_t bytes, const std::function<bool()>& is_cancelled) {
  constexpr std::chrono::milliseconds kTimeBetweenQuestions(10);
  if (!limit_.exists()) return;
  using Clock = WriteLimit::Clock;
  const Clock::time_point end = limit_.take(bytes, Clock::now());
  while (Clock::now() < end && !is_cancelled()) {
    std::this_thread::sleep_for(std::min<Clock::duration>(end - Clock::now(), kTimeBetweenQuestions));
  }
}

/// At most one part for each thread. Those that flush do not help, but those that wait for compactions do.
std::vector<KeyRange> TableRewrites::parts_of_plan(const Shape& shape, const CompactionPlan& plan,
                                                   const Options& options) const {
  constexpr std::uint64_t kTablesPerPart = 4;  // The last table of a part is smaller than the others.
  return parts_of(shape, plan, background_threads_of(context_.options), kTablesPerPart * options.table_bytes);
}

RewriteSpec TableRewrites::spec_for(const OpenKeyspace& keyspace, const TreeSettings& settings, const Shape& shape,
                                    std::uint32_t level, std::uint64_t run) {
  const Options& options = settings.options;
  const bool is_last_level = level > 0 && level >= shape.last_level();
  const std::uint64_t horizon = context_.expiry.advance();
  LiveHandles::Readable readable = handles_.readable(published_, horizon);
  return {.files = &context_.files,
          .directory = context_.directory,
          .identity = context_.identity,
          .keyspace = {.id = keyspace.id(),
                       .name = keyspace.id() == kDefaultKeyspace ? std::string() : keyspace.name,
                       .merge_operator = keyspace.merge_operator.load(std::memory_order_acquire)},
          .hasher = &context_.hasher,
          .block_bytes = options.block_bytes,
          .table_bytes = options.table_bytes,
          .codec = find_codec(is_last_level ? options.codec_last : options.codec),
          .scan_filters = {options.prefix_rule, options.range_filter_bits},
          .output_level = level,
          .output_run = run,
          .flushed_sequence = catalog_.flushed_sequence(),
          .now_unix_seconds = context_.now_unix_seconds(),
          .snapshots = std::move(readable.sequences),
          .expired_by = std::move(readable.expired_by),
          .cuts = {.filter_build_bytes = filter_build_memory(options)},
          .new_number = [this] { return catalog_.new_number(); },
          .values = {.file_bytes = std::max(context_.memtable_bytes, options.table_bytes)}};
}

Result<std::shared_ptr<const TableFacts>> TableRewrites::facts_of(const Shape& shape, std::uint64_t number) const {
  if (const std::optional<TablePlace> place = shape.find_table(number)) return *place->facts;
  return Status::corruption(
      fmt::format("{}: a compaction names table {}, which is not there", context_.directory, number));
}

TableRewrites::Counts TableRewrites::counts() const {
  return {.tables_expired = tables_expired_,
          .flushes = flushes_,
          .compactions = compactions_,
          .moves = moves_,
          .bytes_written = bytes_written_};
}

}  // namespace tamis
