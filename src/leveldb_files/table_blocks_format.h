// LevelDB's tables (.ldb, formerly .sst), read in order.
//
//     table   data blocks, filter block, metaindex block, index block, footer
//     footer  48 bytes: metaindex handle, index handle, zeros to 40, u64 little-endian magic
//     index   an entry per data block: a key at or after its last, its handle
//
// Blocks and handles: filter/formats/table_block_format.h. A compression of 2 is Zstandard, in one frame with its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "filter/formats/table_block_format.h"

namespace tamis::leveldb {

inline constexpr std::size_t kFooterBytes = 48;

/// The index block's handle.
Result<foreign::BlockHandle> decode_footer(Bytes footer, std::string_view name, std::uint64_t footer_offset);

/// The contents of a block whose bytes in the file, with its trailer, are `stored`: checked and decompressed.
Result<std::string> unpack_block(Bytes stored, std::string_view name, std::uint64_t offset);

/// A block's entries: keys with their suffix, and values. The keys' bytes are its own.
///
/// Threads: one at a time.
class BlockEntries {
 public:
  struct KeyValue {
    std::string_view internal_key;
    std::string_view value;
  };

  /// Takes over the contents of the block at this offset. What was here before is gone.
  Status decode(std::string contents, std::string_view name, std::uint64_t offset);
  [[nodiscard]] const std::vector<KeyValue>& entries() const { return entries_; }

 private:
  Status decode_entries(ByteReader& reader);

  std::string contents_;
  std::string keys_;
  std::vector<std::size_t> key_ends_;  // In keys_.
  std::vector<KeyValue> entries_;
};

}  // namespace tamis::leveldb
