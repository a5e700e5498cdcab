#include "entry/empty_ranges.h"

#include <algorithm>
#include <optional>
#include <string>

namespace tamis {
namespace {

bool overlap(const KeyRange& a, const KeyRange& b) { return !a.ends_before(b.from) && !b.ends_before(a.from); }

bool is_kept(const KeyRange& range) {
  const auto is_short = [](const std::string& key) { return key.size() <= EmptyRanges::kMaxKeyBytes; };
  return is_short(range.from) && (!range.to || is_short(*range.to)) && !range.ends_before(range.from);
}

/// The parts of `range` before and after `taken`, which overlaps it.
std::vector<KeyRange> without(const KeyRange& range, const KeyRange& taken) {
  std::vector<KeyRange> parts;
  if (range.from < taken.from) parts.push_back({range.from, taken.from});
  if (taken.to && !range.ends_before(*taken.to)) parts.push_back({*taken.to, range.to});
  return parts;
}

}  // namespace

SharedEmptyRanges EmptyRanges::known(KeyspaceId keyspace, const KeyRange& range, const Moment& moment) const {
  SharedEmptyRanges found;
  const MutexLock lock(mutex_);
  for (const Known& known : known_) {
    const Moment& since = known.range->moment;
    const bool holds = since.sequence <= moment.sequence && since.time <= moment.time;
    if (holds && known.range->keyspace == keyspace && overlap(known.range->range(), range)) {
      found.push_back(known.range);
    }
  }
  std::ranges::sort(found, {}, [](const auto& known) { return std::string_view(known->range().from); });
  return found;
}

void EmptyRanges::add(EmptyRange found) {
  if (!is_kept(found.range())) return;
  const MutexLock lock(mutex_);
  if (found.moment.sequence < may_be_zeroed_) return;
  std::vector<Known> parts;
  std::erase_if(known_, [&](const Known& known) {
    const EmptyRange& before = *known.range;
    if (before.keyspace != found.keyspace || !overlap(before.range(), found.range())) return false;
    for (KeyRange& part : without(before.range(), found.range())) {
      parts.push_back(
          {std::make_shared<const EmptyRange>(before.keyspace, std::move(part), before.moment), known.is_rewritten});
    }
    return true;
  });
  known_.insert(known_.end(), parts.begin(), parts.end());
  while (known_.size() >= kMaxRanges) {
    known_.erase(std::ranges::min_element(known_, {}, [](const Known& known) { return known.range->moment.sequence; }));
  }
  known_.push_back({std::make_shared<const EmptyRange>(std::move(found))});
  count_.store(known_.size(), std::memory_order_relaxed);
}

Sequence EmptyRanges::begin_rewrite(KeyspaceId keyspace, const KeyRange& range, Sequence last) {
  const auto concerns = [&](const Known& known) {
    return known.range->keyspace == keyspace && overlap(known.range->range(), range);
  };
  const MutexLock lock(mutex_);
  std::erase_if(known_, [&](const Known& known) { return known.is_rewritten && concerns(known); });
  for (Known& known : known_) {
    if (!concerns(known)) continue;
    known.is_rewritten = true;
    last = std::min(last, known.range->moment.sequence);
  }
  count_.store(known_.size(), std::memory_order_relaxed);
  may_be_zeroed_ = std::max(may_be_zeroed_, last);
  return last;
}

}  // namespace tamis
