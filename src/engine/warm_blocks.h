// Keeps hot keys in memory while compactions replace the tables that hold them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cache/block_cache.h"
#include "table/table_iterator.h"

namespace tamis {

/// Caches those blocks of a rewrite's output whose input was cached. A block's input is what was opened since the block
/// before it was written.
///
/// Threads: one. Each part of a rewrite has its own.
class WarmBlocks {
 public:
  explicit WarmBlocks(BlockCache& cache) : cache_(cache) {}

  /// For the iterators of the input.
  [[nodiscard]] BlocksOpened& input() { return input_; }
  /// A block of the output.
  void add(std::uint64_t table, std::uint32_t block, std::string_view bytes);
  /// The output will not be used.
  void erase();

 private:
  struct Cached {
    std::uint64_t table = 0;
    std::uint32_t blocks = 0;  // The last one cached, and all before it.
  };

  BlockCache& cache_;
  BlocksOpened input_;
  BlocksOpened seen_;  // When the last block was written.
  bool is_warm_ = false;
  std::vector<Cached> tables_;
};

}  // namespace tamis
