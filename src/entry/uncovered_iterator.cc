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
  const std::size_t here = first_part([&](const SourcePart& part) { return !part.largest || *part.largest >= key; });
  for (std::size_t i = here; i < parts_.count; ++i) {
    const SourcePart part = parts_.at(i);
    const bool is_older = part.newest < newest_->sequence;
    if (is_older && covers_to_end(*newest_, part)) continue;
    if (is_older) {
      const std::string_view end = *newest_->range.to;
      return {Exit::Kind::kSeek, {std::max(end, part.smallest), kMaxSequence}};
    }
    return i == here ? Exit{Exit::Kind::kStep} : Exit{Exit::Kind::kSeek, {part.smallest, kMaxSequence}};
  }
  return {Exit::Kind::kEnd};
}

UncoveredIterator::Exit UncoveredIterator::exit_backwards(std::string_view key) const {
  const std::size_t after = first_part([&](const SourcePart& part) { return part.smallest > key; });
  for (std::size_t i = after; i > 0; --i) {  // From the part with the key on.
    const SourcePart part = parts_.at(i - 1);
    const bool is_older = part.newest < newest_->sequence;
    if (is_older && newest_->range.from <= part.smallest) continue;
    if (is_older) return {Exit::Kind::kSeek, {newest_->range.from, kMaxSequence}};
    return i == after ? Exit{Exit::Kind::kStep} : Exit{Exit::Kind::kSeek, {*part.largest, Sequence{0}}};
  }
  return {Exit::Kind::kEnd};
}

/// The first part for which this holds, and for all after it; the number of parts if there is none.
template <typename Holds>
std::size_t UncoveredIterator::first_part(Holds holds) const {
  std::size_t begin = 0;
  std::size_t end = parts_.count;
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (holds(parts_.at(middle))) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

}  // namespace tamis
