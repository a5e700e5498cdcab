// The way of a get: view, sequence, memtables, tables.
#include <chrono>
#include <utility>

#include "base/try.h"
#include "engine/engine.h"
#include "engine/iterator_state.h"
#include "engine/never_throws.h"
#include "engine/snapshot_state.h"

namespace tamis {
namespace {

/// What happened before the tables were asked, for `explain`.
struct ExplainedSteps : RecordedSteps {
  std::vector<Explanation::Step> memtables;
};

/// The part that the tables write down.
NoSteps& for_tables(NoSteps& steps) { return steps; }
RecordedSteps& for_tables(ExplainedSteps& steps) { return steps; }

template <typename Steps>
void record_memtable(Steps& steps, std::string_view where, const std::optional<FoundEntry>& found) {
  if constexpr (Steps::kRecords) {
    Explanation::Step step;
    step.where = where;
    step.outcome = !found ? "absent" : found->kind == EntryKind::kDelete ? "deleted" : "found";
    steps.memtables.push_back(std::move(step));
  }
}

std::string_view to_text(FilterVerdict verdict) {
  switch (verdict) {
    case FilterVerdict::kNone: return "";
    case FilterVerdict::kNo: return "no";
    case FilterVerdict::kMaybe: return "maybe";
    case FilterVerdict::kNotInMemory: return "not in memory";
    case FilterVerdict::kNoByRunIndex: return "not asked: the run index says no";
  }
  return "";
}

std::string_view to_text(TableOutcome outcome) {
  switch (outcome) {
    case TableOutcome::kRuledOut: return "ruled out";
    case TableOutcome::kAbsent: return "absent";
    case TableOutcome::kFound: return "found";
    case TableOutcome::kDeleted: return "deleted";
    case TableOutcome::kOutside: return "outside";
  }
  return "";
}

std::string_view to_text(BlockSource source) {
  switch (source) {
    case BlockSource::kNone: return "";
    case BlockSource::kCache: return "cache";
    case BlockSource::kDisk: return "disk";
  }
  return "";
}

/// Level and run are the shape's to tell: a table may have moved since it was written.
Explanation::Step explained(const TableStep& step, const Shape& shape) {
  const TableFacts& facts = step.table->facts();
  Explanation::Step result;
  const std::optional<TablePlace> place = shape.find_table(facts.number);
  result.level = place->level;
  result.run = place->run->id;
  result.outcome = to_text(step.outcome);
  const bool is_whole_run = step.outcome == TableOutcome::kOutside && place->run->tables.size() > 1;
  result.where = is_whole_run ? "run" : "table";
  if (!is_whole_run) result.table = facts.number;
  if (step.outcome == TableOutcome::kOutside) return result;  // No filter was asked.
  for (const FilterKindInfo& kind : filter_kinds()) {
    if (kind.id == facts.filter_kind) result.filter_kind = kind.name;
  }
  result.bits_per_key = facts.filter_bits_per_key();
  result.filter_verdict = to_text(step.verdict);
  result.block_source = to_text(step.source);
  return result;
}

}  // namespace

Result<Sequence> Engine::sequence_for(const Snapshot* snapshot) const {
  if (snapshot == nullptr) return Sequence{published_.load(std::memory_order_acquire)};
  if (snapshot->state() == nullptr || !snapshot->state()->belongs_to(*this)) {
    return Status::invalid_argument("the snapshot is not of this store");
  }
  return snapshot->state()->sequence();
}

Result<Engine::ReadMoment> Engine::begin_read(const Snapshot* snapshot) const {
  TAMIS_TRY_STATUS(check_open());
  auto [view, sequence] = view_.take_at([&] { return sequence_for(snapshot); });
  if (!sequence.ok()) return sequence.status();
  return ReadMoment{.view = std::move(view), .sequence = *sequence};
}

/// For long work on tables, which need not keep memtables alive.
Result<std::shared_ptr<const Version>> Engine::current_version() const {
  TAMIS_TRY_STATUS(check_open());
  return view_.take()->version;
}

template <typename Steps>
Result<std::optional<FoundEntry>> Engine::find(const ReadMoment& moment, std::string_view key, bool fills_cache,
                                               PinnedBlock& pin, Steps& steps) const {
  const Lookup lookup{.key = key, .hash = hasher_(key), .sequence = moment.sequence};
  std::optional<FoundEntry> found = moment.view->active->find(lookup);
  record_memtable(steps, "memtable", found);
  if (found) return found;
  for (const std::shared_ptr<Memtable>& sealed : moment.view->sealed) {
    found = sealed->find(lookup);
    record_memtable(steps, "sealed memtable", found);
    if (found) return found;
  }
  return moment.view->version->find(lookup, fills_cache, pin, for_tables(steps));
}

/// No lock, no count of references, no allocation but the value's. Whatever was not found by the time that something
/// has to be read from disk is looked for again from the start, with a view that is kept (rule 10).
template <typename Take>
Peek Engine::peek(std::string_view key, const Snapshot* snapshot, Take take) const {
  const EpochGuard guard;
  const auto [view, sequence] = view_.peek_at([&] { return sequence_for(snapshot); });
  if (!sequence.ok()) return Peek::kUnknown;
  const Lookup lookup{.key = key, .hash = hasher_(key), .sequence = *sequence};
  view.version->run_index().prefetch(lookup.hash);
  std::optional<FoundEntry> recent = view.active->find(lookup);
  for (std::size_t i = 0; i < view.sealed.size() && !recent; ++i) recent = view.sealed[i]->find(lookup);
  FoundEntry found;
  if (recent) {
    found = *recent;
  } else {
    const Peek answer = view.version->peek(lookup, found);
    if (answer == Peek::kUnknown) return answer;
    if (answer != Peek::kFound) found.kind = EntryKind::kDelete;
  }
  if (found.kind == EntryKind::kDelete) {
    gets_absent_.add();
    return Peek::kAbsent;
  }
  if (!take(found.value).ok()) return Peek::kUnknown;  // Whoever asks again is told why.
  (recent ? gets_from_memtables_ : gets_from_tables_).add();
  return Peek::kFound;
}

void Engine::count_get(const std::optional<FoundEntry>& found, bool from_table) const {
  if (!found || found->kind == EntryKind::kDelete) return gets_absent_.add();
  (from_table ? gets_from_tables_ : gets_from_memtables_).add();
}

template <typename Take>
Result<bool> Engine::look_up(std::string_view key, const ReadOptions& options, Take take) const {
  TAMIS_TRY_STATUS(check_open());
  const Peek seen = peek(key, options.snapshot, take);
  if (seen != Peek::kUnknown) return seen == Peek::kFound;
  TAMIS_TRY(const ReadMoment moment, begin_read(options.snapshot));
  PinnedBlock pin;
  NoSteps steps;
  TAMIS_TRY(const std::optional<FoundEntry> found, find(moment, key, options.fills_cache, pin, steps));
  count_get(found, static_cast<bool>(pin));
  if (!found || found->kind == EntryKind::kDelete) return false;
  TAMIS_TRY_STATUS(take(found->value));
  return true;
}

Result<bool> Engine::get(std::string_view key, std::string* value, const ReadOptions& options) {
  return look_up(key, options, [value](std::string_view bytes) { return assign_bytes(*value, bytes); });
}

Result<bool> Engine::exists(std::string_view key, const ReadOptions& options) {
  return look_up(key, options, [](std::string_view) { return Status(); });
}

Result<std::optional<PinnedValue>> Engine::get_pinned(std::string_view key, const ReadOptions& options) {
  TAMIS_TRY(const ReadMoment moment, begin_read(options.snapshot));
  struct Kept {
    explicit Kept(std::shared_ptr<Engine> owner) : engine(std::move(owner)) {}
    ~Kept() {
      if (!engine->is_of_another_process()) return;
      leave_to_parent(std::move(memtables));
      leave_to_parent(std::move(pin));
      leave_to_parent(std::move(engine));
    }
    std::shared_ptr<Engine> engine;                    // Ends last: its cache has the block.
    std::vector<std::shared_ptr<Memtable>> memtables;  // For a value in one of them. Not the version.
    PinnedBlock pin;
  };
  auto kept = std::make_shared<Kept>(shared_from_this());
  NoSteps steps;
  TAMIS_TRY(const std::optional<FoundEntry> found, find(moment, key, options.fills_cache, kept->pin, steps));
  count_get(found, static_cast<bool>(kept->pin));
  if (!found || found->kind == EntryKind::kDelete) return std::optional<PinnedValue>();
  if (!kept->pin) {
    kept->memtables = moment.view->sealed;
    kept->memtables.push_back(moment.view->active);
  }
  PinnedValue value;
  value.view_ = found->value;
  value.keeps_ = std::move(kept);
  return std::optional<PinnedValue>(std::move(value));
}

Result<Explanation> Engine::explain(std::string_view key, const ReadOptions& options) {
  TAMIS_TRY(const ReadMoment moment, begin_read(options.snapshot));
  Explanation explanation;
  explanation.key = key;
  PinnedBlock pin;
  ExplainedSteps steps;
  const auto begin = std::chrono::steady_clock::now();
  TAMIS_TRY(const std::optional<FoundEntry> found, find(moment, key, options.fills_cache, pin, steps));
  const auto time = std::chrono::steady_clock::now() - begin;
  explanation.nanoseconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  explanation.found = found && found->kind == EntryKind::kPut;
  if (explanation.found) explanation.value = std::string(found->value);
  explanation.steps = std::move(steps.memtables);
  for (const TableStep& step : steps.steps) {
    explanation.reads += step.blocks_read;
    explanation.metadata_reads += step.metadata_reads;
    explanation.steps.push_back(explained(step, moment.view->version->shape()));
  }
  return explanation;
}

/// The walk keeps what it needs of the view, which is looked at only (rule 10).
std::unique_ptr<IteratorState> Engine::begin_walk(const Snapshot* snapshot, Caller caller) {
  const EpochGuard guard;
  const auto [view, sequence] = view_.peek_at([&] { return sequence_for(snapshot); });
  if (!sequence.ok()) return std::make_unique<IteratorState>(shared_from_this(), sequence.status());
  return std::make_unique<IteratorState>(shared_from_this(), view, *sequence, caller);
}

Iterator Engine::scan(const ScanOptions& options, Caller caller) {
  if (Status open = check_open(); !open.ok()) {
    return Iterator(std::make_unique<IteratorState>(shared_from_this(), std::move(open)));
  }
  std::unique_ptr<IteratorState> state = begin_walk(options.snapshot, caller);
  if (!state->status().ok()) return Iterator(std::move(state));
  KeyRange range;
  if (!options.prefix.empty()) range = KeyRange::of_prefix(options.prefix);
  range.narrow(options.from, options.to);
  state->walk_over(std::move(range), options);
  return Iterator(std::move(state));
}

/// Read and registered under the mutex under which a rewrite copies the list (rule 9).
Snapshot Engine::snapshot(Caller caller) {
  if (is_of_another_process()) return {};
  MutexLock lock(state_mutex_);
  const Sequence sequence{published_.load(std::memory_order_acquire)};
  return Snapshot(std::make_shared<SnapshotState>(shared_from_this(), sequence, caller));
}

std::uint64_t Snapshot::sequence() const { return state_ == nullptr ? 0 : number_of(state_->sequence()); }

Result<std::uint64_t> Engine::approximate_size(const Range& range) {
  TAMIS_TRY(const ReadMoment moment, begin_read(nullptr));
  return moment.view->version->approximate_bytes(range.from, range.to);
}

}  // namespace tamis
