// Finds a table's data blocks without its index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "io/file_system.h"
#include "table/index_format.h"
#include "table/lz4_ends.h"
#include "table/search_window.h"

namespace tamis {

/// Finds every block with a valid checksum in a range of a table's file, in time linear in the bytes of the range.
///
/// A checksum is computed only if everything else agrees, depending on the codec:
///     none   a trailer gives its block's length, hence its start; a block header must be there
///     lz4    a trailer must have the length that the sequences before it produce (Lz4Ends)
///     zstd   a frame has a magic number and gives its end; a trailer with its length must follow
/// An LZ4 block of more than 64 KiB is found only if its start is known: it is the end of the previous block, if that
/// one can still be followed to its end. In all three cases the first offset of the block must be the one that its
/// counts imply.
///
/// Candidates are always tried at the end of the last block, and at the end of a block with only a wrong checksum. All
/// others together may waste kFirstCredit, plus kCreditPerByte per byte passed. Values crafted to look like blocks can
/// use this up and so hide a block that follows damage; they cannot make the search slow.
///
/// Threads: one at a time. The file must outlive it.
class BlockSearch {
 public:
  static constexpr std::uint64_t kCreditPerByte = 2;
  static constexpr std::uint64_t kFirstCredit = 256 << 10;

  BlockSearch(const ReadableFile& file, std::uint64_t table_number, std::uint64_t begin, std::uint64_t end);

  /// The next block, trailer included; its checksum was verified. Nullopt: there are no more.
  std::optional<BlockPosition> next();
  /// The cost of the search: bytes read, passed, decoded and hashed, each time counted.
  [[nodiscard]] std::uint64_t looked_at() const;

 private:
  /// The first bytes of an uncompressed data block.
  struct BlockHead {
    std::uint16_t entries = 0;
    std::uint16_t prefix_bytes = 0;
    std::uint64_t base_sequence = 0;
  };

  std::optional<BlockPosition> block_that_ends_at(std::uint64_t trailer);
  std::optional<BlockPosition> block_that_begins_at(std::uint64_t begin);
  std::optional<BlockPosition> find_lz4(std::uint64_t begin);
  [[nodiscard]] bool has_lz4_head(std::uint64_t begin, BlockHead& head);
  std::optional<BlockPosition> find_zstd(std::uint64_t begin);
  std::optional<BlockPosition> follow_lz4(std::uint64_t begin, std::uint64_t most_bytes);
  [[nodiscard]] bool decode_lz4(std::uint64_t begin, std::span<char> to);
  std::uint64_t lz4_length(std::uint64_t& at, unsigned nibble);
  [[nodiscard]] bool is_block(std::uint64_t begin, std::uint64_t trailer);
  [[nodiscard]] bool is_known_begin(std::uint64_t begin) const { return begin == from_ || begin == damaged_end_; }
  [[nodiscard]] bool may_cost_more(std::uint64_t begin) const;
  const char* peek(std::uint64_t offset, std::size_t count, SearchWindow& elsewhere);

  static BlockHead head_at(const char* bytes);
  static bool is_possible(const BlockHead& head, std::uint64_t block_bytes);

  const std::uint64_t table_number_;
  const std::uint64_t begin_;
  const std::uint64_t end_;
  SearchWindow near_;              // Around at_.
  SearchWindow far_;               // Where a long block continues.
  SearchWindow distant_;           // Where a long block may begin.
  std::uint64_t from_;             // The end of the last block: the next begins there or later.
  std::uint64_t at_;               // All positions before it were tried.
  std::uint64_t damaged_end_ = 0;  // Of a block with only a wrong checksum: one may begin there.
  Lz4Ends lz4_ends_;               // Around at_, too.
  std::uint64_t work_ = 0;         // Bytes passed, decoded and hashed.
  std::uint64_t work_before_ = 0;  // The candidates at at_.
  std::uint64_t wasted_ = 0;       // Work on false candidates.
  std::vector<char> decoded_;
};

}  // namespace tamis
