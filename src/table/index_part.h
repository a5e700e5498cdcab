// What a lookup or a scan uses of a table's index.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "table/index_format.h"

namespace tamis {

/// The whole index, or if that is not in memory, its top and the part with the blocks in question. Counted: the table
/// may unload the index meanwhile. Blocks have the table's numbers.
///
/// Invariants:
///  1. Without a top, `index` is the whole index and `number` is 0.
///  2. With a top, `index` is part `number`, or null before the first part is entered.
///
/// Threads: one.
struct IndexPart {
  [[nodiscard]] bool is_open() const { return index != nullptr || top != nullptr; }
  [[nodiscard]] bool is_whole() const { return top == nullptr; }
  [[nodiscard]] bool holds(std::uint32_t block) const { return block >= first_block() && block < end_block(); }
  [[nodiscard]] std::uint32_t first_block() const { return number * std::uint32_t{kIndexGroupBlocks}; }
  [[nodiscard]] std::uint32_t end_block() const { return first_block() + index->blocks(); }
  /// As Index::locate, for a key whose part this is.
  [[nodiscard]] std::uint32_t locate(std::string_view key) const { return first_block() + index->locate(key); }
  [[nodiscard]] BlockPosition position(std::uint32_t block) const { return index->position(block - first_block()); }
  /// Whether the block after this one begins with a key that is also in this one.
  [[nodiscard]] bool is_continued(std::uint32_t block) const {
    const std::uint32_t next = block + 1;
    if (next < end_block()) return index->continues(next - first_block());
    return !is_whole() && number + 1 < top->blocks() && top->continues(number + 1);
  }

  std::shared_ptr<const Index> index;
  std::shared_ptr<const Index> top;  // Maps keys to parts, as an index does to blocks.
  std::uint32_t number = 0;
};

}  // namespace tamis
