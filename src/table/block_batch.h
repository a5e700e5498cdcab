// Blocks that several lookups wait for, read together.
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

/// Collects the blocks that searches stand at, of any tables of one store; then all are read in one go, checked, and
/// kept in the cache if it is to be filled. A block that several want is read once; one that is damaged, or cannot be
/// read, fails only for those who want it.
///
/// Threads: one. The searches and their tables must stay until `read` has returned.
class BlockBatch {
 public:
  explicit BlockBatch(bool fills_cache) : fills_cache_(fills_cache) {}

  /// Returns the number under which `block` will have it.
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
