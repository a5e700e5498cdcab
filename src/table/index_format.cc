#include "table/index_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/hash.h"
#include "base/try.h"
#include "entry/entry.h"

namespace tamis {
namespace {

constexpr std::uint64_t kMaxGroupBytes = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kHeadBytes = kIndexHeadBytes;
constexpr std::size_t kChecksumBytes = 8;
constexpr std::size_t kContinuationBytes = kIndexGroupBlocks / 8;
constexpr std::uint8_t kHasLengths = 1;
constexpr std::uint8_t kHasContinuations = 2;
constexpr std::uint8_t kIsWide = 4;
constexpr std::size_t kMaxNarrow = kMaxNarrowKeyBytes;  // Of p and of a length.
constexpr unsigned kPrefixHighHalf = 16;                // Bits 16 to 31 of the flags' word.

/// The prefix of `key` that distinguishes it from `other`; longer if it would end in a zero, which a head cannot tell
/// from padding.
std::string_view shortest_separator(std::string_view other, std::string_view key) {
  std::size_t bytes = std::min(common_prefix(other, key) + 1, key.size());
  while (bytes < key.size() && key[bytes - 1] == '\0') ++bytes;
  return key.substr(0, bytes);
}

/// Whether the head alone determines a separator's bytes after the prefix.
bool is_its_head(std::string_view suffix) {
  return suffix.size() <= kHeadBytes && (suffix.empty() || suffix.back() != '\0');
}

}  // namespace

void IndexBuilder::add(std::string_view last_key_before, std::string_view first_key, std::string_view second_key,
                       BlockPosition position) {
  if (blocks_.empty()) {
    first_is_whole_ = second_key.empty();
    const std::string_view separator = first_is_whole_ ? first_key : shortest_separator(second_key, first_key);
    blocks_.push_back({std::string(separator), position, false});
    return;
  }
  TAMIS_CHECK(position.offset == blocks_.back().position.offset + blocks_.back().position.bytes);
  TAMIS_INVARIANT(last_key_before <= first_key);
  const bool continues = last_key_before == first_key;
  if (first_is_whole_ && blocks_.size() == 1 && !continues) {
    blocks_[0].separator = shortest_separator(first_key, blocks_[0].separator);
  }
  const std::string_view separator = continues ? first_key : shortest_separator(last_key_before, first_key);
  blocks_.push_back({std::string(separator), position, continues});
}

std::size_t IndexBuilder::estimated_bytes() const {
  const std::size_t groups = (blocks_.size() + kIndexGroupBlocks - 1) / kIndexGroupBlocks;
  return kIndexHeaderBytes + groups * kIndexRowBytes + blocks_.size() * (kHeadBytes + 4) + kChecksumBytes;
}

std::string IndexBuilder::finish(std::uint64_t checksum_seed) const {
  TAMIS_CHECK(!blocks_.empty());
  const std::vector<Group> all = groups();
  const std::size_t first_body = kIndexHeaderBytes + kIndexRowBytes * all.size();
  std::string rows;
  std::string bodies;
  for (const Group& group : all) {
    append_row(rows, group, first_body + bodies.size());
    append_body(bodies, group);
  }
  std::string section;
  append_le(section, std::uint32_t{1});
  append_le(section, static_cast<std::uint32_t>(all.size()));
  append_le(section, static_cast<std::uint32_t>(blocks_.size()));
  append_le(section, std::uint32_t{0});
  section += rows;
  section += bodies;
  append_le(section, seeded_checksum64(as_bytes(section), checksum_seed));
  return section;
}

std::vector<IndexBuilder::Group> IndexBuilder::groups() const {
  std::vector<Group> all;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::uint32_t size = blocks_[i].position.bytes;
    if (all.empty() || i - all.back().begin == kIndexGroupBlocks || bytes + size > kMaxGroupBytes) {
      all.push_back({i, i});
      bytes = 0;
    }
    all.back().end = i + 1;
    bytes += size;
  }
  return all;
}

void IndexBuilder::append_row(std::string& to, const Group& group, std::size_t body_offset) const {
  TAMIS_CHECK(body_offset <= std::numeric_limits<std::uint32_t>::max());
  append_le(to, blocks_[group.begin].position.offset);
  append_le(to, static_cast<std::uint32_t>(body_offset));
  append_le(to, static_cast<std::uint16_t>(group.end - group.begin));
  const std::size_t shared = shared_bytes(group);
  append_le(to, static_cast<std::uint16_t>(shared));
  const int flags = (needs_lengths(group) ? kHasLengths : 0) | (has_continuations(group) ? kHasContinuations : 0) |
                    (is_wide(group) ? kIsWide : 0);
  append_le(to, static_cast<std::uint64_t>(flags) | static_cast<std::uint64_t>(shared >> 16) << kPrefixHighHalf);
}

void IndexBuilder::append_body(std::string& to, const Group& group) const {
  const std::size_t shared = shared_bytes(group);
  const auto suffix = [&](std::size_t i) { return std::string_view(blocks_[i].separator).substr(shared); };
  for (std::size_t i = group.begin; i < group.end; ++i) append_be(to, key_head(suffix(i)));
  for (std::size_t i = group.begin; i < group.end; ++i) append_le(to, blocks_[i].position.bytes);
  if (has_continuations(group)) {
    std::string bits(kContinuationBytes, '\0');
    for (std::size_t i = 0; i < group.end - group.begin; ++i) {
      if (blocks_[group.begin + i].continues) bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << (i % 8));
    }
    to += bits;
  }
  const bool with_lengths = needs_lengths(group);
  const bool wide = is_wide(group);
  for (std::size_t i = group.begin; with_lengths && i < group.end; ++i) {
    append_le(to, static_cast<std::uint16_t>(suffix(i).size()));
    if (wide) append_le(to, static_cast<std::uint16_t>(suffix(i).size() >> 16));
  }
  to += std::string_view(blocks_[group.begin].separator).substr(0, shared);
  for (std::size_t i = group.begin; i < group.end; ++i) {
    if (suffix(i).size() > kHeadBytes) to += suffix(i).substr(kHeadBytes);
  }
}

std::size_t IndexBuilder::shared_bytes(const Group& group) const {
  return common_prefix(blocks_[group.begin].separator, blocks_[group.end - 1].separator);
}

bool IndexBuilder::needs_lengths(const Group& group) const {
  const std::size_t shared = shared_bytes(group);
  for (std::size_t i = group.begin; i < group.end; ++i) {
    if (!is_its_head(std::string_view(blocks_[i].separator).substr(shared))) return true;
  }
  return false;
}

bool IndexBuilder::is_wide(const Group& group) const {
  const std::size_t shared = shared_bytes(group);
  if (shared > kMaxNarrow) return true;
  for (std::size_t i = group.begin; i < group.end; ++i) {
    if (blocks_[i].separator.size() - shared > kMaxNarrow) return true;
  }
  return false;
}

bool IndexBuilder::has_continuations(const Group& group) const {
  for (std::size_t i = group.begin; i < group.end; ++i) {
    if (blocks_[i].continues) return true;
  }
  return false;
}

/// Reads a section sequentially into an Index.
///
/// Threads: one.
class Index::Reader {
 public:
  Reader(Bytes section, std::string_view name, std::uint64_t file_offset)
      : section_(section), name_(name), file_offset_(file_offset) {}

  Result<std::unique_ptr<const Index>> read(std::uint64_t checksum_seed) {
    TAMIS_TRY_STATUS(check_checksum(checksum_seed));
    TAMIS_TRY_STATUS(read_header());
    for (std::uint32_t i = 0; i < groups_; ++i) TAMIS_TRY_STATUS(read_group(i));
    if (at_ != end_) return corruption(at_, "bytes after the last group");
    if (index_->ends_.size() != blocks_) return corruption(8, "the groups have another number of blocks");
    if (any_continuation_) index_->continuations_.shrink_to_fit();
    if (!any_continuation_) index_->continuations_ = {};
    index_->prepare_top();
    return std::unique_ptr<const Index>(std::move(index_));
  }

 private:
  [[nodiscard]] Status corruption(std::size_t at, std::string_view why) const {
    return Status::corruption(fmt::format("{}: index at offset {}: byte {}: {}", name_, file_offset_, at, why));
  }

  Status check_checksum(std::uint64_t seed) {
    if (section_.size() < kIndexHeaderBytes + kChecksumBytes) return corruption(0, "too short");
    end_ = section_.size() - kChecksumBytes;
    const auto stored = load_le<std::uint64_t>(section_.data() + end_);
    const std::uint64_t computed = seeded_checksum64(section_.first(end_), seed);
    if (stored == computed) return {};
    return corruption(end_, fmt::format("the checksum is {:016x}, the bytes have {:016x}", stored, computed));
  }

  Status read_header() {
    const auto parts = load_le<std::uint32_t>(section_.data());
    if (parts != 1) {
      return Status::not_supported(
          fmt::format("{}: an index of {} parts is not known to this build; use a newer tamis", name_, parts));
    }
    groups_ = load_le<std::uint32_t>(section_.data() + 4);
    blocks_ = load_le<std::uint32_t>(section_.data() + 8);
    if (load_le<std::uint32_t>(section_.data() + 12) != 0) return corruption(12, "not zero");
    const std::uint64_t rows_end = kIndexHeaderBytes + std::uint64_t{kIndexRowBytes} * groups_;
    if (groups_ == 0 || rows_end > end_) return corruption(4, fmt::format("{} groups", groups_));
    if (blocks_ < groups_ || blocks_ > (end_ - rows_end) / (kHeadBytes + 4)) {
      return corruption(8, fmt::format("{} blocks", blocks_));
    }
    at_ = static_cast<std::size_t>(rows_end);
    index_->groups_.reserve(groups_);
    index_->heads_ = AlignedBytes::zeroed(blocks_ * kHeadBytes);
    if (index_->heads_.size() == 0) return Status::busy(fmt::format("{}: no memory for its index", name_));
    index_->ends_.reserve(blocks_);
    index_->continuations_.resize(blocks_ / 64 + 1);
    return {};
  }

  Status read_group(std::uint32_t number) {
    const std::size_t row_at = kIndexHeaderBytes + kIndexRowBytes * std::size_t{number};
    const std::byte* row = section_.data() + row_at;
    Index::Group group;
    group.offset = load_le<std::uint64_t>(row);
    const auto body = load_le<std::uint32_t>(row + 8);
    const std::size_t count = load_le<std::uint16_t>(row + 12);
    group.prefix_bytes = load_le<std::uint16_t>(row + 14);
    auto flags = load_le<std::uint64_t>(row + 16);
    if ((flags & kIsWide) != 0) {
      group.prefix_bytes |= static_cast<std::uint32_t>(flags) & 0xffff'0000;
      flags &= ~std::uint64_t{0xffff'0000};
    }
    if (body != at_) return corruption(row_at + 8, "the body is not where the one before ends");
    if (count == 0 || count > kIndexGroupBlocks) return corruption(row_at + 12, fmt::format("{} blocks", count));
    if (flags > (kHasLengths | kHasContinuations | kIsWide)) return corruption(row_at + 16, "unknown flags");
    group.first_block = static_cast<std::uint32_t>(index_->ends_.size());
    if (count > blocks_ - group.first_block) return corruption(row_at + 12, "more blocks than the header says");
    group.blocks = static_cast<std::uint8_t>(count);
    group.has_tails = (flags & kHasLengths) != 0;
    group.tails_begin = static_cast<std::uint32_t>(index_->tail_ends_.size());
    if (number > 0 && group.offset != next_offset_) return corruption(row_at, "the blocks before end elsewhere");
    if (number + 1 < groups_ && count != kIndexGroupBlocks) index_->groups_are_full_ = false;
    return read_body(group, (flags & kHasContinuations) != 0, (flags & kIsWide) != 0 ? 4 : 2);
  }

  Status read_body(Index::Group& group, bool has_continuations, std::size_t bytes_of_a_length) {
    const std::size_t count = group.blocks;
    const std::size_t fixed = count * (kHeadBytes + 4) + (has_continuations ? kContinuationBytes : 0) +
                              (group.has_tails ? bytes_of_a_length * count : 0) + group.prefix_bytes;
    if (fixed > end_ - at_) return corruption(at_, "a group's body is cut off");
    read_heads(group);
    TAMIS_TRY_STATUS(read_sizes(group));
    if (has_continuations) TAMIS_TRY_STATUS(read_continuations(group));
    lengths_.clear();
    for (std::size_t i = 0; group.has_tails && i < count; ++i, at_ += bytes_of_a_length) {
      const std::byte* length = section_.data() + at_;
      lengths_.push_back(bytes_of_a_length == 4 ? load_le<std::uint32_t>(length) : load_le<std::uint16_t>(length));
    }
    group.prefix_begin = static_cast<std::uint32_t>(index_->texts_.size());
    index_->texts_ += as_text(section_.subspan(at_, group.prefix_bytes));
    at_ += group.prefix_bytes;
    if (group.has_tails) TAMIS_TRY_STATUS(read_tails(group));
    index_->groups_.push_back(group);
    return check_separators(group);
  }

  void read_heads(const Index::Group& group) {
    auto* heads = reinterpret_cast<std::uint64_t*>(index_->heads_.data()) + group.first_block;
    for (std::size_t i = 0; i < group.blocks; ++i) heads[i] = load_be<std::uint64_t>(section_.data() + at_ + 8 * i);
    at_ += kHeadBytes * group.blocks;
  }

  Status read_sizes(const Index::Group& group) {
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < group.blocks; ++i, at_ += 4) {
      const auto size = load_le<std::uint32_t>(section_.data() + at_);
      end += size;
      if (size == 0 || end > kMaxGroupBytes) return corruption(at_, fmt::format("a block of {} bytes", size));
      index_->ends_.push_back(static_cast<std::uint32_t>(end));
    }
    next_offset_ = group.offset + end;
    if (next_offset_ < group.offset) return corruption(at_, "blocks beyond the largest offset");
    return {};
  }

  Status read_continuations(const Index::Group& group) {
    for (std::size_t i = 0; i < kIndexGroupBlocks; ++i) {
      if ((static_cast<unsigned>(section_[at_ + i / 8]) >> (i % 8) & 1) == 0) continue;
      const std::size_t block = group.first_block + i;
      if (i >= group.blocks || block == 0) return corruption(at_, "a continuation of nothing");
      index_->continuations_[block / 64] |= std::uint64_t{1} << (block % 64);
      any_continuation_ = true;
    }
    at_ += kContinuationBytes;
    return {};
  }

  Status read_tails(const Index::Group& group) {
    for (std::size_t i = 0; i < group.blocks; ++i) {
      const std::size_t length = lengths_[i];
      const std::size_t bytes = std::max(length, kHeadBytes) - kHeadBytes;
      const std::uint64_t head = index_->heads()[group.first_block + i];
      if (length < kHeadBytes && head << (8 * length) != 0) {
        return corruption(at_, "a head is longer than its separator");
      }
      if (bytes > end_ - at_) return corruption(at_, "a tail is cut off");
      index_->texts_ += as_text(section_.subspan(at_, bytes));
      index_->short_lengths_.push_back(static_cast<std::uint8_t>(std::min<std::size_t>(length, kHasTail)));
      index_->tail_ends_.push_back(static_cast<std::uint32_t>(index_->texts_.size()));
      at_ += bytes;
    }
    return {};
  }

  /// They ascend, and are within the max key length. Those of a group share its prefix, which may be long: it is not
  /// compared for each. Nor are those that their heads tell apart.
  Status check_separators(const Index::Group& group) {
    for (std::uint32_t i = 0; i < group.blocks; ++i) {
      const std::uint32_t block = group.first_block + i;
      if (group.prefix_bytes + index_->suffix_bytes(group, i) > kMaxKeyBytes) {
        return corruption(at_, "a separator is longer than any key");
      }
      if (i > 0 && index_->heads()[block - 1] < index_->heads()[block]) continue;
      const int order = i > 0       ? index_->suffix(group, i - 1).compare(index_->suffix(group, i))
                        : block > 0 ? last_separator_.compare(index_->separator(block))
                                    : -1;
      if (order > (index_->continues(block) ? 0 : -1)) {
        return corruption(at_, fmt::format("the separator of block {} does not ascend", block));
      }
    }
    last_separator_ = index_->separator(group.first_block + group.blocks - 1U);
    return {};
  }

  const Bytes section_;
  const std::string_view name_;
  const std::uint64_t file_offset_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;  // Where the checksum begins.
  std::uint32_t groups_ = 0;
  std::uint32_t blocks_ = 0;
  std::uint64_t next_offset_ = 0;
  bool any_continuation_ = false;
  std::vector<std::uint32_t> lengths_;  // Of the current group, if it has tails.
  std::string last_separator_;          // Of the group before.
  std::unique_ptr<Index> index_ = std::make_unique<Index>();
};

Result<std::unique_ptr<const Index>> Index::open(Bytes section, std::uint64_t checksum_seed, std::string_view name,
                                                 std::uint64_t file_offset) {
  return Index::Reader(section, name, file_offset).read(checksum_seed);
}

void Index::prepare_top() {
  texts_.shrink_to_fit();
  short_lengths_.shrink_to_fit();
  tail_ends_.shrink_to_fit();
  const std::string first = separator(0);
  const std::string last = separator(blocks() - 1);
  prefix_ = first.substr(0, common_prefix(first, last));
  top_.reserve(groups_.size());
  for (const Group& group : groups_) {
    top_.push_back(key_head(std::string_view(separator(group.first_block)).substr(prefix_.size())));
  }
}

std::size_t Index::memory_bytes() const {
  return sizeof(Index) + prefix_.size() + top_.size() * sizeof(std::uint64_t) + groups_.size() * sizeof(Group) +
         heads_.size() + ends_.size() * sizeof(std::uint32_t) + continuations_.size() * sizeof(std::uint64_t) +
         short_lengths_.size() + tail_ends_.size() * sizeof(std::uint32_t) + texts_.size();
}

/// A group of one block has 36 bytes in the file and at most 72 here; a block of 12 takes 12, one of 14 with a length
/// takes 17. The prefix of the whole index is at most a key, and part of a group's.
std::size_t Index::memory_bytes_for(std::uint64_t section_bytes) {
  return static_cast<std::size_t>(section_bytes) * 2 + sizeof(Index) + kCacheLineBytes;
}

}  // namespace tamis
