// Blocks of LevelDB and RocksDB tables: located by a handle, checked, decompressed, split into entries.
//
//     handle   LEB128 offset, LEB128 size
//     block    contents, u8 compression (0 none, 1 Snappy), u32 little-endian checksum of contents and that byte
//     contents entries, then u32 restart offsets, then u32 their number
//     entry    LEB128 shared, LEB128 unshared, LEB128 value bytes, the unshared part of the key, the value
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "tamis/status.h"

namespace tamis::foreign {

inline constexpr std::size_t kBlockTrailerBytes = 5;
inline constexpr std::size_t kInternalKeySuffixBytes = 8;  // Sequence and type, after every key in a table.
inline constexpr std::uint64_t kLevelDbMagic = 0xdb4775248b80fb57U;

struct BlockHandle {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // Without the trailer.
};
Result<BlockHandle> read_handle(ByteReader& reader);
/// The handle in the value of an entry.
Result<BlockHandle> handle_in(std::string_view value, std::string_view name);

enum class BlockChecksum : std::uint8_t { kNone = 0, kCrc32c = 1, kXxh32 = 2, kXxh64 = 3, kXxh3 = 4 };

/// The checksum of a block's contents and the compression byte after them, or of a footer; at least one byte.
std::uint32_t block_checksum(BlockChecksum kind, Bytes bytes);

/// A table's bytes and how its blocks are checked.
///
/// Threads: immutable. The bytes must outlive it.
struct TableBytes {
  Bytes file;
  std::string_view name;
  BlockChecksum checksum = BlockChecksum::kCrc32c;
  /// From RocksDB's format version 6, a block's checksum also depends on its offset; 0: it does not.
  std::uint32_t base_context = 0;

  /// The amount added to the checksum at this offset.
  [[nodiscard]] std::uint32_t context_at(std::uint64_t offset) const;
};

/// The contents of the block at this handle. kCorruption if it lies outside the file or its checksum does not match;
/// kNotSupported for compression other than Snappy.
Result<std::string> read_block(const TableBytes& table, BlockHandle handle, std::string_view what);
/// The same for a filter, as bytes of the file. kNotSupported if it is compressed, which no system does.
Result<Bytes> read_filter_block(const TableBytes& table, BlockHandle handle);

/// The keys and values of a block.
using BlockDictionary = std::map<std::string, std::string, std::less<>>;
Result<BlockDictionary> read_dictionary(const TableBytes& table, BlockHandle handle, std::string_view what);

struct IndexEntry {
  std::string separator;  // User key: at or after every key of the block, before every key of the next.
  BlockHandle handle;
};
/// How RocksDB may have trimmed an index block: no value lengths, and handles as deltas where keys share bytes; keys
/// without the suffix.
struct IndexEncoding {
  bool values_are_deltas = false;
  bool keys_are_user_keys = false;
};
Result<std::vector<IndexEntry>> read_index(const TableBytes& table, BlockHandle handle, IndexEncoding encoding = {});

/// The first entry whose separator is not before the key, or the number of entries.
std::size_t find_separator(const std::vector<IndexEntry>& index, std::string_view user_key);

/// Snappy's decompression; kCorruption, naming the bytes, for anything that Snappy does not write. Allocates only once
/// the declared length is plausible for this many packed bytes.
Result<std::string> unpack_snappy(Bytes packed, std::string_view name);

}  // namespace tamis::foreign
