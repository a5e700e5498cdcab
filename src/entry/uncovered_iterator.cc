#include "entry/uncovered_iterator.h"

#include <algorithm>
#include <utility>

#include "base/try.h"

namespace tamis {
namespace {

bool covers_to_end(const RangeTombstone& tombstone, const SourcePart& part) {
  return part.largest ? !tombstone.range.ends_before(*part.largest) : !tombstone.range.to;
}

}  // namespace

/// Sets newest_ for the key.
Status UncoveredIterator::ask(std::string_view key) {
  if (same_ && same_->contains(key)) return {};
  KeyStretch same;
  TAMIS_TRY(newest_, uncovered_.deletes->newest_covering(key, uncovered_.moment, &same));
  same_ = same;
  return {};
}

/// The first position at or after this one that is not known to be hidden; none if all are.
std::optional<EntryPosition> UncoveredIterator::first_uncovered(EntryPosition from) {
  if (!ask(from.key).ok() || newest_ == nullptr) return from;
  const Exit exit = exit_forwards(from.key);
  if (exit.kind == Exit::Kind::kEnd) return std::nullopt;
  return exit.kind == Exit::Kind::kSeek ? exit.target : from;
}

void UncoveredIterator::seek(EntryPosition target) {
  const std::optional<EntryPosition> first = first_uncovered(target);
  if (!first) return show_end();
  source_->seek(*first);
  settle(Direction::kForwards);
}

void UncoveredIterator::prepare_seek(EntryPosition target) {
  if (const std::optional<EntryPosition> first = first_uncovered(target)) source_->prepare_seek(*first);
}

/// Goes on from the source's entry to one that is not hidden.
void UncoveredIterator::settle(Direction direction) {
  for (;;) {
    if (!source_->valid()) return source_->status().ok() ? show_end() : show_error(source_->status());
    const Entry& entry = source_->entry();
    if (Status asked = ask(entry.key); !asked.ok()) return show_error(std::move(asked));
    if (newest_ == nullptr && (!same_->to || source_->last_ready().key < *same_->to)) return show_as(*source_);
    if (newest_ == nullptr || newest_->sequence <= entry.sequence) return show(entry);
    const bool is_forwards = direction == Direction::kForwards;
    const Exit exit = is_forwards ? exit_forwards(entry.key) : exit_backwards(entry.key);
    switch (exit.kind) {
      case Exit::Kind::kEnd: return show_end();
      case Exit::Kind::kSeek: is_forwards ? source_->seek(exit.target) : source_->seek_backwards(exit.target); break;
      case Exit::Kind::kStep:
        ++*uncovered_.stepped;
        is_forwards ? source_->next() : source_->previous();
        break;
    }
  }
}

/// From a key that newest_ covers.
UncoveredIterator::Exit UncoveredIterator::exit_forwards(std::string_view key) const {
  const auto here = std::partition_point(parts_.begin(), parts_.end(),
                                         [&](const SourcePart& part) { return part.largest && *part.largest < key; });
  auto part = here;
  while (part != parts_.end() && part->newest < newest_->sequence && covers_to_end(*newest_, *part)) ++part;
  if (part == parts_.end()) return {Exit::Kind::kEnd};
  if (part->newest < newest_->sequence) {
    const std::string_view end = *newest_->range.to;
    return {Exit::Kind::kSeek, {std::max(end, part->smallest), kMaxSequence}};
  }
  return part == here ? Exit{Exit::Kind::kStep} : Exit{Exit::Kind::kSeek, {part->smallest, kMaxSequence}};
}

UncoveredIterator::Exit UncoveredIterator::exit_backwards(std::string_view key) const {
  const auto after =
      std::partition_point(parts_.begin(), parts_.end(), [&](const SourcePart& part) { return part.smallest <= key; });
  auto end = after;  // The part before this one is the current one.
  const auto is_hidden = [&](const SourcePart& part) {
    return part.newest < newest_->sequence && newest_->range.from <= part.smallest;
  };
  while (end != parts_.begin() && is_hidden(*(end - 1))) --end;
  if (end == parts_.begin()) return {Exit::Kind::kEnd};
  const SourcePart& part = *(end - 1);
  if (part.newest < newest_->sequence) return {Exit::Kind::kSeek, {newest_->range.from, kMaxSequence}};
  return end == after ? Exit{Exit::Kind::kStep} : Exit{Exit::Kind::kSeek, {*part.largest, Sequence{0}}};
}

}  // namespace tamis
