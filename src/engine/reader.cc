#include "engine/reader.h"

#include <array>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/epoch.h"
#include "base/try.h"
#include "engine/fork_generation.h"
#include "engine/never_throws.h"
#include "engine/snapshot_state.h"
#include "engine/view_range_deletes.h"
#include "entry/visible.h"
#include "filter/filter_kind.h"
#include "table/value_file.h"

namespace tamis {
namespace {

// In the order of the enumerators.
constexpr std::string_view kVerdicts[] = {"", "no", "maybe", "not in memory", "not asked: the run index says no"};
constexpr std::string_view kSources[] = {"", "cache", "disk"};
constexpr std::string_view kOutcomes[] = {"ruled out", "absent", "found", "deleted", "expired", "outside"};
static_assert(std::size(kVerdicts) == static_cast<std::size_t>(FilterVerdict::kNoByRunIndex) + 1);
static_assert(std::size(kSources) == static_cast<std::size_t>(BlockSource::kDisk) + 1);
static_assert(std::size(kOutcomes) == static_cast<std::size_t>(TableOutcome::kOutside) + 1);

/// For `explain`: the steps, and the view whose tables they name.
struct ExplainedSteps {
  static constexpr bool kRecords = true;

  void add_memtable(std::string_view where, const std::optional<FoundEntry>& found) {
    Explanation::Step step;
    step.where = where;
    step.outcome = kOutcomes[static_cast<std::size_t>(found ? outcome_of(*found) : TableOutcome::kAbsent)];
    memtables.push_back(std::move(step));
  }

  std::shared_ptr<const ReadView> view;
  std::vector<Explanation::Step> memtables;
  RecordedSteps tables;
  std::optional<std::uint64_t> value_file;  // The one that was read.
  bool is_hidden = false;                   // By a range delete.
};

/// What get does with the value.
struct CopyTo {
  static constexpr bool kReads = true;
  Status operator()(std::string_view bytes) const { return assign_bytes(*to, bytes); }
  [[nodiscard]] std::string& room() const { return *to; }

  std::string* to;
};
struct TakeNothing {
  static constexpr bool kReads = false;
  Status operator()(std::string_view /*bytes*/) const { return {}; }
};

NoSteps& for_tables(NoSteps& steps) { return steps; }
RecordedSteps& for_tables(ExplainedSteps& steps) { return steps.tables; }

/// Whether a memtable has the key.
template <typename Steps>
inline bool ask_memtables(const ReadView& view, StagedLookup& staged, Steps& steps) {
  const auto ask = [&](const Memtable& memtable, [[maybe_unused]] std::string_view where) {
    const std::optional<FoundEntry> found = memtable.find(staged.lookup);
    if constexpr (Steps::kRecords) steps.add_memtable(where, found);
    if (!found) return false;
    staged.found = *found;
    staged.answer = LookupAnswer::kFound;
    return true;
  };
  if (ask(*view.active, "memtable")) return true;
  for (const std::shared_ptr<Memtable>& sealed : view.sealed) {
    if (ask(*sealed, "sealed memtable")) return true;
  }
  return false;
}

/// Level and run come from the shape: a table may have moved since it was written.
Explanation::Step explained_step(const TableStep& step, const Shape& shape) {
  const TableFacts& facts = step.table->facts();
  Explanation::Step result;
  const std::optional<TablePlace> place = shape.find_table(facts.number);
  result.level = place->level;
  result.run = place->run->id;
  result.outcome = kOutcomes[static_cast<std::size_t>(step.outcome)];
  const bool is_whole_run = step.outcome == TableOutcome::kOutside && place->run->tables.size() > 1;
  result.where = is_whole_run ? "run" : "table";
  if (!is_whole_run) result.table = facts.number;
  if (step.outcome == TableOutcome::kOutside) return result;  // No filter was asked.
  if (const FilterKind* const kind = find_filter_kind(facts.filter_kind)) result.filter_kind = kind->info.name;
  result.bits_per_key = facts.filter_bits_per_key();
  result.filter_verdict = kVerdicts[static_cast<std::size_t>(step.verdict)];
  result.block_source = kSources[static_cast<std::size_t>(step.source)];
  return result;
}

/// For a view that the caller keeps.
auto peek_at(const Reader::KeptView& moment) {
  return [&moment] { return ViewAt<const ReadView&>{*moment.view, moment.sequence}; };
}

/// What a PinnedValue keeps alive.
struct Kept {
  explicit Kept(std::shared_ptr<const void> store) : owner(std::move(store)) {}
  ~Kept() {
    if (known_fork_generation.load(std::memory_order_relaxed) == generation) return;
    leave_to_parent(std::move(memtables));
    leave_to_parent(std::move(pin));
    leave_to_parent(std::move(owner));
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  const std::uint64_t generation = known_fork_generation.load(std::memory_order_relaxed);
  std::shared_ptr<const void> owner;                 // Destroyed last: its cache has the block.
  std::vector<std::shared_ptr<Memtable>> memtables;  // For a value in a memtable. The version is not kept.
  PinnedBlock pin;
  std::string value;  // One that is apart from its table.
};

}  // namespace

/// Range deletes are asked only about a value that was found.
template <typename Steps>
inline Result<Visible> Reader::meaning_in(const ReadView& view, StagedLookup& staged, const ReadOptions& options,
                                          Steps& steps, std::string_view& value) const {
  const Visible meaning = meaning_of(
      staged, [&] { return time_for(options.snapshot); }, value);
  if (meaning == Visible::kDeleted || !view.has_range_deletes()) [[likely]]
    return meaning;
  TAMIS_TRY(const bool is_hidden, hide_covered(view, staged));
  if constexpr (Steps::kRecords) steps.is_hidden = is_hidden;
  return is_hidden ? Visible::kDeleted : meaning;
}

/// The block that has the pointer may go when the epoch ends, so the pointer is copied first.
template <typename Peek, typename Steps, typename Take>
Result<bool> Reader::look_up(std::string_view key, const ReadOptions& options, Peek peek, Steps& steps, Take take) {
  StagedLookup staged;
  std::shared_ptr<const ReadView> kept;
  std::array<char, kMaxValuePointerBytes> copied;
  std::string_view pointer;
  {
    const EpochGuard guard;
    const auto [view, sequence] = peek();
    staged.lookup = {.key = key, .hash = hasher_(key), .sequence = sequence};
    if constexpr (Steps::kRecords) steps.view = view.shared_from_this();
    view.version->run_index().prefetch(staged.lookup.hash);
    if (!ask_memtables(view, staged, steps)) view.version->peek(staged, for_tables(steps));
    if (staged.answer != LookupAnswer::kUnknown && !lacks_range_deletes(view, staged)) [[likely]] {
      std::string_view value;
      TAMIS_TRY(const Visible meaning, meaning_in(view, staged, options, steps, value));
      if (meaning != Visible::kApart) [[likely]] {
        const bool is_value = meaning == Visible::kValue;
        if constexpr (!Steps::kRecords) count_get(staged, is_value);
        if (is_value) TAMIS_TRY_STATUS(take(value));
        return is_value;
      }
      pointer = {copied.data(), value.copy(copied.data(), copied.size())};
    }
    kept = view.shared_from_this();
  }
  if (pointer.empty()) return look_up_outside(*kept, staged, options, steps, take);
  return answer(*kept, staged, Visible::kApart, pointer, steps, take);
}

/// The answer is on disk, or range deletes are.
template <typename Steps, typename Take>
Result<bool> Reader::look_up_outside(const ReadView& view, StagedLookup& staged, const ReadOptions& options,
                                     Steps& steps, Take take) {
  if (staged.answer != LookupAnswer::kUnknown) [[unlikely]] {  // What was found is valid only inside the epoch.
    view.version->range_deletes()->read_again();
    const Lookup lookup = staged.lookup;
    staged = StagedLookup();
    staged.lookup = lookup;
    if constexpr (Steps::kRecords) {
      steps = Steps();
      steps.view = view.shared_from_this();
    }
    ask_memtables(view, staged, steps);
  }
  DiskLookup disk(staged);
  if (staged.answer != LookupAnswer::kFound) {
    view.version->find({&disk, 1}, options.fills_cache, for_tables(steps));
    if (!disk.status.ok()) return disk.status;
    if (lacks_range_deletes(view, staged)) view.version->range_deletes()->read_again();
  }
  std::string_view value;
  TAMIS_TRY(const Visible meaning, meaning_in(view, staged, options, steps, value));
  return answer(view, staged, meaning, value, steps, take);
}

template <typename Steps, typename Take>
Result<bool> Reader::answer(const ReadView& view, const StagedLookup& staged, Visible meaning, std::string_view value,
                            Steps& steps, Take take) {
  const bool is_value = meaning != Visible::kDeleted;
  if constexpr (Take::kReads) {
    if (meaning == Visible::kApart) {
      TAMIS_TRY_STATUS(read_apart(*view.version, staged.lookup.key, value, steps, take.room()));
    }
  }
  if constexpr (!Steps::kRecords) count_get(staged, is_value);
  if (meaning == Visible::kValue) TAMIS_TRY_STATUS(take(value));
  return is_value;
}

template <typename Steps>
Status Reader::read_apart(const Version& version, std::string_view key, std::string_view pointer,
                          [[maybe_unused]] Steps& steps, std::string& to) {
  TAMIS_TRY(const ValueRead read, version.begin_value(key, pointer, to));
  if constexpr (Steps::kRecords) steps.value_file = read.pointer.file;
  return read.file->read(read.pointer, key, to);
}

Result<bool> Reader::get(std::string_view key, std::string* value, const ReadOptions& options) {
  NoSteps none;
  const auto peek = [&] { return view_.peek_at([&] { return sequence_for(options.snapshot); }); };
  return look_up(key, options, peek, none, CopyTo{value});
}

Result<bool> Reader::get(std::string_view key, std::string* value, const ReadOptions& options, const KeptView& moment) {
  NoSteps none;
  return look_up(key, options, peek_at(moment), none, CopyTo{value});
}

/// A value that is apart is not read.
Result<bool> Reader::exists(std::string_view key, const ReadOptions& options) {
  NoSteps none;
  const auto peek = [&] { return view_.peek_at([&] { return sequence_for(options.snapshot); }); };
  return look_up(key, options, peek, none, TakeNothing());
}

Result<bool> Reader::exists(std::string_view key, const ReadOptions& options, const KeptView& moment) {
  NoSteps none;
  return look_up(key, options, peek_at(moment), none, TakeNothing());
}

Result<Explanation> Reader::explain(std::string_view key, const ReadOptions& options, const KeptView& moment) {
  Explanation explanation;
  explanation.key = key;
  ExplainedSteps steps;
  const auto begin = std::chrono::steady_clock::now();
  std::string value;
  TAMIS_TRY(explanation.found, look_up(key, options, peek_at(moment), steps, CopyTo{&value}));
  if (explanation.found) explanation.value = std::move(value);
  const auto time = std::chrono::steady_clock::now() - begin;
  explanation.nanoseconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  explanation.steps = std::move(steps.memtables);
  for (const TableStep& step : steps.tables.steps) {
    explanation.reads += step.blocks_read;
    explanation.metadata_reads += step.metadata_reads;
    explanation.steps.push_back(explained_step(step, steps.view->version->shape()));
  }
  // Only the last step has found anything, and only now it is known whether that was due.
  Explanation::Step& last = explanation.steps.back();
  if (last.outcome == kOutcomes[static_cast<std::size_t>(TableOutcome::kExpires)] &&
      (explanation.found || steps.is_hidden)) {
    last.outcome = kOutcomes[static_cast<std::size_t>(TableOutcome::kFound)];
  }
  if (steps.value_file) {
    ++explanation.reads;
    Explanation::Step step;
    step.where = "value file";
    step.table = *steps.value_file;
    step.block_source = kSources[static_cast<std::size_t>(BlockSource::kDisk)];
    step.outcome = kOutcomes[static_cast<std::size_t>(TableOutcome::kFound)];
    explanation.steps.push_back(std::move(step));
  }
  if (steps.is_hidden) explanation.steps.push_back({.where = "range delete", .outcome = "hides it"});
  return explanation;
}

std::uint64_t Reader::time_for(const Snapshot* snapshot) const {
  return snapshot == nullptr ? expiry_.now() : snapshot->state()->time();
}

/// A value in a table needs a pinned block, so there is no lookup in memory alone.
Result<std::optional<PinnedValue>> Reader::get_pinned(std::string_view key, const ReadOptions& options,
                                                      std::shared_ptr<const void> owner, const KeptView& moment) {
  auto kept = std::make_shared<Kept>(std::move(owner));
  StagedLookup staged;
  staged.lookup = {.key = key, .hash = hasher_(key), .sequence = moment.sequence};
  NoSteps none;
  if (ask_memtables(*moment.view, staged, none)) {
    kept->memtables = moment.view->sealed;
    kept->memtables.push_back(moment.view->active);
  } else {
    DiskLookup disk(staged);
    moment.view->version->find({&disk, 1}, options.fills_cache, none);
    if (!disk.status.ok()) return disk.status;
    kept->pin = std::move(disk.pin);
  }
  if (lacks_range_deletes(*moment.view, staged)) moment.view->version->range_deletes()->read_again();
  std::string_view value;
  TAMIS_TRY(const Visible meaning, meaning_in(*moment.view, staged, options, none, value));
  if (meaning == Visible::kApart) {
    TAMIS_TRY_STATUS(read_apart(*moment.view->version, key, value, none, kept->value));
    value = kept->value;
  }
  const bool is_value = meaning != Visible::kDeleted;
  count_get(staged, is_value);
  if (!is_value) return std::optional<PinnedValue>();
  return std::optional<PinnedValue>(PinnedValue(value, std::move(kept)));
}

}  // namespace tamis
