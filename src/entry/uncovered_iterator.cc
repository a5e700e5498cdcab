#include "entry/uncovered_iterator.h"

#include <algorithm>
#include <utility>

namespace tamis {
namespace {

bool covers_to_end(const RangeTombstone& tombstone, const SourcePart& part) {
  return part.largest ? !tombstone.range.ends_before(*part.largest) : !tombstone.range.to;
}

}  // namespace

/// Goes on from the source's entry to one that is not hidden.
void UncoveredIterator::settle(Direction direction) {
  const RangeTombstone* last = nullptr;  // What hid the entry before.
  for (;;) {
    if (!source_->valid()) return source_->status().ok() ? show_end() : show_error(source_->status());
    const Entry& entry = source_->entry();
    if (last == nullptr || last->sequence <= entry.sequence || !last->range.contains(entry.key)) {
      Result<const RangeTombstone*> newest = deletes_.newest_covering(entry.key, moment_);
      if (!newest.ok()) return show_error(newest.status());
      last = *newest;
      if (last == nullptr || last->sequence <= entry.sequence) return show(entry);
    }
    const bool goes_on = direction == Direction::kForwards ? leave_forwards(*last) : leave_backwards(*last);
    if (!goes_on) return show_end();
  }
}

/// Moves the source on from an entry that the tombstone hides. False: it hides all of the rest.
bool UncoveredIterator::leave_forwards(const RangeTombstone& tombstone) {
  const std::string_view key = source_->entry().key;
  const auto here = std::partition_point(parts_.begin(), parts_.end(),
                                         [&](const SourcePart& part) { return part.largest && *part.largest < key; });
  auto part = here;
  while (part != parts_.end() && part->newest < tombstone.sequence && covers_to_end(tombstone, *part)) ++part;
  if (part == parts_.end()) return false;
  if (part->newest < tombstone.sequence) {
    source_->seek({std::max<std::string_view>(*tombstone.range.to, part->smallest), kMaxSequence});
  } else if (part != here) {
    source_->seek({part->smallest, kMaxSequence});
  } else {
    source_->next();
  }
  return true;
}

bool UncoveredIterator::leave_backwards(const RangeTombstone& tombstone) {
  const std::string_view key = source_->entry().key;
  const auto after =
      std::partition_point(parts_.begin(), parts_.end(), [&](const SourcePart& part) { return part.smallest <= key; });
  auto end = after;  // The part before this one is the current one.
  const auto is_hidden = [&](const SourcePart& part) {
    return part.newest < tombstone.sequence && tombstone.range.from <= part.smallest;
  };
  while (end != parts_.begin() && is_hidden(*(end - 1))) --end;
  if (end == parts_.begin()) return false;
  const SourcePart& part = *(end - 1);
  if (part.newest < tombstone.sequence) {
    source_->seek_backwards({tombstone.range.from, kMaxSequence});
  } else if (end != after) {
    source_->seek_backwards({*part.largest, Sequence{0}});
  } else {
    source_->previous();
  }
  return true;
}

}  // namespace tamis
