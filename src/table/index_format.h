// Builds and opens the index of a table; index_layout_format.h describes its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned_bytes.h"
#include "base/bytes.h"
#include "table/index_layout_format.h"
#include "tamis/status.h"

namespace tamis {

/// A block's position in its file, trailer included.
struct BlockPosition {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;

  friend bool operator==(const BlockPosition&, const BlockPosition&) = default;
};

/// The bytes of an index.
struct IndexSection {
  std::string bytes;
  std::uint32_t top_bytes = 0;  ///< The last of them are the top; 0: there is a single part.
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
  /// The section, seeded like a block that begins where it does. Requires at least one block.
  [[nodiscard]] IndexSection finish(std::uint64_t checksum_seed) const;

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
  [[nodiscard]] std::string finish_part(std::uint64_t checksum_seed) const;
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
  /// Opens a part or a top: verifies checksum and structure, then copies what it needs. `name` and `file_offset` are
  /// for the message.
  static Result<std::unique_ptr<const Index>> open(Bytes part, std::uint64_t checksum_seed, std::string_view name,
                                                   std::uint64_t file_offset);
  /// The same of bytes that it has accepted before.
  static Result<std::unique_ptr<const Index>> open_again(Bytes part, std::string_view name, std::uint64_t file_offset);
  /// Opens a section as one index; `top_bytes` as in IndexSection.
  static Result<std::unique_ptr<const Index>> open_whole(Bytes section, std::uint64_t top_bytes,
                                                         std::uint64_t checksum_seed, std::string_view name,
                                                         std::uint64_t file_offset);

  /// For a top at this offset of an index of so many blocks: whether it has a part for each 128, and they end there.
  [[nodiscard]] bool is_top_of(std::uint64_t blocks, std::uint64_t top_at) const;

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
  static Result<std::unique_ptr<const Index>> open_part(Reader reader, Bytes bytes, std::uint64_t checksum_seed,
                                                        std::uint64_t file_offset);
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
