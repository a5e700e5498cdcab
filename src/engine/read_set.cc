#include "engine/read_set.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tamis {
namespace {

std::uint64_t bytes_of(const ReadSet::Interval& interval) {
  return sizeof(interval) + interval.range.from.size() + (interval.range.to ? interval.range.to->size() : 0);
}

/// Whether one interval of both has no key that neither has. `b` does not begin before `a`.
bool overlap_or_touch(const KeyRange& a, const KeyRange& b) { return !a.to || b.from <= *a.to; }

/// To the larger of both ends.
void extend(KeyRange& range, std::optional<std::string> to) {
  if (!range.to) return;
  if (!to) {
    range.to.reset();
  } else if (*range.to < *to) {
    range.to = std::move(to);
  }
}

}  // namespace

void ReadSet::add_key(KeyspaceId keyspace, std::string_view key) {
  add_keyspace(keyspace);
  points_.push_back({keyspace, static_cast<std::uint32_t>(key.size()), bytes_.size()});
  bytes_.append(key);
  if (memory_bytes() > max_bytes_) coarsen();
}

void ReadSet::add_range(Slot& slot, KeyspaceId keyspace, std::string_view from, std::optional<std::string_view> to) {
  if (to && *to <= from) return;
  if (slot.coarsenings == coarsenings_) {
    KeyRange& range = intervals_[slot.number].range;
    const bool touches = (!to || range.from <= *to) && (!range.to || from <= *range.to);
    if (touches) {
      interval_bytes_ -= bytes_of(intervals_[slot.number]);
      if (from < range.from) range.from.assign(from);
      if (!to) {
        range.to.reset();
      } else if (range.to && *range.to < *to) {
        range.to->assign(*to);
      }
      interval_bytes_ += bytes_of(intervals_[slot.number]);
      if (memory_bytes() > max_bytes_) coarsen();
      return;
    }
  }
  add_keyspace(keyspace);
  slot = {intervals_.size(), coarsenings_};
  Interval& added = intervals_.emplace_back(Interval{keyspace, {std::string(from), {}}});
  if (to) added.range.to.emplace(*to);
  interval_bytes_ += bytes_of(added);
  if (memory_bytes() > max_bytes_) coarsen();
}

void ReadSet::add_keyspace(KeyspaceId keyspace) {
  if (keyspace == kDefaultKeyspace || std::ranges::find(keyspaces_, keyspace) != keyspaces_.end()) return;
  keyspaces_.push_back(keyspace);
}

void ReadSet::prepare() {
  if (intervals_.size() > 1) join_overlapping();
}

/// Sorts the intervals. Slots end: their numbers have changed.
void ReadSet::join_overlapping() {
  ++coarsenings_;
  std::ranges::sort(intervals_, [](const Interval& a, const Interval& b) {
    return std::tie(a.keyspace, a.range.from) < std::tie(b.keyspace, b.range.from);
  });
  std::vector<Interval> joined;
  for (Interval& interval : intervals_) {
    const bool joins = !joined.empty() && joined.back().keyspace == interval.keyspace &&
                       overlap_or_touch(joined.back().range, interval.range);
    if (joins) {
      extend(joined.back().range, std::move(interval.range.to));
    } else {
      joined.push_back(std::move(interval));
    }
  }
  intervals_ = std::move(joined);
  count_intervals();
}

/// To at most half of the max, if neighbours of one keyspace are left to be joined.
void ReadSet::coarsen() {
  for (const StoredPoint& point : points_) {
    const std::string_view key = view(point).key;
    intervals_.push_back({point.keyspace, {std::string(key), after_key(key)}});
  }
  std::vector<StoredPoint>().swap(points_);
  std::string().swap(bytes_);
  join_overlapping();
  while (memory_bytes() > max_bytes_ / 2) {
    std::vector<Interval> joined;
    for (std::size_t i = 0; i < intervals_.size(); ++i) {
      Interval& interval = joined.emplace_back(std::move(intervals_[i]));
      if (i + 1 == intervals_.size() || intervals_[i + 1].keyspace != interval.keyspace) continue;
      extend(interval.range, std::move(intervals_[++i].range.to));
    }
    const bool is_done = joined.size() == intervals_.size();
    intervals_ = std::move(joined);
    count_intervals();
    if (is_done) return;
  }
}

void ReadSet::count_intervals() {
  interval_bytes_ = 0;
  for (const Interval& interval : intervals_) interval_bytes_ += bytes_of(interval);
}

}  // namespace tamis
