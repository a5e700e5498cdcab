#include "scale/scaled_store.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/try.h"
#include "cache/frame.h"
#include "compaction/filter_planner.h"
#include "engine/memory_shares.h"
#include "filter/filter_format.h"
#include "filter/filter_kind.h"
#include "scale/scale_sample.h"
#include "table/index_format.h"
#include "tamis/filter.h"

namespace tamis {
namespace {

constexpr double kTypicalBitsPerKey = 10;       // Assumed until filters are planned, to estimate the size of tables.
constexpr std::uint64_t kSpareBytesPerKey = 8;  // The hashes of a filter build, as the rewriter counts.

/// Samples of the oldest run, whose sequences are 0, and of the others.
struct Samples {
  TableSample oldest;
  TableSample others;
};

Result<Samples> take_samples(const ScaleQuestion& question, std::uint64_t entries) {
  SampleSpec spec{.key_bytes = question.key_bytes,
                  .value_bytes = question.value_bytes,
                  .keys = entries,
                  .block_bytes = question.options.block_bytes,
                  .table_bytes = question.options.table_bytes};
  Samples samples;
  TAMIS_TRY(samples.oldest, sample_table(spec));
  spec.has_sequences = true;
  spec.keys = std::max<std::uint64_t>(1, entries / std::max(2U, question.options.fanout));
  TAMIS_TRY(samples.others, sample_table(spec));
  return samples;
}

double entry_bytes(const TableSample& sample) {
  return sample.data_bytes_per_entry + sample.blocks_per_entry * sample.index_bytes_per_block;
}

std::uint64_t build_bytes_per_key(std::string_view kind) {
  const FilterKind* const found = find_filter_kind(kind);
  return (found != nullptr ? found->info.build_bytes_per_key : 0) + kSpareBytesPerKey;
}

/// A rewrite ends a table at its maximum size, filter included, or when the filter build would need too much memory.
double most_keys_per_table(const TableSample& sample, std::string_view kind, double bits_per_key,
                           const Options& options) {
  Options planned = options;
  if (planned.background_threads == 0) planned.background_threads = 2;  // The answer must not depend on this machine.
  const double filter_bytes = kind.empty() ? 0 : (std::floor(bits_per_key) + 1) / 8;
  const double by_size = static_cast<double>(options.table_bytes) / (entry_bytes(sample) + filter_bytes);
  const double by_memory =
      static_cast<double>(filter_build_memory(planned)) / static_cast<double>(build_bytes_per_key(kind));
  return std::max(1.0, std::min(by_size, by_memory));
}

/// The kind in the last level. It holds most of a store, so the simulation sizes all tables for it.
std::string_view typical_kind(const Options& options) {
  if (options.filter == "none") return {};
  return options.filter == "auto" ? std::string_view("sliced") : std::string_view(options.filter);
}

StoreFilterPlan plan_filters_of(const std::vector<ScaledRun>& runs, const Options& options) {
  Shape shape;
  std::uint64_t id = runs.size();
  for (const ScaledRun& run : runs) {
    auto facts = std::make_shared<TableFacts>();
    facts->number = id;
    facts->keys = static_cast<std::uint64_t>(run.keys);
    if (shape.levels.size() <= run.level) shape.levels.resize(run.level + 1);
    shape.levels[run.level].push_back({.id = id--, .tables = {std::move(facts)}});
  }
  return plan_filters(
      shape, {.kind = options.filter, .memory_bytes = options.filter_memory, .most_bytes = options.memory_bytes / 4});
}

/// `keys_per_table` is the simulation's. `most_inputs` is how many tables one compaction replaces and its outputs list.
void size_run(ScaledRun& run, const PlannedRunFilter& filter, const TableSample& sample, double keys_per_table,
              double most_inputs, const Options& options) {
  run.filter_kind = filter.kind;
  run.rate = filter.rate;
  // The simulation gives the fill of tables; the run's filter kind gives their maximum.
  run.tables = std::max(1.0, std::round(run.tables * keys_per_table /
                                        most_keys_per_table(sample, filter.kind, filter.bits_per_key, options)));
  run.filter_bytes = filter.kind.empty() ? 0 : filter.bits_per_key * run.keys / 8 + kFilterHeaderBytes * run.tables;
  run.blocks = run.keys * sample.blocks_per_entry;
  run.replaced_bytes = run.level == 0 ? 0 : std::min(most_inputs, run.tables) * sizeof(std::uint64_t) * run.tables;
  run.bytes = run.keys * entry_bytes(sample) + static_cast<double>(sample.other_bytes) * run.tables + run.filter_bytes +
              run.replaced_bytes;
  run.index_memory = run.blocks * sample.index_memory_per_block;
  const double index_bytes_per_table = run.blocks * sample.index_bytes_per_block / run.tables;
  run.index_wanted =
      static_cast<double>(Index::memory_bytes_for(static_cast<std::uint64_t>(index_bytes_per_table))) * run.tables +
      run.blocks * sizeof(BlockSlot);
}

}  // namespace

double ScaledStore::sum(double ScaledRun::*member) const {
  double total = 0;
  for (const ScaledRun& run : runs) total += run.*member;
  return total;
}

Result<ScaledStore> scale_store(const ScaleQuestion& question) {
  const Options& options = question.options;
  ScaledStore store;
  store.entries = std::max<std::uint64_t>(1, question.store_bytes / (question.key_bytes + question.value_bytes));
  TAMIS_TRY(const Samples samples, take_samples(question, store.entries));
  store.manifest_bytes_per_table = samples.others.manifest_bytes;

  const std::uint64_t sealed = sealing_memory(options);
  store.entries_per_flush = std::max<std::uint64_t>(
      1, entries_of_memtable({.key_bytes = question.key_bytes, .value_bytes = question.value_bytes}, sealed));
  const double stored = entry_bytes(samples.others) + kTypicalBitsPerKey / 8;
  const double keys_per_table = most_keys_per_table(samples.others, typical_kind(options), kTypicalBitsPerKey, options);
  const auto rounded = [](double value) { return static_cast<std::uint64_t>(std::max(1.0, std::round(value))); };
  TAMIS_TRY(store.growth, grow({.policy = find_compaction_policy(options.compaction),
                                .options = {.fanout = options.fanout,
                                            .memtable_bytes = sealed,
                                            .table_bytes = rounded(keys_per_table * stored),
                                            .now_unix_seconds = 0},
                                .flush_bytes = rounded(static_cast<double>(store.entries_per_flush) * stored),
                                .flushes = std::max<std::uint64_t>(1, store.entries / store.entries_per_flush)}));

  double bytes = 0;
  for (const GrownRun& run : store.growth.runs) bytes += run.bytes;
  for (const GrownRun& run : store.growth.runs) {
    store.runs.push_back({.level = run.level,
                          .keys = static_cast<double>(store.entries) * run.bytes / bytes,
                          .tables = run.tables,
                          .filter_kind = {}});
  }
  const StoreFilterPlan filters = plan_filters_of(store.runs, options);
  store.wasted_reads_uniform = filters.wasted_probes_uniform;
  const double most_inputs = store.growth.largest_merge_bytes / (keys_per_table * stored);
  for (std::size_t i = 0; i < store.runs.size(); ++i) {
    const bool is_oldest = i + 1 == store.runs.size();
    size_run(store.runs[i], filters.runs[i], is_oldest ? samples.oldest : samples.others, keys_per_table, most_inputs,
             options);
  }
  return store;
}

}  // namespace tamis
