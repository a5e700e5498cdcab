// The writing half of data_block_format.h.
#include <algorithm>

#include "base/check.h"
#include "table/block_trailer_format.h"
#include "table/data_block_format.h"

namespace tamis {

using namespace data_block;

namespace {

constexpr std::size_t kOffsetsEnd = 65'536;
constexpr std::size_t kKeptBytes = std::size_t{1} << 20;  // A buffer that grew larger for one value is freed.

std::uint64_t stamp_of(Sequence sequence, EntryKind kind, std::uint64_t base) {
  const std::uint64_t bits = fits_into_stamp(kind) ? static_cast<std::uint64_t>(kind) : kKindEscape;
  return (number_of(sequence) - base) << kKindBits | bits;
}

/// Of the value, and of the kind before it.
std::size_t value_bytes_with_kind(std::size_t value_bytes, EntryKind kind) {
  return value_bytes + (fits_into_stamp(kind) ? 0 : 1);
}

std::size_t entry_bytes(std::size_t suffix_bytes, std::uint64_t stamp, std::size_t value_bytes) {
  return varint_bytes(suffix_bytes) + varint_bytes(stamp) + rest_bytes_of(suffix_bytes) + value_bytes;
}

/// As append_varint, to preallocated space.
char* write_varint(char* to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
  *to++ = static_cast<char>(value);
  return to;
}
char* write_text(char* to, std::string_view text) {
  copy_bytes(to, text.data(), text.size());
  return to + text.size();
}

}  // namespace

void DataBlockBuilder::set_target(std::size_t target_bytes) {
  TAMIS_INVARIANT(empty());
  target_bytes_ = std::min(target_bytes, kOffsetsEnd + kBlockTrailerBytes);
}

inline std::string_view DataBlockBuilder::key_of(const Pending& pending) const {
  return std::string_view(text_).substr(pending.key_at, pending.key_bytes);
}
inline std::string_view DataBlockBuilder::value_of(const Pending& pending) const {
  return std::string_view(text_).substr(pending.key_at + pending.key_bytes, pending.value_bytes);
}

inline DataBlockBuilder::Totals DataBlockBuilder::totals_with(const Entry& entry) const {
  const std::uint64_t sequence = number_of(entry.sequence);
  const std::size_t value_bytes = value_bytes_with_kind(entry.value.size(), entry.kind);
  if (empty()) return {1, entry.key.size(), value_bytes, entry.key.size(), entry.key.size(), sequence, sequence};
  Totals totals = totals_;
  ++totals.entries;
  totals.key_bytes += entry.key.size();
  totals.value_bytes += value_bytes;
  totals.longest_key = std::max(totals.longest_key, entry.key.size());
  // Keys ascend, so all share what the first and the last share.
  totals.prefix_bytes = common_prefix(key_of(pending_.front()).substr(0, totals_.prefix_bytes), entry.key);
  totals.lowest_sequence = std::min(totals.lowest_sequence, sequence);
  totals.highest_sequence = std::max(totals.highest_sequence, sequence);
  return totals;
}

/// An exact count would visit all entries, since each can change the prefix and the base for all. The totals give
/// bounds, between which few blocks end: a length and a sequence take at least a byte each, as many as the head saves,
/// and at most as many as the longest.
bool DataBlockBuilder::fits(const Entry& entry) const {
  if (empty()) return true;
  const Totals totals = totals_with(entry);
  const std::uint64_t span = totals.highest_sequence - totals.lowest_sequence;
  if (span >= kSequenceSpan) return false;
  const std::size_t suffixes = totals.key_bytes - totals.entries * totals.prefix_bytes;
  const std::size_t least =
      prefix_at(totals.entries) + totals.prefix_bytes + suffixes + totals.value_bytes + kBlockTrailerBytes;
  if (least > target_bytes_) return false;
  const std::size_t longest =
      varint_bytes(totals.longest_key - totals.prefix_bytes) + varint_bytes(span << kKindBits | kKindMask);
  return least + totals.entries * longest <= target_bytes_ || exact_bytes(totals, entry) <= target_bytes_;
}

std::size_t DataBlockBuilder::exact_bytes(const Totals& totals, const Entry& last) const {
  const auto bytes_of = [&](std::size_t key_bytes, Sequence sequence, EntryKind kind, std::size_t value_bytes) {
    return entry_bytes(key_bytes - totals.prefix_bytes, stamp_of(sequence, kind, totals.lowest_sequence),
                       value_bytes_with_kind(value_bytes, kind));
  };
  std::size_t bytes = prefix_at(totals.entries) + totals.prefix_bytes + kBlockTrailerBytes;
  for (const Pending& entry : pending_) {
    bytes += bytes_of(entry.key_bytes, entry.sequence, entry.kind, entry.value_bytes);
  }
  return bytes + bytes_of(last.key.size(), last.sequence, last.kind, last.value.size());
}

void DataBlockBuilder::add(const Entry& entry, std::uint64_t hash) {
  TAMIS_INVARIANT(fits(entry));
  TAMIS_INVARIANT(entry.kind != EntryKind::kInValue);
  TAMIS_INVARIANT(entry.key.size() <= kMaxKeyBytes && entry.sequence < kMaxSequence);
  TAMIS_INVARIANT(empty() || std::max(entry.key.size(), totals_.longest_key) <= kMaxNarrowKeyBytes);  // Offsets end.
  TAMIS_INVARIANT(empty() || (EntryPosition{key_of(pending_.back()), pending_.back().sequence} < entry.position()));
  if (block_.size() > kKeptBytes) std::vector<char>().swap(block_);
  totals_ = totals_with(entry);
  pending_.push_back({text_.size(), entry.key.size(), entry.value.size(), entry.sequence, entry.kind, tag_of(hash)});
  text_.append(entry.key);
  text_.append(entry.value);
}

std::string_view DataBlockBuilder::finish() {
  TAMIS_CHECK(!empty());
  // A single entry keeps its whole key, so that it begins near the front even if the key is long.
  if (pending_.size() == 1) totals_.prefix_bytes = 0;
  finished_bytes_ = write_block();
  pending_.clear();
  text_.clear();
  if (text_.capacity() > kKeptBytes) text_.shrink_to_fit();
  return {block_.data(), finished_bytes_};
}

std::string_view DataBlockBuilder::pad(std::size_t zeros) {
  TAMIS_CHECK(zeros < kPageBytes && finished_bytes_ + zeros <= kOffsetsEnd);
  if (block_.size() < finished_bytes_ + zeros) block_.resize(finished_bytes_ + zeros);
  char* const block = block_.data();
  const auto count = load_le<std::uint16_t>(block);
  const auto entries_at = load_le<std::uint16_t>(block + offsets_at(count));
  std::memmove(block + entries_at + zeros, block + entries_at, finished_bytes_ - entries_at);
  std::memset(block + entries_at, 0, zeros);
  for (char* at = block + offsets_at(count); at != block + prefix_at(count); at += 2) {
    store_le(at, static_cast<std::uint16_t>(load_le<std::uint16_t>(at) + zeros));
  }
  finished_bytes_ += zeros;
  return {block, finished_bytes_};
}

std::size_t DataBlockBuilder::write_block() {
  const std::size_t count = pending_.size();
  const std::string_view prefix = key_of(pending_.front()).substr(0, totals_.prefix_bytes);
  const std::size_t most = prefix_at(count) + prefix.size() + text_.size() + count * (2 * kMaxVarintBytes + 1);
  if (block_.size() < most) block_.resize(most);
  char* const block = block_.data();
  store_le(block, static_cast<std::uint16_t>(count));
  store_le(block + kPrefixLengthAt, static_cast<std::uint16_t>(prefix.size()));
  store_le(block + kBaseSequenceAt, totals_.lowest_sequence);
  char* end = write_text(block + prefix_at(count), prefix);
  for (std::size_t i = 0; i < count; ++i) {
    const Pending& entry = pending_[i];
    const std::string_view suffix = key_of(entry).substr(prefix.size());
    TAMIS_INVARIANT(end - block < static_cast<std::ptrdiff_t>(kOffsetsEnd));
    block[kTagsAt + i] = static_cast<char>(entry.tag);
    store_le(block + heads_at(count) + 2 * i, head_of(suffix));
    store_le(block + offsets_at(count) + 2 * i, static_cast<std::uint16_t>(end - block));
    end = write_varint(end, suffix.size());
    end = write_varint(end, stamp_of(entry.sequence, entry.kind, totals_.lowest_sequence));
    end = write_text(end, suffix.substr(std::min(kHeadBytes, suffix.size())));
    if (!fits_into_stamp(entry.kind)) *end++ = static_cast<char>(entry.kind);
    end = write_text(end, value_of(entry));
  }
  return static_cast<std::size_t>(end - block);
}

}  // namespace tamis
