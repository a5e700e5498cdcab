// The writing half of data_block_format.h.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "table/block_trailer_format.h"
#include "table/data_block_format.h"
#include "table/data_block_layout_format.h"

namespace tamis {

using namespace data_block;

namespace {

constexpr std::size_t kOffsetsEnd = 65'536;
constexpr std::size_t kKeptBytes = std::size_t{1} << 20;  // A buffer that grew larger for one value is given back.

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t same = 0;
  for (; same + 8 <= most; same += 8) {
    const std::uint64_t difference = load_le<std::uint64_t>(a.data() + same) ^ load_le<std::uint64_t>(b.data() + same);
    if (difference != 0) return same + static_cast<std::size_t>(std::countr_zero(difference)) / 8;
  }
  while (same < most && a[same] == b[same]) ++same;
  return same;
}

std::uint64_t stamp_of(Sequence sequence, EntryKind kind, std::uint64_t base) {
  return (number_of(sequence) - base) << kKindBits | static_cast<std::uint64_t>(kind);
}

std::size_t entry_bytes(std::size_t suffix_bytes, std::uint64_t stamp, std::size_t value_bytes) {
  return varint_bytes(suffix_bytes) + varint_bytes(stamp) + rest_bytes_of(suffix_bytes) + value_bytes;
}

void clear_or_release(std::string& text) {
  text.clear();
  if (text.capacity() > kKeptBytes) text.shrink_to_fit();
}

}  // namespace

DataBlockBuilder::DataBlockBuilder(std::size_t target_bytes)
    : target_bytes_(std::min(target_bytes, kOffsetsEnd + kBlockTrailerBytes)) {}

bool DataBlockBuilder::empty() const { return pending_.empty(); }
std::size_t DataBlockBuilder::entries() const { return pending_.size(); }

std::string_view DataBlockBuilder::key_of(const Pending& pending) const {
  return std::string_view(text_).substr(pending.key_at, pending.key_bytes);
}
std::string_view DataBlockBuilder::value_of(const Pending& pending) const {
  return std::string_view(text_).substr(pending.key_at + pending.key_bytes, pending.value_bytes);
}

DataBlockBuilder::Totals DataBlockBuilder::totals_with(const Entry& entry) const {
  const std::uint64_t sequence = number_of(entry.sequence);
  if (empty()) return {1, entry.key.size(), entry.value.size(), entry.key.size(), entry.key.size(), sequence, sequence};
  Totals totals = totals_;
  ++totals.entries;
  totals.key_bytes += entry.key.size();
  totals.value_bytes += entry.value.size();
  totals.longest_key = std::max(totals.longest_key, entry.key.size());
  // Keys ascend, so what the first and the last share all share.
  totals.prefix_bytes = common_prefix(key_of(pending_.front()).substr(0, totals_.prefix_bytes), entry.key);
  totals.lowest_sequence = std::min(totals.lowest_sequence, sequence);
  totals.highest_sequence = std::max(totals.highest_sequence, sequence);
  return totals;
}

/// Counting exactly means to look at all entries, since each can change the prefix and the base for all. So first a
/// bound that needs only totals: every length and sequence as long as the longest, every head stored twice.
bool DataBlockBuilder::fits(const Entry& entry) const {
  if (empty()) return true;
  const Totals totals = totals_with(entry);
  const std::uint64_t span = totals.highest_sequence - totals.lowest_sequence;
  if (span >= kSequenceSpan) return false;
  const std::size_t lengths =
      varint_bytes(totals.longest_key - totals.prefix_bytes) + varint_bytes(span << kKindBits | kKindMask);
  const std::size_t suffixes = totals.key_bytes - totals.entries * totals.prefix_bytes;
  const std::size_t bound = prefix_at(totals.entries) + totals.prefix_bytes + suffixes + totals.value_bytes +
                            totals.entries * lengths + kBlockTrailerBytes;
  return bound <= target_bytes_ || exact_bytes(totals, entry) <= target_bytes_;
}

std::size_t DataBlockBuilder::exact_bytes(const Totals& totals, const Entry& last) const {
  const auto bytes_of = [&](std::size_t key_bytes, Sequence sequence, EntryKind kind, std::size_t value_bytes) {
    return entry_bytes(key_bytes - totals.prefix_bytes, stamp_of(sequence, kind, totals.lowest_sequence), value_bytes);
  };
  std::size_t bytes = prefix_at(totals.entries) + totals.prefix_bytes + kBlockTrailerBytes;
  for (const Pending& entry : pending_) {
    bytes += bytes_of(entry.key_bytes, entry.sequence, entry.kind, entry.value_bytes);
  }
  return bytes + bytes_of(last.key.size(), last.sequence, last.kind, last.value.size());
}

void DataBlockBuilder::add(const Entry& entry, std::uint64_t hash) {
  TAMIS_INVARIANT(fits(entry));
  TAMIS_INVARIANT(entry.key.size() <= kMaxKeyBytes && entry.sequence < kMaxSequence);
  TAMIS_INVARIANT(empty() || (EntryPosition{key_of(pending_.back()), pending_.back().sequence} < entry.position()));
  if (block_.capacity() > kKeptBytes) clear_or_release(block_);
  totals_ = totals_with(entry);
  pending_.push_back({text_.size(), entry.key.size(), entry.value.size(), entry.sequence, entry.kind, tag_of(hash)});
  text_.append(entry.key);
  text_.append(entry.value);
}

std::string_view DataBlockBuilder::finish() {
  TAMIS_CHECK(!empty());
  // A single entry keeps its whole key, so that it begins near the front however long the key is.
  if (pending_.size() == 1) totals_.prefix_bytes = 0;
  write_block();
  pending_.clear();
  clear_or_release(text_);
  return block_;
}

void DataBlockBuilder::write_block() {
  const std::size_t count = pending_.size();
  const std::size_t prefix_bytes = totals_.prefix_bytes;
  block_.clear();
  block_.reserve(std::max(target_bytes_, text_.size() + prefix_at(count) + 2 * kMaxVarintBytes));
  block_.resize(prefix_at(count));
  char* const arrays = block_.data();
  store_le(arrays, static_cast<std::uint16_t>(count));
  store_le(arrays + kPrefixLengthAt, static_cast<std::uint16_t>(prefix_bytes));
  store_le(arrays + kBaseSequenceAt, totals_.lowest_sequence);
  block_.append(key_of(pending_.front()).substr(0, prefix_bytes));
  for (std::size_t i = 0; i < count; ++i) {
    const Pending& entry = pending_[i];
    const std::string_view suffix = key_of(entry).substr(prefix_bytes);
    TAMIS_INVARIANT(block_.size() < kOffsetsEnd);
    block_[kTagsAt + i] = static_cast<char>(entry.tag);
    store_le(block_.data() + heads_at(count) + 2 * i, head_of(suffix));
    store_le(block_.data() + offsets_at(count) + 2 * i, static_cast<std::uint16_t>(block_.size()));
    append_varint(block_, suffix.size());
    append_varint(block_, stamp_of(entry.sequence, entry.kind, totals_.lowest_sequence));
    block_.append(suffix.substr(std::min(kHeadBytes, suffix.size())));
    block_.append(value_of(entry));
  }
}

}  // namespace tamis
