// Reads the blocks that several lookups wait for.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cache/block_cache.h"
#include "io/file_system.h"
#include "table/staged_lookup.h"
#include "tamis/status.h"

namespace tamis {

/// Collects the current blocks of searches in any tables of one store. Then it reads all of them together, checks them,
/// and caches them if `fills_cache`. A block that several searches need is read once. A damaged or unreadable block
/// fails only the searches that need it.
///
/// Threads: one. The searches and their tables must exist until `read` returns.
class BlockBatch {
 public:
  explicit BlockBatch(bool fills_cache) : fills_cache_(fills_cache) {}

  /// Returns the block's number for `block`.
  std::size_t add(TableSearch& search);
  void read();
  [[nodiscard]] const Result<PinnedBlock>& block(std::size_t number) const { return wanted_[number].block; }
  [[nodiscard]] bool empty() const { return wanted_.empty(); }
  void clear() { wanted_.clear(); }

 private:
  struct Wanted {
    Table* table = nullptr;
    std::uint32_t number = 0;
    BlockPosition position;
    std::string path;
    std::shared_ptr<const ReadableFile> file;
    BlockBuffer frame;
    Result<PinnedBlock> block = PinnedBlock();
  };

  static Status prepare(Wanted& wanted);
  Result<PinnedBlock> finish(Wanted& wanted, const Result<std::size_t>& there) const;

  const bool fills_cache_;
  std::vector<Wanted> wanted_;
};

}  // namespace tamis
