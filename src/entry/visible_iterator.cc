#include "entry/visible_iterator.h"

#include <utility>

#include "base/try.h"

namespace tamis {
namespace {

/// This many older versions of a key are skipped one by one; a seek skips the rest, even thousands.
constexpr int kVersionsPassed = 64;

}  // namespace

VisibleIterator::VisibleIterator(std::unique_ptr<EntryIterator> source, Moment moment, KeyRange range,
                                 std::unique_ptr<ApartValues> values, const MergeOperator* merge_operator,
                                 EmptyRangeWatch* watch)
    : moment_(moment),
      range_(std::move(range)),
      source_(std::move(source)),
      values_(std::move(values)),
      merge_operator_(merge_operator),
      watch_(watch),
      min_deleted_(watch == nullptr ? ~std::uint64_t{0} : watch->min_deleted()) {}

void VisibleIterator::seek(std::string_view key) {
  if (range_.ends_before(key)) {
    status_ = {};
    valid_ = false;
    return;
  }
  saved_key_.assign(range_.begins_after(key) ? std::string_view(range_.from) : key);  // `key` may be the one we show.
  source_->seek({saved_key_, moment_.sequence});
  find_forwards(Begin::kSavedKey);
}

void VisibleIterator::seek_before(std::string_view key) { seek_backwards(key, kMaxSequence); }

/// No version is older than sequence 0: the search starts after all versions of the key.
void VisibleIterator::seek_at_or_before(std::string_view key) { seek_backwards(key, Sequence{0}); }

void VisibleIterator::seek_backwards(std::string_view key, Sequence sequence) {
  if (range_.ends_before(key)) return seek_to_last();
  saved_key_.assign(key);
  source_->seek_backwards({saved_key_, sequence});
  find_backwards();
}

void VisibleIterator::seek_to_first() {
  source_->seek({range_.from, moment_.sequence});
  find_forwards(Begin::kRange);
}

void VisibleIterator::seek_to_last() {
  if (range_.to) {
    source_->seek_backwards({*range_.to, kMaxSequence});
  } else {
    source_->seek_to_last();
  }
  find_backwards();
}

void VisibleIterator::next_anyhow() {
  if (place_ == SourcePlace::kOnIt) {
    saved_key_.assign(key_);
    source_->next();
  } else if (place_ == SourcePlace::kBefore) {
    source_->seek({saved_key_, Sequence{0}});  // The oldest possible version, or what follows.
  }
  find_forwards(Begin::kAfterSavedKey);
}

/// The source is on an entry that is ready and is not a plain value.
void VisibleIterator::next_of_any_kind(std::string_view before) {
  for (;; source_->step()) {
    const Entry& entry = source_->entry();
    std::string_view value;
    const Visible here = visible(entry, moment_, value);
    if (here != Visible::kValue && here != Visible::kNewer) return find_after(before);
    if (here == Visible::kValue && !is_same_key(entry.key, before)) {
      if (range_.ends_before(entry.key)) return find_after(before);
      key_ = entry.key;
      value_ = value;
      return;
    }
    if (!source_->has_ready()) return next_anyhow();
  }
}

/// From the source's position, after a version of this key.
void VisibleIterator::find_after(std::string_view key) {
  saved_key_.assign(key);
  find_forwards(Begin::kAfterSavedKey);
}

void VisibleIterator::previous() {
  TAMIS_INVARIANT(valid_);
  if (place_ != SourcePlace::kBefore) {
    if (place_ == SourcePlace::kOnIt) saved_key_.assign(key_);
    source_->seek_backwards({saved_key_, kMaxSequence});  // No version is that new: what precedes them all.
  }
  find_backwards();
}

/// From the source's position to the next visible entry.
void VisibleIterator::find_forwards(Begin begin) {
  bool skips_saved_key = begin == Begin::kAfterSavedKey;
  int passed = 0;
  std::uint64_t deleted = 0;
  while (source_->valid()) {
    const Entry& entry = source_->entry();
    if (range_.ends_before(entry.key)) break;
    std::string_view value;
    if (const Visible here = visible(entry, moment_, value); here != Visible::kNewer) {
      if (!skips_saved_key || !is_same_key(entry.key, saved_key_)) {
        if (here != Visible::kDeleted) {
          if (deleted >= min_deleted_) [[unlikely]]
            tell_gap(begin, deleted, entry.key);
          if (here == Visible::kValue) return show(entry.key, value, SourcePlace::kOnIt);
          return here == Visible::kApart ? show_apart(entry.key, value, SourcePlace::kOnIt) : fold_forwards();
        }
        if (deleted++ == 0) begin_gap(begin);
        if (deleted == EmptyRangeWatch::kDeletedInVain && watch_ != nullptr) watch_->goes_on_in_vain();
        saved_key_.assign(entry.key);  // Its older versions are deleted, too.
        skips_saved_key = true;
        passed = 0;
      } else if (++passed == kVersionsPassed) {
        source_->seek({saved_key_, Sequence{0}});  // The oldest possible version, or what follows.
        continue;
      }
    }
    source_->step();
  }
  if (deleted >= min_deleted_) [[unlikely]]
    tell_gap(begin, deleted, range_.to);
  show_end();
}

/// Remembers where the search began, before saved_key_ changes.
void VisibleIterator::begin_gap(Begin begin) {
  rare().gap_from.assign(begin == Begin::kRange ? range_.from : saved_key_);
  if (begin == Begin::kAfterSavedKey) rare().gap_from.push_back('\0');
}

/// The search has passed this many deleted keys, and shows nothing before `to`.
void VisibleIterator::tell_gap(Begin begin, std::uint64_t deleted, std::optional<std::string_view> to) {
  if (!watch_->were_many(deleted) || !source_->status().ok()) return;
  if (deleted == 0) begin_gap(begin);
  KeyRange gap{rare().gap_from, std::nullopt};
  if (to) gap.to.emplace(*to);
  watch_->found(std::move(gap));
}

/// From the source's position, before all versions of the key just left, to the visible entry before it. The versions
/// of a key come oldest first, so each visible version replaces the one before, until the key changes; an operand is
/// added to them.
void VisibleIterator::find_backwards() {
  bool is_found = false;
  bool is_apart = false;  // What saved_value_ has is a pointer.
  forget_operands();
  for (; source_->valid(); source_->previous()) {
    const Entry& entry = source_->entry();
    if (range_.begins_after(entry.key)) break;
    if (is_found && entry.key != saved_key_) break;
    std::string_view value;
    const Visible here = visible(entry, moment_, value);
    if (here == Visible::kNewer) continue;
    if (here == Visible::kOperand) {
      if (Status added = add_newer_operand(entry, value, is_found, is_apart); !added.ok()) {
        return show_error(std::move(added));
      }
      is_found = true;
      continue;
    }
    forget_operands();
    is_apart = here == Visible::kApart;
    is_found = here == Visible::kValue || is_apart;
    if (!is_found) continue;
    saved_key_.assign(entry.key);
    saved_value_.assign(value);
    saved_sequence_ = entry.sequence;
    saved_due_ = due_of(entry);
  }
  // After an error a newer version may have been missed: do not show what was found.
  if (!is_found || !source_->status().ok()) return show_end();
  if (has_operands()) {
    operands().reverse();
    return show_fold(SourcePlace::kBefore);
  }
  if (is_apart) return show_apart(saved_key_, saved_value_, SourcePlace::kBefore);
  show(saved_key_, saved_value_, SourcePlace::kBefore);
}

/// The source is on an operand that is newer than everything before it. `has_older`: of the same key, a value, or
/// operands. The same entry may be in two runs after a repair; it counts once.
Status VisibleIterator::add_newer_operand(const Entry& entry, std::string_view operand, bool has_older, bool is_apart) {
  if (!has_older) saved_key_.assign(entry.key);
  if (has_older && !has_operands()) {
    TAMIS_TRY_STATUS(is_apart ? add_beneath(saved_value_, saved_sequence_)
                              : operands().add(saved_value_, saved_sequence_));
  }
  if (has_operands() && operands().links().back().sequence == entry.sequence) return {};
  return operands().add(operand, entry.sequence);
}

/// The value of saved_key_ to which this points.
Status VisibleIterator::add_beneath(std::string_view pointer, Sequence sequence) {
  TAMIS_CHECK(values_ != nullptr);
  TAMIS_TRY_STATUS(values_->read(saved_key_, pointer, rare().apart_value));
  return operands().add(rare().apart_value, sequence);
}

/// The source is on the newest operand of a key: goes on to the value beneath, or beyond the key.
void VisibleIterator::fold_forwards() {
  saved_key_.assign(source_->entry().key);
  forget_operands();
  for (; source_->valid() && is_same_key(source_->entry().key, saved_key_); source_->step()) {
    const Entry& entry = source_->entry();
    std::string_view value;
    const Visible here = visible(entry, moment_, value);
    if (here == Visible::kDeleted) break;
    if (has_operands() && operands().links().back().sequence == entry.sequence) continue;  // As after a repair.
    Status added = here == Visible::kApart ? add_beneath(value, entry.sequence) : operands().add(value, entry.sequence);
    if (!added.ok()) return show_error(std::move(added));
    if (here != Visible::kOperand) break;
  }
  if (!source_->status().ok()) return show_end();
  show_fold(SourcePlace::kAfter);
}

/// A fold does not expire: when the value beneath is due, the operands are left.
void VisibleIterator::show_fold(SourcePlace place) {
  if (Status folded = operands().fold(merge_operator_, saved_value_); !folded.ok())
    return show_error(std::move(folded));
  forget_operands();
  saved_due_ = 0;
  show(saved_key_, saved_value_, place);
}

void VisibleIterator::show(std::string_view key, std::string_view value, SourcePlace place) {
  if (!status_.ok()) [[unlikely]]
    status_ = {};
  valid_ = true;
  key_ = key;
  value_ = value;
  place_ = place;
}

/// A value that cannot be read ends the iteration, as a block does.
void VisibleIterator::show_apart(std::string_view key, std::string_view pointer, SourcePlace place) {
  TAMIS_CHECK(values_ != nullptr);
  if (Status read = values_->read(key, pointer, rare().apart_value); !read.ok()) {
    valid_ = false;
    status_ = std::move(read);
    return;
  }
  show(key, rare().apart_value, place);
}

/// Beyond the range the source may be valid; nothing has failed then.
void VisibleIterator::show_end() {
  valid_ = false;
  status_ = source_->status();
}

void VisibleIterator::show_error(Status why) {
  valid_ = false;
  status_ = std::move(why);
}

}  // namespace tamis
