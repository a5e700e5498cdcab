#include "engine/table_rewrites.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/try.h"
#include "compaction/plan_parts.h"
#include "engine/memory_shares.h"
#include "entry/merging_iterator.h"

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
}

/// Of two times, 0 meaning none.
std::uint64_t older(std::uint64_t a, std::uint64_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

}  // namespace

Status TableRewrites::flush(const SealedMemtable& sealed) {
  KeyspaceEdit change{.flushed_sequence = number_of(sealed.last_sequence)};
  RewriteResult result;
  if (!sealed.memtable->empty()) {
    const std::shared_ptr<const Version> version = tree_.version();
    TAMIS_TRY(const std::uint64_t run, catalog_.new_number());
    RewriteSpec spec = spec_for(version->shape(), 0, run);
    spec.older_runs = all_runs(version->shape());
    const FilterPlanner filters(version->shape(), {}, 0, run, sealed.memtable->entries(),
                                context_.filter_plan_options());
    spec.filters = &filters;
    TAMIS_TRY(result, write_tables(*sealed.memtable->iterate(), spec));
    add_tables(change.shape, result, 0, run);
  }
  ManifestEdit edit = edit_of(kDefaultKeyspace, std::move(change));
  edit.first_journal = sealed.next_journal;
  TAMIS_TRY_STATUS(tree_.install(edit, sealed.memtable.get()));
  flushes_.fetch_add(1, std::memory_order_relaxed);
  context_.tell(StoreEvent::Kind::kFlushed, "memtable", &result);
  return {};
}

Status TableRewrites::execute(const CompactionPlan& plan, const std::function<bool()>& is_cancelled) {
  const std::shared_ptr<const Version> version = tree_.version();
  TAMIS_TRY_STATUS(check_plan(version->shape(), plan));
  return plan.is_move ? move(plan, version->shape()) : merge(plan, *version, is_cancelled);
}

Status TableRewrites::move(const CompactionPlan& plan, const Shape& shape) {
  ShapeEdit edit;
  RewriteResult moved;
  for (const std::uint64_t number : plan.inputs.front().tables) {
    TAMIS_TRY(std::shared_ptr<const TableFacts> facts, facts_of(shape, number));
    edit.removed.push_back(number);
    moved.tables.push_back(std::move(facts));
  }
  add_tables(edit, moved, plan.output_level, plan.output_run);
  TAMIS_TRY_STATUS(tree_.install(edit_of(kDefaultKeyspace, {.shape = std::move(edit)}), nullptr));
  moves_.fetch_add(1, std::memory_order_relaxed);
  context_.tell(StoreEvent::Kind::kMoved, plan.reason, &moved);
  return {};
}

Status TableRewrites::merge(const CompactionPlan& plan, const Version& version,
                            const std::function<bool()>& is_cancelled) {
  const Shape& shape = version.shape();
  RewriteSpec spec = spec_for(shape, plan.output_level, plan.output_run);
  spec.is_cancelled = is_cancelled;
  spec.older_runs = runs_older_than_inputs(shape, plan);
  const std::span<const Run> next = runs_of(shape, plan.output_level + 1);
  if (next.size() == 1) spec.next_level = &next.front();
  ShapeEdit edit;
  std::uint64_t keys = 0;
  std::vector<std::unique_ptr<EntryIterator>> runs;
  for (const CompactionInput& input : plan.inputs) {
    runs.push_back(version.iterate_tables(input.tables));
    for (const std::uint64_t number : input.tables) {
      TAMIS_TRY(const std::shared_ptr<const TableFacts> facts, facts_of(shape, number));
      edit.removed.push_back(number);
      spec.inputs.push_back(facts);
      spec.features |= facts->features;
      keys += facts->keys;
      spec.oldest_delete_unix_seconds = older(facts->oldest_delete_unix_seconds, spec.oldest_delete_unix_seconds);
    }
  }
  // Repair must know, without a manifest, that obsolete tables were replaced even when what replaced them is gone.
  tree_.add_obsolete_numbers(spec.replaces);
  const FilterPlanner filters(shape, edit.removed, plan.output_level, plan.output_run, keys,
                              context_.filter_plan_options());
  spec.filters = &filters;
  TAMIS_TRY(const RewriteResult result, write_tables(*make_merging_iterator(std::move(runs)), spec));
  add_tables(edit, result, plan.output_level, plan.output_run);
  TAMIS_TRY_STATUS(tree_.install(edit_of(kDefaultKeyspace, {.shape = std::move(edit)}), nullptr));
  compactions_.fetch_add(1, std::memory_order_relaxed);
  context_.tell(StoreEvent::Kind::kCompacted, plan.reason, &result);
  return {};
}

/// Durable when it returns.
Result<RewriteResult> TableRewrites::write_tables(EntryIterator& source, const RewriteSpec& spec) {
  TAMIS_TRY(RewriteResult result, rewrite(source, spec));
  bytes_written_.fetch_add(result.bytes_written, std::memory_order_relaxed);
  TAMIS_TRY_STATUS(context_.files.sync_directory(context_.directory));
  return result;
}

RewriteSpec TableRewrites::spec_for(const Shape& shape, std::uint32_t level, std::uint64_t run) {
  const Options& options = context_.options;
  const bool is_last_level = level > 0 && level >= shape.last_level();
  return {.files = &context_.files,
          .directory = context_.directory,
          .identity = context_.identity,
          .hasher = &context_.hasher,
          .block_bytes = options.block_bytes,
          .table_bytes = options.table_bytes,
          .filter_build_bytes = filter_build_memory(options),
          .codec = find_codec(is_last_level ? options.codec_last : options.codec),
          .prefix_rule = options.prefix_rule,
          .output_level = level,
          .output_run = run,
          .flushed_sequence = catalog_.flushed_sequence(),
          .now_unix_seconds = context_.now_unix_seconds(),
          .snapshots = handles_.readable(published_),
          .new_number = [this] { return catalog_.new_number(); }};
}

Result<std::shared_ptr<const TableFacts>> TableRewrites::facts_of(const Shape& shape, std::uint64_t number) const {
  if (const std::optional<TablePlace> place = shape.find_table(number)) return *place->facts;
  return Status::corruption(
      fmt::format("{}: a compaction names table {}, which is not there", context_.directory, number));
}

TableRewrites::Counts TableRewrites::counts() const {
  return {.flushes = flushes_, .compactions = compactions_, .moves = moves_, .bytes_written = bytes_written_};
}

}  // namespace tamis
