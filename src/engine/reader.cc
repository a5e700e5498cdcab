#include "engine/reader.h"

#include <chrono>
#include <utility>

#include "base/epoch.h"
#include "base/try.h"
#include "engine/explained_steps.h"
#include "engine/fork_generation.h"
#include "engine/never_throws.h"
#include "engine/snapshot_state.h"
#include "engine/view_range_deletes.h"
#include "entry/visible.h"

namespace tamis {
namespace {

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
  std::string folded;  // For a value that is in no block.
};

}  // namespace

/// Range deletes are asked only about what was found.
template <typename Steps>
inline Result<Visible> Reader::uncovered_answer(const ReadView& view, StagedLookup& staged, const ReadOptions& options,
                                                Steps& steps, std::string_view& value) const {
  const Visible answer = answer_of(
      staged, [&] { return time_for(options.snapshot); }, value);
  if (answer == Visible::kDeleted || !view.has_range_deletes()) [[likely]] {
    if constexpr (Steps::kRecords) steps.end_lookup(answer == Visible::kValue, false);
    return answer;
  }
  TAMIS_TRY(const bool is_hidden, hide_covered(view, staged));
  if constexpr (Steps::kRecords) steps.end_lookup(answer == Visible::kValue, is_hidden);
  return is_hidden ? Visible::kDeleted : answer;
}

template <typename Peek, typename Steps, typename Take>
Result<bool> Reader::look_up(std::string_view key, const ReadOptions& options, Peek peek, Steps& steps, Take take) {
  StagedLookup staged;
  std::shared_ptr<const ReadView> kept;
  const auto finish = [&](const ReadView& view, auto leave) -> Result<bool> {
    std::string_view value;
    TAMIS_TRY(const Visible answer, uncovered_answer(view, staged, options, steps, value));
    if (answer == Visible::kOperand) [[unlikely]] {
      leave();
      return take_fold(*kept, staged, options, steps, take);
    }
    const bool is_value = answer == Visible::kValue;
    if constexpr (!Steps::kRecords) count_get(staged, is_value);
    if (is_value) TAMIS_TRY_STATUS(take(value));
    return is_value;
  };
  {
    const EpochGuard guard;
    const auto [view, sequence] = peek();
    staged.lookup = {.key = key, .hash = hasher_(key), .sequence = sequence};
    if constexpr (Steps::kRecords) steps.view = view.shared_from_this();
    view.version->run_index().prefetch(staged.lookup.hash);
    if (!ask_memtables(view, staged, steps)) view.version->peek(staged, for_tables(steps));
    if (staged.answer != LookupAnswer::kUnknown && !lacks_range_deletes(view, staged)) [[likely]] {
      return finish(view, [&kept, &guard, &view = view] {
        kept = view.shared_from_this();
        guard.leave();
      });
    }
    kept = view.shared_from_this();
  }
  if (staged.answer != LookupAnswer::kUnknown) [[unlikely]] {  // What was found is valid only inside the epoch.
    kept->version->range_deletes()->read_again();
    const Lookup lookup = staged.lookup;
    staged = StagedLookup();
    staged.lookup = lookup;
    if constexpr (Steps::kRecords) {
      steps = Steps();
      steps.view = kept;
    }
    if (ask_memtables(*kept, staged, steps)) return finish(*kept, [] {});
  }
  DiskLookup disk(staged);
  kept->version->find({&disk, 1}, options.fills_cache, for_tables(steps));
  if (!disk.status.ok()) return disk.status;
  if (lacks_range_deletes(*kept, staged)) kept->version->range_deletes()->read_again();
  return finish(*kept, [] {});
}

/// The steps so far have found the newest operand, and are taken again.
template <typename Steps, typename Take>
Result<bool> Reader::take_fold(const ReadView& view, const StagedLookup& staged, const ReadOptions& options,
                               Steps& steps, Take take) {
  if constexpr (Steps::kRecords) steps.steps.clear();
  std::string folded;
  TAMIS_TRY_STATUS(fold(view, staged.lookup, time_for(options.snapshot), options.fills_cache, steps, folded));
  if constexpr (!Steps::kRecords) count_get(staged, true);
  TAMIS_TRY_STATUS(take(folded));
  return true;
}

Result<bool> Reader::get(std::string_view key, std::string* value, const ReadOptions& options) {
  NoSteps none;
  const auto peek = [&] { return view_.peek_at([&] { return sequence_for(options.snapshot); }); };
  return look_up(key, options, peek, none, [value](std::string_view bytes) { return assign_bytes(*value, bytes); });
}

Result<bool> Reader::get(std::string_view key, std::string* value, const ReadOptions& options, const KeptView& moment) {
  NoSteps none;
  const auto take = [value](std::string_view bytes) { return assign_bytes(*value, bytes); };
  return look_up(key, options, peek_at(moment), none, take);
}

Result<bool> Reader::exists(std::string_view key, const ReadOptions& options) {
  NoSteps none;
  const auto peek = [&] { return view_.peek_at([&] { return sequence_for(options.snapshot); }); };
  return look_up(key, options, peek, none, [](std::string_view) { return Status(); });
}

Result<bool> Reader::exists(std::string_view key, const ReadOptions& options, const KeptView& moment) {
  NoSteps none;
  return look_up(key, options, peek_at(moment), none, [](std::string_view) { return Status(); });
}

Result<Explanation> Reader::explain(std::string_view key, const ReadOptions& options, const KeptView& moment) {
  Explanation explanation;
  explanation.key = key;
  ExplainedSteps steps;
  const auto begin = std::chrono::steady_clock::now();
  const auto take = [&](std::string_view bytes) { return assign_bytes(explanation.value.emplace(), bytes); };
  const Result<bool> found = look_up(key, options, peek_at(moment), steps, take);
  if (!found.ok() && steps.operands.empty()) return found.status();
  const auto time = std::chrono::steady_clock::now() - begin;
  explanation.nanoseconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  explanation.found = !found.ok() || *found;
  explanation.fold_error = found.ok() ? "" : found.status().to_text();
  explanation.operands = std::move(steps.operands);
  explanation.steps = std::move(steps.steps);
  explanation.reads = steps.reads;
  explanation.metadata_reads = steps.metadata_reads;
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
  TAMIS_TRY(const Visible answer, uncovered_answer(*moment.view, staged, options, none, value));
  if (answer == Visible::kOperand) {
    TAMIS_TRY_STATUS(
        fold(*moment.view, staged.lookup, time_for(options.snapshot), options.fills_cache, none, kept->folded));
    value = kept->folded;
  }
  const bool is_value = answer != Visible::kDeleted;
  count_get(staged, is_value);
  if (!is_value) return std::optional<PinnedValue>();
  return std::optional<PinnedValue>(PinnedValue(value, std::move(kept)));
}

}  // namespace tamis
