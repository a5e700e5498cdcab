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

Status CoveringDelete::ask(std::string_view key) {
  if (same_ && same_->contains(key)) return {};
  KeyStretch same;
  TAMIS_TRY(newest_, uncovered_.deletes->newest_covering(key, uncovered_.moment, &same));
  same_ = same;
  return {};
}

/// Enters the source after what is hidden from the target on.
void UncoveredIterator::seek(EntryPosition target) {
  const std::size_t part = first_part_reaching(target.key);
  if (part == parts_.count) return show_end();
  if (covering_.ask(std::max(target.key, parts_.at(part).smallest)).ok() && covering_.newest() != nullptr) {
    const Exit exit = exit_forwards(part);
    if (exit.kind == Exit::Kind::kEnd) return show_end();
    if (exit.kind == Exit::Kind::kSeek) target = exit.target;
  }
  source_->seek(target);
  settle(Direction::kForwards);
}

/// Goes on from the source's entry to one that is not hidden.
void UncoveredIterator::settle(Direction direction) {
  for (;;) {
    if (!source_->valid()) return source_->status().ok() ? show_end() : show_error(source_->status());
    const Entry& entry = source_->entry();
    if (Status asked = covering_.ask(entry.key); !asked.ok()) return show_error(std::move(asked));
    const RangeTombstone* const newest = covering_.newest();
    const std::optional<std::string_view>& until = covering_.same().to;
    if (newest == nullptr && (!until || source_->last_ready().key < *until)) return show_as(*source_);
    if (newest == nullptr || newest->sequence <= entry.sequence) return show(entry);
    const bool is_forwards = direction == Direction::kForwards;
    const Exit exit = is_forwards ? exit_forwards(first_part_reaching(entry.key)) : exit_backwards(entry.key);
    switch (exit.kind) {
      case Exit::Kind::kEnd: return show_end();
      case Exit::Kind::kSeek: is_forwards ? source_->seek(exit.target) : source_->seek_backwards(exit.target); break;
      case Exit::Kind::kStep:
        covering_.count_step();
        is_forwards ? source_->next() : source_->previous();
        break;
    }
  }
}

std::size_t UncoveredIterator::first_part_reaching(std::string_view key) const {
  return first_part([&](const SourcePart& part) { return !part.largest || *part.largest >= key; });
}

/// From a key of this part that is covered.
UncoveredIterator::Exit UncoveredIterator::exit_forwards(std::size_t here) const {
  const RangeTombstone& newest = *covering_.newest();
  for (std::size_t i = here; i < parts_.count; ++i) {
    const SourcePart part = parts_.at(i);
    const bool is_older = part.newest < newest.sequence;
    if (is_older && covers_to_end(newest, part)) continue;
    if (is_older) {
      const std::string_view end = *newest.range.to;
      return {Exit::Kind::kSeek, {std::max(end, part.smallest), kMaxSequence}};
    }
    return i == here ? Exit{Exit::Kind::kStep} : Exit{Exit::Kind::kSeek, {part.smallest, kMaxSequence}};
  }
  return {Exit::Kind::kEnd};
}

UncoveredIterator::Exit UncoveredIterator::exit_backwards(std::string_view key) const {
  const RangeTombstone& newest = *covering_.newest();
  const std::size_t after = first_part([&](const SourcePart& part) { return part.smallest > key; });
  for (std::size_t i = after; i > 0; --i) {  // From the part with the key on.
    const SourcePart part = parts_.at(i - 1);
    const bool is_older = part.newest < newest.sequence;
    if (is_older && newest.range.from <= part.smallest) continue;
    if (is_older) return {Exit::Kind::kSeek, {newest.range.from, kMaxSequence}};
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
