#include "entry/empty_ranges.h"

#include <algorithm>
#include <optional>
#include <string>

namespace tamis {
namespace {

bool overlap(const KeyRange& a, const KeyRange& b) { return !a.ends_before(b.from) && !b.ends_before(a.from); }

bool may_be_kept(const KeyRange& range) {
  const auto is_short = [](const std::string& key) { return key.size() <= EmptyRanges::kMaxKeyBytes; };
  return is_short(range.from) && (!range.to || is_short(*range.to)) && !range.ends_before(range.from);
}

/// The keys that are in both.
KeyRange common(KeyRange range, const KeyRange& other) {
  range.narrow(other.from, other.to);
  return range;
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

bool EmptyRanges::add(EmptyRange found) {
  if (!may_be_kept(found.range())) return false;
  const MutexLock lock(mutex_);
  if (found.moment.sequence < may_be_zeroed_) return false;
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
  return true;
}

Sequence EmptyRanges::begin_rewrite(KeyspaceId keyspace, const KeyRange& range, Sequence last) {
  const MutexLock lock(mutex_);
  std::vector<Known> parts;
  const std::size_t most = kMaxRanges - std::min(known_.size() + 2, kMaxRanges);
  std::erase_if(known_, [&](const Known& known) {
    const EmptyRange& before = *known.range;
    if (before.keyspace != keyspace || !overlap(before.range(), range)) return false;
    const auto keep = [&](KeyRange part, bool is_rewritten) {
      parts.push_back({std::make_shared<const EmptyRange>(keyspace, std::move(part), before.moment), is_rewritten});
    };
    const bool may_divide = parts.size() < most;
    if (may_divide) {
      for (KeyRange& beside : without(before.range(), range)) keep(std::move(beside), known.is_rewritten);
    }
    if (known.is_rewritten) return true;
    keep(may_divide ? common(before.range(), range) : before.range(), true);
    last = std::min(last, before.moment.sequence);
    return true;
  });
  for (Known& part : parts) join(std::move(part));
  count_.store(known_.size(), std::memory_order_relaxed);
  may_be_zeroed_ = std::max(may_be_zeroed_, last);
  return last;
}

/// With what it touches and what it was before it was divided.
void EmptyRanges::join(Known part) {
  KeyRange range = part.range->range();
  const std::size_t before = known_.size();
  std::erase_if(known_, [&](const Known& known) {
    const EmptyRange& other = *known.range;
    if (other.keyspace != part.range->keyspace || other.moment != part.range->moment) return false;
    if (known.is_rewritten != part.is_rewritten) return false;
    if (other.range().to == range.from) {
      range.from = other.range().from;
    } else if (range.to == other.range().from) {
      range.to = other.range().to;
    } else {
      return false;
    }
    return true;
  });
  if (known_.size() != before) {
    part.range = std::make_shared<const EmptyRange>(part.range->keyspace, std::move(range), part.range->moment);
  }
  known_.push_back(std::move(part));
}

}  // namespace tamis
