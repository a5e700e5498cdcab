#include "engine/written_keys.h"

#include <algorithm>

namespace tamis {

std::uint64_t WrittenKeys::erase_intervals_until(Sequence last) {
  std::uint64_t bytes = 0;
  const auto kept = std::ranges::find_if(intervals_, [&](const WrittenInterval& i) { return i.sequence > last; });
  for (auto erased = intervals_.begin(); erased != kept; ++erased) {
    bytes += bytes_of_interval(erased->range.from, erased->range.to.value_or(""));
  }
  intervals_.erase(intervals_.begin(), kept);
  return bytes;
}

bool WrittenKeys::has_key_after(WrittenKey key, Sequence sequence) const {
  const auto found = keys_.find(key);
  return (found != keys_.end() && found->second.any > sequence) || has_interval_after(key, sequence);
}

bool WrittenKeys::has_no_merge_after(WrittenKey key, Sequence sequence) const {
  const auto found = keys_.find(key);
  return (found != keys_.end() && found->second.no_merge > sequence) || has_interval_after(key, sequence);
}

bool WrittenKeys::has_interval_after(WrittenKey key, Sequence sequence) const {
  return std::ranges::any_of(intervals_, [&](const WrittenInterval& interval) {
    return interval.sequence > sequence && interval.keyspace == key.keyspace && interval.range.contains(key.key);
  });
}

std::optional<std::string_view> WrittenKeys::key_in_range_after(KeyspaceId keyspace, const KeyRange& range,
                                                                Sequence sequence) const {
  for (auto at = keys_.lower_bound(WrittenKey{keyspace, range.from}); at != keys_.end(); ++at) {
    if (at->first.keyspace != keyspace || range.ends_before(at->first.key)) break;
    if (at->second.any > sequence) return at->first.key;
  }
  for (const WrittenInterval& interval : intervals_) {
    const bool overlaps = interval.keyspace == keyspace && interval.sequence > sequence &&
                          !interval.range.ends_before(range.from) && !range.ends_before(interval.range.from);
    if (overlaps) return std::max<std::string_view>(range.from, interval.range.from);
  }
  return std::nullopt;
}

}  // namespace tamis
