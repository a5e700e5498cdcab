// Flushes and compactions: tables durable, then the manifest, then the view.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "compaction/plan_parts.h"
#include "engine/engine.h"
#include "entry/merging_iterator.h"
#include "io/file_names.h"

namespace tamis {
namespace {

constexpr std::uint64_t kNumbersPerReservation = 64;  // A manifest edit per so many files.

bool is_last_level(const Shape& shape, std::uint32_t level) { return level >= shape.last_level(); }

std::vector<const Run*> all_runs(const Shape& shape) {
  std::vector<const Run*> runs;
  for (const std::vector<Run>& level : shape.levels) {
    for (const Run& run : level) runs.push_back(&run);
  }
  return runs;
}

ShapeEdit edit_of(const RewriteResult& result, std::uint32_t level, std::uint64_t run) {
  ShapeEdit edit;
  for (const std::shared_ptr<const TableFacts>& table : result.tables) edit.added.push_back({level, run, table});
  return edit;
}

}  // namespace

Status Engine::flush_oldest() {
  SealedMemtable job;
  std::shared_ptr<const Version> version;
  {
    MutexLock lock(state_mutex_);
    if (sealed_.empty()) return {};
    job = sealed_.back();
    version = version_;
  }
  ManifestEdit edit{.flushed_sequence = number_of(job.last_sequence), .first_journal = job.next_journal};
  RewriteResult result;
  if (!job.memtable->empty()) {
    TAMIS_TRY(const std::uint64_t run, new_number());
    RewriteSpec spec = rewrite_spec(version->shape(), 0, run);
    spec.older_runs = all_runs(version->shape());
    const FilterPlanner filters(version->shape(), {}, 0, run, job.memtable->entries(), filter_plan_options());
    spec.filters = &filters;
    TAMIS_TRY(result, rewrite(*job.memtable->iterate(), spec));
    table_bytes_written_.fetch_add(result.bytes_written, std::memory_order_relaxed);
    TAMIS_TRY_STATUS(files_.sync_directory(directory_));
    edit.shape = edit_of(result, 0, run);
  }
  TAMIS_TRY_STATUS(commit_and_install(edit, job.memtable.get()));
  journals_->release_before(job.next_journal);
  flushes_.fetch_add(1, std::memory_order_relaxed);
  tell(StoreEvent::Kind::kFlushed, "memtable", &result);
  return {};
}

/// So that the writer who seals the next memtable waits for two syncs, not for three, and not for the manifest.
void Engine::prepare_next_journal() {
  journals_->prepare_next();
  if (journal_number_.load(std::memory_order_relaxed) > journals_->newest()) return;
  const Result<std::uint64_t> number = new_number();  // Has stopped writes when it failed.
  if (number.ok()) journal_number_.store(*number, std::memory_order_relaxed);
}

Status Engine::execute(const CompactionPlan& plan) {
  std::shared_ptr<const Version> version;
  {
    MutexLock lock(state_mutex_);
    version = version_;
  }
  TAMIS_TRY_STATUS(check_plan(version->shape(), plan));
  Status done = plan.is_move ? move_tables(plan, version->shape()) : merge_tables(plan, version);
  version.reset();
  if (done.ok()) remove_obsolete_files();
  return done;
}

Status Engine::move_tables(const CompactionPlan& plan, const Shape& shape) {
  ManifestEdit edit;
  RewriteResult moved;
  for (const std::uint64_t number : plan.inputs.front().tables) {
    TAMIS_TRY(std::shared_ptr<const TableFacts> facts, facts_of(shape, number));
    edit.shape.removed.push_back(number);
    moved.tables.push_back(facts);
    edit.shape.added.push_back({plan.output_level, plan.output_run, std::move(facts)});
  }
  TAMIS_TRY_STATUS(commit_and_install(edit, nullptr));
  moves_.fetch_add(1, std::memory_order_relaxed);
  tell(StoreEvent::Kind::kMoved, plan.reason, &moved);
  return {};
}

Status Engine::merge_tables(const CompactionPlan& plan, const std::shared_ptr<const Version>& version) {
  const Shape& shape = version->shape();
  RewriteSpec spec = rewrite_spec(shape, plan.output_level, plan.output_run);
  spec.older_runs = runs_older_than_inputs(shape, plan);
  const std::span<const Run> next = runs_of(shape, plan.output_level + 1);
  if (next.size() == 1) spec.next_level = &next.front();
  ManifestEdit edit;
  std::uint64_t keys = 0;
  std::vector<std::unique_ptr<EntryIterator>> runs;
  for (const CompactionInput& input : plan.inputs) {
    runs.push_back(version->iterate_tables(input.tables));
    for (const std::uint64_t number : input.tables) {
      TAMIS_TRY(const std::shared_ptr<const TableFacts> facts, facts_of(shape, number));
      edit.shape.removed.push_back(number);
      keys += facts->keys;
      const std::uint64_t oldest = facts->oldest_delete_unix_seconds;
      if (oldest == 0) continue;
      spec.oldest_delete_unix_seconds =
          spec.oldest_delete_unix_seconds == 0 ? oldest : std::min(oldest, spec.oldest_delete_unix_seconds);
    }
  }
  spec.replaces = edit.shape.removed;
  add_obsolete_tables(spec.replaces);
  const FilterPlanner filters(shape, edit.shape.removed, plan.output_level, plan.output_run, keys,
                              filter_plan_options());
  spec.filters = &filters;
  const std::unique_ptr<EntryIterator> merged = make_merging_iterator(std::move(runs));
  TAMIS_TRY(const RewriteResult result, rewrite(*merged, spec));
  table_bytes_written_.fetch_add(result.bytes_written, std::memory_order_relaxed);
  TAMIS_TRY_STATUS(files_.sync_directory(directory_));
  edit.shape.added = edit_of(result, plan.output_level, plan.output_run).added;
  TAMIS_TRY_STATUS(commit_and_install(edit, nullptr));
  compactions_.fetch_add(1, std::memory_order_relaxed);
  tell(StoreEvent::Kind::kCompacted, plan.reason, &result);
  return {};
}

RewriteSpec Engine::rewrite_spec(const Shape& shape, std::uint32_t level, std::uint64_t run) {
  RewriteSpec spec{.files = &files_,
                   .directory = directory_,
                   .identity = context_.identity,
                   .hasher = &hasher_,
                   .block_bytes = options_.block_bytes,
                   .table_bytes = options_.table_bytes,
                   .filter_build_bytes = filter_build_memory(options_),
                   .codec = find_codec(level > 0 && is_last_level(shape, level) ? options_.codec_last : options_.codec),
                   .prefix_rule = options_.prefix_rule,
                   .output_level = level,
                   .output_run = run,
                   .now_unix_seconds = now_unix_seconds()};
  spec.new_number = [this] { return new_number(); };
  {
    MutexLock lock(tree_mutex_);
    spec.flushed_sequence = manifest_->state().flushed_sequence;
  }
  spec.is_cancelled = [this, level] {
    if (level > 0) give_way_to_flush();
    return level > 0 && is_stopping_.load(std::memory_order_relaxed);
  };
  // Whoever takes a snapshot registers it under this mutex, so either it is in the list or it sees all of published_.
  MutexLock lock(state_mutex_);
  spec.snapshots = live_handles_.sequences();
  const Sequence published{published_.load(std::memory_order_acquire)};
  if (spec.snapshots.empty() || spec.snapshots.back() != published) spec.snapshots.push_back(published);
  return spec;
}

Result<std::shared_ptr<const TableFacts>> Engine::facts_of(const Shape& shape, std::uint64_t number) const {
  if (const std::optional<TablePlace> place = shape.find_table(number)) return *place->facts;
  return Status::corruption(fmt::format("{}: a compaction names table {}, which is not there", directory_, number));
}

/// Numbers are reserved in the manifest before they are used, so that a file of an unfinished rewrite can be told from
/// one that is not ours (rule 19).
Result<std::uint64_t> Engine::new_number() noexcept {
  MutexLock lock(tree_mutex_);
  if (next_number_ >= manifest_->state().reserved_numbers) {
    Status reserved = manifest_->commit({.reserved_numbers = next_number_ + kNumbersPerReservation});
    if (!reserved.ok()) {
      manifest_failed_ = true;
      stop_writes(reserved);
      return reserved;
    }
  }
  return next_number_++;
}

Status Engine::commit_and_install(const ManifestEdit& edit, const Memtable* flushed) noexcept {
  TAMIS_TRY_STATUS(commit_and_show(edit, flushed));
  view_.drop_replaced();
  return {};
}

Status Engine::commit_and_show(const ManifestEdit& edit, const Memtable* flushed) {
  std::shared_ptr<const Version> before;
  std::shared_ptr<const Version> next;
  MutexLock tree_lock(tree_mutex_);
  Status committed = manifest_->commit(edit);
  if (!committed.ok()) {
    manifest_failed_ = true;
    stop_writes(committed);
    return committed;
  }
  {
    MutexLock lock(state_mutex_);
    before = version_;
  }
  next = std::make_shared<const Version>(manifest_->state().shape, before.get(), context_);
  share_memory(*next);
  const double debt = policy_->debt(next->shape(), policy_options());
  MutexLock lock(state_mutex_);
  for (const std::uint64_t number : edit.shape.removed) {
    if (next->table(number) == nullptr) retire(*before, number);
  }
  if (flushed != nullptr) {
    TAMIS_CHECK(sealed_.back().memtable.get() == flushed);
    std::erase_if(flushed_, [](const std::weak_ptr<const Memtable>& memtable) { return memtable.expired(); });
    flushed_.emplace_back(sealed_.back().memtable);
    sealed_.pop_back();
  }
  version_ = std::move(next);
  debt_ = debt;
  compaction_wanted_ = true;
  failed_rewrites_ = 0;
  install_view();
  state_changed_.notify_all();
  return {};
}

/// Its file goes when nobody holds it any more; its counts stay with its level.
void Engine::retire(const Version& before, std::uint64_t number) {
  const std::shared_ptr<Table> table = before.table(number);
  obsolete_.push_back({.number = number, .blocks = table->facts().blocks, .table = table});
  const std::uint32_t level = before.shape().find_table(number)->level;
  if (retired_counts_.size() <= level) retired_counts_.resize(level + 1);
  retired_counts_[level] += table->counts();
}

void Engine::install_view() {
  auto view = std::make_shared<ReadView>();
  view->active = active_;
  for (const SealedMemtable& sealed : sealed_) view->sealed.push_back(sealed.memtable);
  view->version = version_;
  view_.replace(std::move(view));
}

/// Repair must know, without a manifest, that these were replaced even when the tables that replaced them are gone.
void Engine::add_obsolete_tables(std::vector<std::uint64_t>& numbers) const {
  MutexLock lock(state_mutex_);
  for (const Obsolete& obsolete : obsolete_) numbers.push_back(obsolete.number);
}

/// A file that cannot be removed now is found to be redundant when the store is opened.
void Engine::remove_obsolete_files() {
  std::vector<Obsolete> unheld;
  {
    MutexLock lock(state_mutex_);
    if (deletions_paused_ > 0) return;
    std::erase_if(obsolete_, [&](const Obsolete& obsolete) {
      if (!obsolete.table.expired()) return false;
      unheld.push_back(obsolete);
      return true;
    });
  }
  for (const Obsolete& table : unheld) {
    file_handles_->close(table.number);
    cache_->erase_table(table.number, table.blocks);
    (void)files_.remove(table_path(directory_, table.number)).ok();
  }
}

PolicyOptions Engine::policy_options() const {
  return {.fanout = options_.fanout,
          .memtable_bytes = memtable_bytes_,
          .table_bytes = options_.table_bytes,
          .now_unix_seconds = now_unix_seconds()};
}

FilterPlanOptions Engine::filter_plan_options() const {
  return {.kind = options_.filter, .memory_bytes = options_.filter_memory, .most_bytes = options_.memory_bytes / 4};
}

/// A run that can be had again has a clock that stands still.
std::uint64_t Engine::now_unix_seconds() const {
  if (environment_.unix_seconds) return environment_.unix_seconds();
  if (environment_.random_seed) return 1'700'000'000;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  return seconds > 0 ? static_cast<std::uint64_t>(seconds) : 0;  // A clock may be set to before 1970.
}

}  // namespace tamis
