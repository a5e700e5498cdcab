#include "engine/written_keys.h"

#include <algorithm>

namespace tamis {

std::uint64_t WrittenKeys::erase_intervals_until(Sequence last) {
  std::uint64_t bytes = 0;
  for (; !intervals_.empty() && intervals_.front().sequence <= last; intervals_.pop_front()) {
    const KeyRange& range = intervals_.front().range;
    bytes += bytes_of_interval(range.from, range.to ? *range.to : std::string_view());
  }
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

WrittenKeys::Intervals::const_iterator WrittenKeys::intervals_after(Sequence sequence) const {
  return std::partition_point(intervals_.begin(), intervals_.end(),
                              [&](const WrittenInterval& interval) { return interval.sequence <= sequence; });
}

bool WrittenKeys::has_interval_after(WrittenKey key, Sequence sequence) const {
  return std::any_of(intervals_after(sequence), intervals_.end(), [&](const WrittenInterval& interval) {
    return interval.keyspace == key.keyspace && interval.range.contains(key.key);
  });
}

std::optional<std::string_view> WrittenKeys::key_in_range_after(KeyspaceId keyspace, const KeyRange& range,
                                                                Sequence sequence) const {
  for (auto at = keys_.lower_bound(WrittenKey{keyspace, range.from}); at != keys_.end(); ++at) {
    if (at->first.keyspace != keyspace || range.ends_before(at->first.key)) break;
    if (at->second.any > sequence) return at->first.key;
  }
  for (auto interval = intervals_after(sequence); interval != intervals_.end(); ++interval) {
    const bool overlaps = interval->keyspace == keyspace && !interval->range.ends_before(range.from) &&
                          !range.ends_before(interval->range.from);
    if (overlaps) return std::max<std::string_view>(range.from, interval->range.from);
  }
  return std::nullopt;
}

}  // namespace tamis
