// How a Reader looks a key up. For its implementation alone.
#pragma once

#include <array>
#include <memory>

#include "base/epoch.h"
#include "base/try.h"
#include "engine/explained_steps.h"
#include "engine/reader.h"
#include "engine/view_range_deletes.h"
#include "entry/visible.h"
#include "table/value_file.h"

namespace tamis {

/// Range deletes are asked only about a value that was found.
template <typename Steps>
inline Result<Visible> Reader::meaning_in(const ReadView& view, StagedLookup& staged, const ReadOptions& options,
                                          Steps& steps, std::string_view& value) const {
  const Visible meaning = meaning_of(
      staged, [&] { return time_for(options.snapshot); }, value);
  if (meaning == Visible::kDeleted || !view.has_range_deletes()) [[likely]] {
    if constexpr (Steps::kRecords) steps.end_lookup(meaning, false);
    return meaning;
  }
  TAMIS_TRY(const bool is_hidden, hide_covered(view, staged));
  if constexpr (Steps::kRecords) steps.end_lookup(meaning, is_hidden);
  return is_hidden ? Visible::kDeleted : meaning;
}

/// The block that has the pointer may go when the epoch ends, so the pointer is copied first. An operand is looked up
/// again. Each use is called once, and is a part of its caller.
template <typename Peek, typename Steps, typename Take>
[[gnu::always_inline]] inline Result<bool> Reader::look_up(std::string_view key, const ReadOptions& options, Peek peek,
                                                           Steps& steps, Take take) {
  StagedLookup staged;
  std::shared_ptr<const ReadView> kept;
  std::array<char, kMaxValuePointerBytes> copied;
  std::string_view pointer;
  bool is_operand = false;
  {
    const EpochGuard guard;
    const auto [view, sequence] = peek();
    staged.lookup = {.key = key, .hash = hasher_(key), .sequence = sequence};
    if constexpr (Steps::kRecords) steps.view = view.shared_from_this();
    view.version->run_index().prefetch(staged.lookup.hash);
    if (!ask_memtables(view, staged, steps)) view.version->peek(staged, for_tables(steps));
    if constexpr (!Steps::kRecords) {  // Most lookups end here.
      if (staged.answer == LookupAnswer::kAbsent) {
        absent_.add();
        return false;
      }
      const bool is_plain = staged.answer == LookupAnswer::kFound && is_plain_value(staged.found, sequence);
      if (is_plain && !view.has_range_deletes()) [[likely]] {
        count_get(staged, true);
        TAMIS_TRY_STATUS(take(staged.found.value));
        return true;
      }
    }
    if (staged.answer != LookupAnswer::kUnknown && !lacks_range_deletes(view, staged)) {
      std::string_view value;
      TAMIS_TRY(const Visible meaning, meaning_in(view, staged, options, steps, value));
      if (meaning < Visible::kApart) {
        const bool is_value = meaning == Visible::kValue;
        if constexpr (!Steps::kRecords) count_get(staged, is_value);
        if (is_value) TAMIS_TRY_STATUS(take(value));
        return is_value;
      }
      is_operand = meaning == Visible::kOperand;
      if (!is_operand) pointer = {copied.data(), value.copy(copied.data(), copied.size())};
    }
    kept = view.shared_from_this();
  }
  if (is_operand) return answer(*kept, staged, Visible::kOperand, {}, options, steps, take);
  if (pointer.empty()) return look_up_outside(*kept, staged, options, steps, take);
  return answer(*kept, staged, Visible::kApart, pointer, options, steps, take);
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
  return answer(view, staged, meaning, value, options, steps, take);
}

template <typename Steps, typename Take>
Result<bool> Reader::answer(const ReadView& view, const StagedLookup& staged, Visible meaning, std::string_view value,
                            const ReadOptions& options, Steps& steps, Take take) {
  const bool is_value = meaning != Visible::kDeleted;
  if (meaning == Visible::kOperand) {
    if constexpr (Steps::kRecords) steps.steps.clear();  // They are taken again.
    std::string folded;
    TAMIS_TRY_STATUS(fold(view, staged.lookup, time_for(options.snapshot), options.fills_cache, steps, folded));
    TAMIS_TRY_STATUS(take(folded));
  }
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
  if constexpr (Steps::kRecords) steps.add_value_file(read.pointer.file);
  TAMIS_TRY_STATUS(read.file->read(read.pointer, key, to));
  if constexpr (Steps::kRecords) steps.end_value();
  return {};
}

}  // namespace tamis
