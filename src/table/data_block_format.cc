#include "table/data_block_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "entry/expiry.h"
#include "table/block_scan.h"
#include "table/value_file_format.h"

namespace tamis {

using namespace data_block;

namespace {

constexpr std::size_t kMaxPrefetchedBytes = 512;  // Of an entry: the hardware prefetches longer copies itself.

}  // namespace

/// An entry's stored parts.
struct DataBlock::Stored {
  std::size_t suffix_bytes;  // Of the key after the prefix, including the head's.
  std::uint64_t sequence;
  EntryKind kind;
  const char* rest;  // The key after prefix and head.
  std::size_t rest_bytes;
  const char* end;

  [[nodiscard]] std::string_view rest_text() const { return {rest, rest_bytes}; }
  [[nodiscard]] std::string_view value() const {
    return {rest + rest_bytes, static_cast<std::size_t>(end - rest) - rest_bytes};
  }
  [[nodiscard]] FoundEntry found() const {
    FoundEntry entry = {kind, Sequence{sequence}, value()};
    if (kind == EntryKind::kInValue) [[unlikely]]
      take_kind(entry.kind, entry.value);
    return entry;
  }
  /// For two entries with the same head.
  [[nodiscard]] bool comes_before(const Stored& other) const {
    if (const int order = rest_text().compare(other.rest_text()); order != 0) return order < 0;
    if (suffix_bytes != other.suffix_bytes) return suffix_bytes < other.suffix_bytes;
    return sequence > other.sequence;
  }
};

/// A wanted position, with its key stripped of the prefix and split as the entries' are.
struct DataBlock::Wanted {
  Wanted(std::string_view suffix, Sequence at)
      : suffix_bytes(suffix.size()),
        sequence(number_of(at)),
        head(head_of(suffix)),
        rest(suffix.substr(std::min(kHeadBytes, suffix.size()))) {}

  /// For an entry with the same head.
  [[nodiscard]] bool has_key_of(const Stored& entry) const {
    return entry.suffix_bytes == suffix_bytes && equal_bytes(entry.rest, rest.data(), entry.rest_bytes);
  }
  [[nodiscard]] bool comes_after(const Stored& entry) const {
    if (const int order = entry.rest_text().compare(rest); order != 0) return order < 0;
    if (entry.suffix_bytes != suffix_bytes) return entry.suffix_bytes < suffix_bytes;
    return entry.sequence > sequence;
  }

  std::size_t suffix_bytes;
  std::uint64_t sequence;
  std::uint16_t head;
  std::string_view rest;
};

// Private, and inline: in position-independent code, calls of any other member cannot be inlined.
inline std::string_view DataBlock::prefix() const { return {block_ + prefix_at(entries_), prefix_bytes_}; }
inline bool DataBlock::begins(std::string_view key) const {
  return key.size() >= prefix_bytes_ && equal_bytes(key.data(), block_ + prefix_at(entries_), prefix_bytes_);
}
inline std::uint16_t DataBlock::head(std::size_t i) const {
  return load_le<std::uint16_t>(block_ + heads_at(entries_) + 2 * i);
}
inline std::size_t DataBlock::begin_of(std::size_t i) const {
  return load_le<std::uint16_t>(block_ + offsets_at(entries_) + 2 * i);
}
inline std::size_t DataBlock::end_of(std::size_t i) const { return i + 1 < entries_ ? begin_of(i + 1) : block_bytes_; }

inline DataBlock::Stored DataBlock::stored(std::size_t i) const {
  const char* at = block_ + begin_of(i);
  Stored entry;
  entry.suffix_bytes = static_cast<std::size_t>(load_varint(at));
  const std::uint64_t stamp = load_varint_with_slack(at);
  entry.sequence = base_sequence_ + (stamp >> kKindBits);
  entry.kind = static_cast<EntryKind>(stamp & kKindMask);
  entry.rest = at;
  entry.rest_bytes = rest_bytes_of(entry.suffix_bytes);
  entry.end = block_ + end_of(i);
  return entry;
}

/// The first entry with this tag and key: its newest version here.
inline bool DataBlock::match(const Wanted& wanted, std::uint8_t tag, Stored& entry) const {
  for (std::size_t begin = 0; begin < entries_; begin += 64) {
    std::uint64_t matches = block_scan.match_tags(block_ + kTagsAt + begin, tag);
    if (entries_ - begin < 64) matches &= (std::uint64_t{1} << (entries_ - begin)) - 1;
    for (; matches != 0; matches &= matches - 1) {
      const std::size_t i = begin + static_cast<std::size_t>(std::countr_zero(matches));
      if (head(i) != wanted.head) continue;
      entry = stored(i);
      if (wanted.has_key_of(entry)) return true;
    }
  }
  return false;
}

inline std::size_t DataBlock::lower_bound(const Wanted& wanted) const {
  const ScanCounts heads = block_scan.count_heads(block_ + heads_at(entries_), entries_, wanted.head);
  std::size_t low = heads.below;
  for (std::size_t size = heads.equal; size > 0;) {
    const std::size_t half = size / 2;
    if (wanted.comes_after(stored(low + half))) {
      low += half + 1;
      size -= half + 1;
    } else {
      size = half;
    }
  }
  return low;
}

std::optional<FoundEntry> DataBlock::find(const Lookup& lookup, bool use_tags) const {
  // Heads, offsets and prefix are in the next two lines; prefetched now, they arrive with the first.
  __builtin_prefetch(block_ + 64);
  __builtin_prefetch(block_ + 128);
  if (!begins(lookup.key)) return std::nullopt;
  const Wanted wanted(lookup.key.substr(prefix_bytes_), lookup.sequence);
  Stored entry;
  if (use_tags) {
    if (!match(wanted, tag_of(lookup.hash), entry)) return std::nullopt;
    if (entry.sequence <= wanted.sequence) return entry.found();
    // There may be many versions newer than the snapshot: they are not scanned one by one.
  }
  const std::size_t i = lower_bound(wanted);
  if (i == entries_ || head(i) != wanted.head) return std::nullopt;
  entry = stored(i);
  return wanted.has_key_of(entry) ? std::optional(entry.found()) : std::nullopt;
}

std::size_t DataBlock::prefetch_entry(const Lookup& lookup) const {
  std::uint64_t matches = block_scan.match_tags(block_ + kTagsAt, tag_of(lookup.hash));
  if (entries_ < 64) matches &= (std::uint64_t{1} << entries_) - 1;
  if (matches == 0) return entries_;
  const auto i = static_cast<std::size_t>(std::countr_zero(matches));
  const std::size_t end = std::min(end_of(i), begin_of(i) + kMaxPrefetchedBytes);
  for (std::size_t at = begin_of(i); at < end; at += 64) __builtin_prefetch(block_ + at);
  __builtin_prefetch(block_ + end - 1);
  return i;
}

/// The first entry with this tag nearly always has the key.
std::optional<FoundEntry> DataBlock::find_prefetched(const Lookup& lookup, std::size_t first_with_tag) const {
  if (first_with_tag < entries_ && begins(lookup.key)) {
    const Wanted wanted(lookup.key.substr(prefix_bytes_), lookup.sequence);
    if (head(first_with_tag) == wanted.head) {
      const Stored entry = stored(first_with_tag);
      if (wanted.has_key_of(entry) && entry.sequence <= wanted.sequence) return entry.found();
    }
  }
  return find(lookup, true);
}

bool DataBlock::ends_with_key(std::string_view key) const {
  if (!begins(key)) return false;
  const Wanted wanted(key.substr(prefix_bytes_), kMaxSequence);
  return head(entries_ - 1) == wanted.head && wanted.has_key_of(stored(entries_ - 1));
}

std::size_t DataBlock::lower_bound(EntryPosition position) const {
  __builtin_prefetch(block_ + 64);
  __builtin_prefetch(block_ + 128);
  const int order = position.key.substr(0, prefix_bytes_).compare(prefix());
  if (order != 0) return order < 0 ? 0 : entries_;
  return lower_bound(Wanted(position.key.substr(prefix_bytes_), position.sequence));
}

void DataBlock::load(std::size_t i, std::string& key_buffer, Entry& entry) const {
  const Stored found = stored(i);
  key_buffer.resize(prefix_bytes_ + found.suffix_bytes);
  char* to = key_buffer.data();
  copy_bytes(to, block_ + prefix_at(entries_), prefix_bytes_);
  to += prefix_bytes_;
  if (found.suffix_bytes >= kHeadBytes) [[likely]] {
    store_be(to, head(i));
    copy_bytes(to + kHeadBytes, found.rest, found.rest_bytes);
  } else if (found.suffix_bytes == 1) {
    *to = static_cast<char>(head(i) >> 8);
  }
  entry.key = key_buffer;
  entry.value = found.value();
  entry.sequence = Sequence{found.sequence};
  entry.kind = found.kind;
  if (entry.kind == EntryKind::kInValue) [[unlikely]]
    take_kind(entry.kind, entry.value);
}

std::size_t DataBlock::load_some(std::size_t first, std::size_t count, std::span<char> key_buffer,
                                 Entry* entries) const {
  TAMIS_INVARIANT(key_buffer.size() >= kKeySlackBytes && first + count <= entries_);
  char* to = key_buffer.data();
  char* const end = to + key_buffer.size() - kKeySlackBytes;
  const DataBlock block = *this;  // In registers: as far as the compiler knows, writing keys may change *this.
  const char* const shared = block.block_ + prefix_at(block.entries_);
  for (std::size_t i = 0; i < count; ++i) {
    const Stored found = block.stored(first + i);
    const std::size_t key_bytes = block.prefix_bytes_ + found.suffix_bytes;
    if (key_bytes > static_cast<std::size_t>(end - to)) return i;
    entries[i] = {{to, key_bytes}, found.value(), Sequence{found.sequence}, found.kind};
    char* const head_at = copy_with_slack(to, shared, block.prefix_bytes_);
    store_be(head_at, block.head(first + i));  // For a shorter key, part of the slack.
    copy_with_slack(head_at + kHeadBytes, found.rest, found.rest_bytes);
    to += key_bytes;
  }
  return count;
}

/// An entry's problem; none if `why` is empty.
struct DataBlock::Problem {
  std::string why = {};
  bool is_unknown = false;  // A kind that this build does not know: the bytes may be sound.
};

Status DataBlock::check(Bytes bytes, std::string_view name, std::uint64_t file_offset) {
  const auto damage = [&](std::string_view why) {
    return Status::corruption(fmt::format("{}: block at offset {}: {}", name, file_offset, why));
  };
  if (bytes.size() < kHeaderBytes) return damage(fmt::format("{} bytes are too few for a block", bytes.size()));
  const DataBlock block(bytes);
  if (block.entries_ == 0) return damage("it has no entries");
  const std::size_t entries_at = prefix_at(block.entries_) + block.prefix_bytes_;
  if (entries_at > bytes.size()) {
    return damage(fmt::format("{} entries and a prefix of {} bytes do not fit into {} bytes", block.entries_,
                              block.prefix_bytes_, bytes.size()));
  }
  if (block.entries_ == 1 && block.prefix_bytes_ != 0) return damage("a single entry shares a prefix");
  if (!may_begin_at(block.begin_of(0), block.entries_, block.prefix_bytes_)) {
    return damage(fmt::format("its first entry begins at {}, its prefix ends at {}", block.begin_of(0), entries_at));
  }
  const Bytes padding = bytes.first(std::min(block.begin_of(0), bytes.size())).subspan(entries_at);
  if (std::ranges::any_of(padding, [](std::byte byte) { return byte != std::byte{0}; })) {
    return damage("its padding is not zero");
  }
  for (std::size_t i = 0; i < block.entries_; ++i) {
    const Problem problem = block.check_entry(i);
    if (!problem.why.empty()) [[unlikely]] {
      Status status = damage(fmt::format("entry {} of {}: {}", i, block.entries_, problem.why));
      return problem.is_unknown ? Status::not_supported(std::string(status.message())) : status;
    }
  }
  return {};
}

DataBlock::Problem DataBlock::check_pointer(std::string_view bytes) {
  const Result<ValuePointer> pointer = decode_value_pointer(bytes, "its pointer");
  return pointer.ok() ? Problem() : Problem{std::string(pointer.status().message())};
}

/// Of an entry's kind, given the bits of its stamp, and of its value.
DataBlock::Problem DataBlock::check_value(std::uint8_t kind, std::string_view value) {
  if (kind == kKindEscape) {
    if (value.empty()) return {"its kind is cut off"};
    kind = static_cast<std::uint8_t>(value.front());
    value.remove_prefix(1);
    if (fits_into_stamp(static_cast<EntryKind>(kind)) && is_entry_kind(kind)) {
      return {fmt::format("entry kind {} needs no byte of its own", kind)};
    }
  }
  if (!is_entry_kind(kind)) return {unknown_kind_text(kind), true};
  switch (static_cast<EntryKind>(kind)) {
    case EntryKind::kDelete: return value.empty() ? Problem() : Problem{"a delete with a value"};
    case EntryKind::kExpiringPut:
      return is_expiring(value) ? Problem() : Problem{"a value that expires without a valid time"};
    case EntryKind::kExpiringPutApart:
      if (!is_expiring(value)) return {"a value that expires without a valid time"};
      return check_pointer(load_expiring(value).value);
    case EntryKind::kPutApart: return check_pointer(value);
    default: return {};
  }
}

/// The entries before it were checked.
DataBlock::Problem DataBlock::check_entry(std::size_t i) const {
  const std::size_t begin = begin_of(i);
  const std::size_t end = end_of(i);
  if (begin >= end || end > block_bytes_) return {fmt::format("it lies from {} to {}", begin, end)};
  const char* at = block_ + begin;
  std::uint64_t suffix_bytes = 0;
  std::uint64_t stamp = 0;
  if (!read_varint(at, block_ + end, suffix_bytes)) return {"its key's length does not end"};
  if (!read_varint(at, block_ + end, stamp)) return {"its sequence does not end"};
  const std::uint64_t max_bytes = entries_ == 1 ? kMaxKeyBytes : kMaxNarrowKeyBytes;
  if (suffix_bytes > max_bytes - prefix_bytes_) {
    return {fmt::format("a key of {} + {} bytes, {} allowed", prefix_bytes_, suffix_bytes, max_bytes)};
  }
  const auto left = static_cast<std::size_t>(block_ + end - at);
  if (rest_bytes_of(suffix_bytes) > left) {
    return {fmt::format("its key needs {} bytes, {} are left", suffix_bytes, left)};
  }
  at += rest_bytes_of(suffix_bytes);
  if (Problem problem =
          check_value(static_cast<std::uint8_t>(stamp & kKindMask), {at, static_cast<std::size_t>(block_ + end - at)});
      !problem.why.empty()) {
    return problem;
  }
  if (stamp >> kKindBits >= number_of(kMaxSequence) - base_sequence_) {
    return {fmt::format("sequence {} + {}", base_sequence_, stamp >> kKindBits)};
  }
  if ((head(i) & unused_head_bits(suffix_bytes)) != 0) {
    return {fmt::format("a head of more than {} bytes", suffix_bytes)};
  }
  if (i == 0 || head(i - 1) < head(i)) return {};
  const Stored before = stored(i - 1);
  const Stored here = stored(i);
  if (head(i - 1) > head(i) || !before.comes_before(here)) return {"it does not come after the one before"};
  const bool is_same_key = before.suffix_bytes == here.suffix_bytes && before.rest_text() == here.rest_text();
  if (is_same_key && block_[kTagsAt + i - 1] != block_[kTagsAt + i]) return {"its tag is not that of a newer version"};
  return {};
}

}  // namespace tamis
