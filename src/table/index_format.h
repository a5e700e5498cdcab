// The bytes of a table's index: docs/decisions/0008-index.md has the layout and its reasons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "tamis/status.h"

namespace tamis {

/// Where a block stands in its file, trailer included.
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
  /// `second_key` its second distinct one if it has one, else empty. Blocks follow each other without gaps.
  void add(std::string_view last_key_before, std::string_view first_key, std::string_view second_key,
           BlockPosition position);
  [[nodiscard]] std::size_t blocks() const;
  [[nodiscard]] std::size_t estimated_bytes() const;
  /// The section, its checksum included (seeded).
  [[nodiscard]] std::string finish(std::uint64_t checksum_seed) const;

 private:
  // The implementation's own.
};

/// From a key to its block, in memory.
///
/// Invariants: every number that a search uses was checked when it was opened.
///
/// Threads: constant.
class Index {
 public:
  /// Verifies checksum and structure, then copies what it needs. `name`, `file_offset`: for the message.
  static Result<std::unique_ptr<const Index>> open(Bytes section, std::uint64_t checksum_seed, std::string_view name,
                                                   std::uint64_t file_offset);

  [[nodiscard]] std::uint32_t blocks() const;
  /// The first block that can hold an entry with this key: of a key whose versions span blocks, the one it begins in.
  [[nodiscard]] std::uint32_t locate(std::string_view key) const;
  /// Whether this block begins with a key that the block before holds too.
  [[nodiscard]] bool continues(std::uint32_t block) const;
  [[nodiscard]] BlockPosition position(std::uint32_t block) const;
  /// The separator before this block: at or below its first key, above the last key of the block before.
  [[nodiscard]] std::string separator(std::uint32_t block) const;
  [[nodiscard]] std::size_t memory_bytes() const;
  /// What opening a section of this size takes at most; known before it is read.
  static std::size_t memory_bytes_for(std::uint64_t section_bytes);

 private:
  // The implementation's own.
};

}  // namespace tamis
