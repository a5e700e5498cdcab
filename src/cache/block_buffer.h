// Memory for one block.
#pragma once

#include <cstddef>
#include <utility>

#include "base/aligned_bytes.h"

namespace tamis {

/// An owned block, with space in front for the cache's Frame: both are in the same memory, so a lookup that goes from
/// one to the other waits for memory only once.
///
/// Threads: as std::vector.
class BlockBuffer {
 public:
  static constexpr std::size_t kFrameBytes = 2 * kCacheLineBytes;

  BlockBuffer() = default;
  /// Uninitialised. Empty (size 0) if allocation fails, or for no bytes.
  static BlockBuffer unset(std::size_t size) { return BlockBuffer(AlignedBytes::unset(kFrameBytes + size)); }

  [[nodiscard]] std::byte* data() { return memory_.data() + kFrameBytes; }
  [[nodiscard]] const std::byte* data() const { return memory_.data() + kFrameBytes; }
  [[nodiscard]] std::size_t size() const { return memory_.size() == 0 ? 0 : memory_.size() - kFrameBytes; }
  [[nodiscard]] Bytes span() const { return {data(), size()}; }
  [[nodiscard]] MutableBytes span() { return {data(), size()}; }

  /// Where the cache puts the block's frame: kFrameBytes before the block.
  [[nodiscard]] std::byte* frame_place() { return memory_.data(); }

 private:
  explicit BlockBuffer(AlignedBytes memory) : memory_(std::move(memory)) {}

  AlignedBytes memory_;
};

}  // namespace tamis
