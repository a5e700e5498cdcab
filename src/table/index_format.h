// The bytes of a table's index: docs/decisions/0008-index.md has the layout and its rationale, docs/FORMAT.md the hex.
//
//     section                                             row of a group
//     offset size                                         offset size
//          0    4  parts, 1                                    0    8  file offset of the group's first block
//          4    4  g, groups                                   8    4  offset of the body in the section
//          8    4  blocks                                     12    2  n, blocks: 1 to 128
//         12    4  zero                                       14    2  p, bytes that the group's separators share
//         16 24 g  rows                                       16    1  1: lengths and tails; 2: continuations; 4: wide
//          –    –  bodies, in order                           17    1  zero
//     end - 8    8  XXH3-64 of all before, seeded             18    2  the high half of p, if wide; else zero
//                                                             20    4  zero
//
//     body: heads 8 n (big-endian), sizes 4 n, continuations 16 (flag 2), lengths 2 n (4 n if wide; flag 1), prefix p,
//     tails
//
// A group is wide if p or the length of a separator after it exceeds 65,535.
// All numbers little-endian, except heads. A separator is its group's prefix, its head without trailing zeros (or as
// much of it as its length says) and its tail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned_bytes.h"
#include "base/bytes.h"
#include "tamis/status.h"

namespace tamis {

inline constexpr std::size_t kIndexGroupBlocks = 128;
inline constexpr std::size_t kIndexHeaderBytes = 16;
inline constexpr std::size_t kIndexRowBytes = 24;
inline constexpr std::size_t kIndexHeadBytes = 8;

/// A block's position in its file, trailer included.
struct BlockPosition {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;

  friend bool operator==(const BlockPosition&, const BlockPosition&) = default;
};

/// Collects one separator per block.
///
/// Threads: one at a time.
class IndexBuilder {
 public:
  /// `last_key_before` is the last key of the block before (empty for the first), `first_key` this block's first,
  /// `second_key` its second distinct key if it has one, else empty. Blocks follow each other without gaps.
  void add(std::string_view last_key_before, std::string_view first_key, std::string_view second_key,
           BlockPosition position);
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }
  [[nodiscard]] std::size_t estimated_bytes() const;
  /// The section with its seeded checksum. Requires at least one block.
  [[nodiscard]] std::string finish(std::uint64_t checksum_seed) const;

 private:
  struct Block {
    std::string separator;
    BlockPosition position;
    bool continues = false;
  };
  struct Group {
    std::size_t begin = 0;  // In blocks_.
    std::size_t end = 0;
  };

  [[nodiscard]] std::vector<Group> groups() const;
  void append_row(std::string& to, const Group& group, std::size_t body_offset) const;
  void append_body(std::string& to, const Group& group) const;
  [[nodiscard]] std::size_t shared_bytes(const Group& group) const;
  [[nodiscard]] bool needs_lengths(const Group& group) const;
  [[nodiscard]] bool is_wide(const Group& group) const;
  [[nodiscard]] bool has_continuations(const Group& group) const;

  std::vector<Block> blocks_;
  bool first_is_whole_ = false;  // The first separator waits for a second key to be distinguished from.
};

/// Maps a key to its block, in memory.
///
/// Invariants:
///  1. Every number that a search uses was checked when it was opened.
///  2. Separators ascend; equal ones only where the later block continues the earlier one's key.
///
/// Threads: constant.
class Index {
 public:
  /// Verifies checksum and structure, then copies what it needs. `name` and `file_offset` are for the message.
  static Result<std::unique_ptr<const Index>> open(Bytes section, std::uint64_t checksum_seed, std::string_view name,
                                                   std::uint64_t file_offset);

  [[nodiscard]] std::uint32_t blocks() const { return static_cast<std::uint32_t>(ends_.size()); }
  /// The first block that can hold an entry with this key: if its versions span blocks, the first of them.
  [[nodiscard]] std::uint32_t locate(std::string_view key) const;
  /// The same in two steps, with other work in between: the first prefetches what the second needs, and returns its
  /// argument.
  [[nodiscard]] std::uint32_t begin_locate(std::string_view key) const;
  [[nodiscard]] std::uint32_t locate_in(std::uint32_t group, std::string_view key) const;
  struct BlockRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  /// The blocks that `locate_in` chooses from.
  [[nodiscard]] BlockRange blocks_of(std::uint32_t group) const {
    return {groups_[group].first_block, groups_[group].blocks};
  }
  /// Whether this block begins with a key that is also in the block before.
  [[nodiscard]] bool continues(std::uint32_t block) const {
    return !continuations_.empty() && (continuations_[block / 64] >> (block % 64) & 1) != 0;
  }
  [[nodiscard]] BlockPosition position(std::uint32_t block) const;
  /// The separator before this block: at or below its first key, above the last key of the block before.
  [[nodiscard]] std::string separator(std::uint32_t block) const;
  [[nodiscard]] std::size_t memory_bytes() const;
  /// The max memory of an opened section of this size; known before it is read.
  static std::size_t memory_bytes_for(std::uint64_t section_bytes);

 private:
  class Reader;  // index_format.cc
  struct Group {
    std::uint64_t offset = 0;        // Of its first block in the file.
    std::uint32_t first_block = 0;   // In heads_ and ends_.
    std::uint32_t tails_begin = 0;   // In short_lengths_ and tail_ends_.
    std::uint32_t prefix_begin = 0;  // In texts_.
    std::uint32_t prefix_bytes = 0;
    std::uint8_t blocks = 0;
    bool has_tails = false;
  };

  static constexpr std::uint8_t kHasTail = kIndexHeadBytes + 1;

  [[nodiscard]] const std::uint64_t* heads() const { return reinterpret_cast<const std::uint64_t*>(heads_.data()); }
  [[nodiscard]] const Group& group_of(std::uint32_t block) const;
  [[nodiscard]] std::string_view prefix_of(const Group& group) const {
    return std::string_view(texts_).substr(group.prefix_begin, group.prefix_bytes);
  }
  [[nodiscard]] std::size_t suffix_bytes(const Group& group, std::size_t i) const;
  [[nodiscard]] std::string suffix(const Group& group, std::size_t i) const;
  [[nodiscard]] std::string_view tail(const Group& group, std::size_t i) const;
  [[nodiscard]] std::size_t find_group(std::string_view key) const;
  [[nodiscard]] std::uint32_t last_at_or_before(const Group& group, std::string_view key) const;
  [[nodiscard]] bool is_at_or_before(const Group& group, std::size_t i, std::string_view key) const;
  [[nodiscard]] bool tail_is_at_or_before(const Group& group, std::size_t i, std::string_view suffix) const;
  [[nodiscard]] bool is_separator(std::uint32_t block, std::string_view key) const;
  void prepare_top();

  std::string prefix_;              // Of all separators.
  std::vector<std::uint64_t> top_;  // Heads of the groups' first separators after prefix_.
  std::vector<Group> groups_;
  bool groups_are_full_ = true;  // All but the last have kIndexGroupBlocks.
  // One per block.
  AlignedBytes heads_;
  std::vector<std::uint32_t> ends_;           // Where the block ends, relative to its group's offset.
  std::vector<std::uint64_t> continuations_;  // A bit per block; empty if none is set.
  // One per block of a group with tails.
  std::vector<std::uint8_t> short_lengths_;  // Of the separator after the group's prefix; kHasTail if it has a tail.
  std::vector<std::uint32_t> tail_ends_;     // In texts_; a tail begins where the previous one ends.
  std::string texts_;                        // Each group's prefix, then its tails.
};

}  // namespace tamis
