#include "table/index_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "base/try.h"

namespace tamis {

/// Reads parts, one after the other, into an Index.
///
/// Threads: one.
class Index::Reader {
 public:
  /// A part's bytes without the checksum, and its header.
  struct Part {
    Bytes bytes;
    std::uint64_t file_offset = 0;
    std::uint32_t groups = 0;
    std::uint32_t blocks = 0;
  };

  Reader(std::string_view name, bool verifies) : name_(name), verifies_(verifies) {}

  Result<Part> begin_part(Bytes bytes, std::uint64_t checksum_seed, std::uint64_t file_offset) {
    part_ = {bytes, file_offset, 0, 0};
    if (bytes.size() < kIndexHeaderBytes + kIndexChecksumBytes) return corruption(0, "too short");
    part_.bytes = bytes.first(bytes.size() - kIndexChecksumBytes);
    const auto checksum = load_le<std::uint64_t>(bytes.data() + part_.bytes.size());
    if (verifies_) TAMIS_TRY_STATUS(check_checksum(checksum, checksum_seed));
    TAMIS_TRY_STATUS(read_header());
    return part_;
  }

  /// For all parts together.
  Status reserve(std::uint64_t blocks) {
    index_->heads_ = AlignedBytes::zeroed(static_cast<std::size_t>(blocks) * kIndexHeadBytes);
    if (index_->heads_.size() == 0) return Status::busy(fmt::format("{}: no memory for its index", name_));
    index_->ends_.reserve(static_cast<std::size_t>(blocks));
    index_->continuations_.resize(static_cast<std::size_t>(blocks) / 64 + 1);
    return {};
  }

  /// `continues`: its first block begins with a key that is also in the part before.
  Status append(const Part& part, bool continues) {
    part_ = part;
    part_begin_ = static_cast<std::uint32_t>(index_->ends_.size());
    if (continues) set_continues(part_begin_);
    at_ = kIndexHeaderBytes + kIndexRowBytes * std::size_t{part.groups};
    for (std::uint32_t i = 0; i < part.groups; ++i) TAMIS_TRY_STATUS(read_group(i));
    if (at_ != part_.bytes.size()) return corruption(at_, "bytes after the last group");
    if (index_->ends_.size() - part_begin_ == part.blocks) return {};
    return corruption(8, "the groups have another number of blocks");
  }

  /// Whether the part that was appended last has this separator before its first block.
  Status check_begin(std::string_view separator) const {
    if (index_->separator(part_begin_) == separator) return {};
    return corruption(kIndexHeaderBytes, "the top has another separator");
  }

  std::unique_ptr<const Index> finish() {
    if (any_continuation_) index_->continuations_.shrink_to_fit();
    if (!any_continuation_) index_->continuations_ = {};
    index_->prepare_top();
    return std::move(index_);
  }

 private:
  [[nodiscard]] Status corruption(std::size_t at, std::string_view why) const {
    return Status::corruption(fmt::format("{}: index at offset {}: byte {}: {}", name_, part_.file_offset, at, why));
  }

  Status check_checksum(std::uint64_t stored, std::uint64_t seed) {
    const std::uint64_t computed = seeded_checksum64(part_.bytes, seed);
    if (stored == computed) return {};
    return corruption(part_.bytes.size(),
                      fmt::format("the checksum is {:016x}, the bytes have {:016x}", stored, computed));
  }

  Status read_header() {
    const std::byte* const header = part_.bytes.data();
    const auto parts = load_le<std::uint32_t>(header);
    if (parts != 1) {
      return Status::not_supported(
          fmt::format("{}: an index of {} parts is not known to this build; use a newer tamis", name_, parts));
    }
    part_.groups = load_le<std::uint32_t>(header + 4);
    part_.blocks = load_le<std::uint32_t>(header + 8);
    if (load_le<std::uint32_t>(header + 12) != 0) return corruption(12, "not zero");
    const std::uint64_t rows_end = kIndexHeaderBytes + std::uint64_t{kIndexRowBytes} * part_.groups;
    if (part_.groups == 0 || rows_end > part_.bytes.size()) {
      return corruption(4, fmt::format("{} groups", part_.groups));
    }
    const std::uint64_t max_blocks = (part_.bytes.size() - rows_end) / (kIndexHeadBytes + 4);
    if (part_.blocks >= part_.groups && part_.blocks <= max_blocks) return {};
    return corruption(8, fmt::format("{} blocks", part_.blocks));
  }

  Status read_group(std::uint32_t number) {
    const std::size_t row_at = kIndexHeaderBytes + kIndexRowBytes * std::size_t{number};
    const std::byte* row = part_.bytes.data() + row_at;
    Index::Group group;
    group.offset = load_le<std::uint64_t>(row);
    const auto body = load_le<std::uint32_t>(row + 8);
    const std::size_t count = load_le<std::uint16_t>(row + 12);
    group.prefix_bytes = load_le<std::uint16_t>(row + 14);
    auto flags = load_le<std::uint64_t>(row + 16);
    if ((flags & kIndexIsWide) != 0) {
      group.prefix_bytes |= static_cast<std::uint32_t>(flags) & 0xffff'0000;
      flags &= ~std::uint64_t{0xffff'0000};
    }
    if (body != at_) return corruption(row_at + 8, "the body is not where the one before ends");
    if (count == 0 || count > kIndexGroupBlocks) return corruption(row_at + 12, fmt::format("{} blocks", count));
    constexpr unsigned kKnownFlags = kIndexHasLengths | kIndexHasContinuations | kIndexIsWide;
    if (flags > kKnownFlags) return corruption(row_at + 16, "unknown flags");
    group.first_block = static_cast<std::uint32_t>(index_->ends_.size());
    const std::uint32_t blocks_left = part_begin_ + part_.blocks - group.first_block;
    if (count > blocks_left) return corruption(row_at + 12, "more blocks than the header says");
    group.blocks = static_cast<std::uint8_t>(count);
    group.has_tails = (flags & kIndexHasLengths) != 0;
    group.tails_begin = static_cast<std::uint32_t>(index_->tail_ends_.size());
    if (group.first_block > 0 && group.offset != next_offset_) {
      return corruption(row_at, "the blocks before end elsewhere");
    }
    if (!index_->groups_.empty() && index_->groups_.back().blocks != kIndexGroupBlocks) {
      index_->groups_are_full_ = false;
    }
    return read_body(group, (flags & kIndexHasContinuations) != 0, (flags & kIndexIsWide) != 0 ? 4 : 2);
  }

  Status read_body(Index::Group& group, bool has_continuations, std::size_t bytes_of_a_length) {
    const std::size_t count = group.blocks;
    const std::size_t fixed = count * (kIndexHeadBytes + 4) + (has_continuations ? kIndexContinuationBytes : 0) +
                              (group.has_tails ? bytes_of_a_length * count : 0) + group.prefix_bytes;
    if (fixed > part_.bytes.size() - at_) return corruption(at_, "a group's body is cut off");
    read_heads(group);
    TAMIS_TRY_STATUS(read_sizes(group));
    if (has_continuations) TAMIS_TRY_STATUS(read_continuations(group));
    lengths_.clear();
    for (std::size_t i = 0; group.has_tails && i < count; ++i, at_ += bytes_of_a_length) {
      const std::byte* length = part_.bytes.data() + at_;
      lengths_.push_back(bytes_of_a_length == 4 ? load_le<std::uint32_t>(length) : load_le<std::uint16_t>(length));
    }
    group.prefix_begin = static_cast<std::uint32_t>(index_->texts_.size());
    index_->texts_ += as_text(part_.bytes.subspan(at_, group.prefix_bytes));
    at_ += group.prefix_bytes;
    if (group.has_tails) TAMIS_TRY_STATUS(read_tails(group));
    index_->groups_.push_back(group);
    return verifies_ ? check_separators(group) : Status();
  }

  void read_heads(const Index::Group& group) {
    auto* heads = reinterpret_cast<std::uint64_t*>(index_->heads_.data()) + group.first_block;
    for (std::size_t i = 0; i < group.blocks; ++i) heads[i] = load_be<std::uint64_t>(part_.bytes.data() + at_ + 8 * i);
    at_ += kIndexHeadBytes * group.blocks;
  }

  Status read_sizes(const Index::Group& group) {
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < group.blocks; ++i, at_ += 4) {
      const auto size = load_le<std::uint32_t>(part_.bytes.data() + at_);
      end += size;
      if (size == 0 || end > kMaxIndexGroupBytes) return corruption(at_, fmt::format("a block of {} bytes", size));
      index_->ends_.push_back(static_cast<std::uint32_t>(end));
    }
    next_offset_ = group.offset + end;
    if (next_offset_ < group.offset) return corruption(at_, "blocks beyond the largest offset");
    return {};
  }

  Status read_continuations(const Index::Group& group) {
    for (std::size_t i = 0; i < kIndexGroupBlocks; ++i) {
      if ((static_cast<unsigned>(part_.bytes[at_ + i / 8]) >> (i % 8) & 1) == 0) continue;
      const std::size_t block = group.first_block + i;
      if (i >= group.blocks || block == part_begin_) return corruption(at_, "a continuation of nothing");
      set_continues(block);
    }
    at_ += kIndexContinuationBytes;
    return {};
  }

  void set_continues(std::size_t block) {
    index_->continuations_[block / 64] |= std::uint64_t{1} << (block % 64);
    any_continuation_ = true;
  }

  Status read_tails(const Index::Group& group) {
    for (std::size_t i = 0; i < group.blocks; ++i) {
      const std::size_t length = lengths_[i];
      const std::size_t bytes = std::max(length, kIndexHeadBytes) - kIndexHeadBytes;
      const std::uint64_t head = index_->heads()[group.first_block + i];
      if (length < kIndexHeadBytes && head << (8 * length) != 0) {
        return corruption(at_, "a head is longer than its separator");
      }
      if (bytes > part_.bytes.size() - at_) return corruption(at_, "a tail is cut off");
      index_->texts_ += as_text(part_.bytes.subspan(at_, bytes));
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

  const std::string_view name_;
  const bool verifies_;
  Part part_;                     // The current one.
  std::size_t at_ = 0;            // In its bytes.
  std::uint32_t part_begin_ = 0;  // Its first block in the index.
  std::uint64_t next_offset_ = 0;
  bool any_continuation_ = false;
  std::vector<std::uint32_t> lengths_;  // Of the current group, if it has tails.
  std::string last_separator_;          // Of the group before.
  std::unique_ptr<Index> index_ = std::make_unique<Index>();
};

Result<std::unique_ptr<const Index>> Index::open(Bytes part, std::uint64_t checksum_seed, std::string_view name,
                                                 std::uint64_t file_offset) {
  return open_part(Reader(name, true), part, checksum_seed, file_offset);
}

Result<std::unique_ptr<const Index>> Index::open_again(Bytes part, std::string_view name, std::uint64_t file_offset) {
  return open_part(Reader(name, false), part, 0, file_offset);
}

Result<std::unique_ptr<const Index>> Index::open_part(Reader reader, Bytes bytes, std::uint64_t checksum_seed,
                                                      std::uint64_t file_offset) {
  TAMIS_TRY(const Reader::Part part, reader.begin_part(bytes, checksum_seed, file_offset));
  TAMIS_TRY_STATUS(reader.reserve(part.blocks));
  TAMIS_TRY_STATUS(reader.append(part, false));
  return reader.finish();
}

Result<std::unique_ptr<const Index>> Index::open_whole(Bytes section, std::uint64_t top_bytes,
                                                       std::uint64_t checksum_seed, std::string_view name,
                                                       std::uint64_t file_offset) {
  if (top_bytes == 0) return open(section, checksum_seed, name, file_offset);
  TAMIS_CHECK(top_bytes < section.size());
  const std::uint64_t top_at = section.size() - top_bytes;
  TAMIS_TRY(const std::unique_ptr<const Index> top,
            open(section.subspan(top_at), checksum_seed + top_at, name, file_offset + top_at));
  Reader reader(name, true);
  std::vector<Reader::Part> parts;
  std::uint64_t blocks = 0;
  const auto is_no_top = [&] {
    return Status::corruption(fmt::format("{}: index at offset {}: a top of other parts", name, file_offset + top_at));
  };
  for (std::uint32_t i = 0; i < top->blocks(); ++i) {
    const BlockPosition at = top->position(i);
    if (at.offset > top_at || at.bytes > top_at - at.offset) return is_no_top();
    TAMIS_TRY(const Reader::Part part, reader.begin_part(section.subspan(at.offset, at.bytes),
                                                         checksum_seed + at.offset, file_offset + at.offset));
    if (i + 1 < top->blocks() && part.blocks != kIndexGroupBlocks) return is_no_top();
    parts.push_back(part);
    blocks += part.blocks;
  }
  if (!top->is_top_of(blocks, top_at)) return is_no_top();
  TAMIS_TRY_STATUS(reader.reserve(blocks));
  for (std::uint32_t i = 0; i < top->blocks(); ++i) {
    TAMIS_TRY_STATUS(reader.append(parts[i], top->continues(i)));
    TAMIS_TRY_STATUS(reader.check_begin(top->separator(i)));
  }
  return reader.finish();
}

bool Index::is_top_of(std::uint64_t blocks, std::uint64_t top_at) const {
  const BlockPosition last = position(this->blocks() - 1);
  return this->blocks() == (blocks + kIndexGroupBlocks - 1) / kIndexGroupBlocks && position(0).offset == 0 &&
         last.offset + last.bytes == top_at;
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
