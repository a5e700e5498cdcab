// Blocks in a table's file: compressed, with a trailer, verified before use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "cache/block_buffer.h"
#include "io/file_system.h"
#include "table/block_trailer_format.h"
#include "table/codec.h"
#include "table/data_block_format.h"
#include "table/index_format.h"
#include "tamis/status.h"

namespace tamis {

/// Compresses the block if worthwhile and appends it with its trailer. `codec` null: none. `offset` is the position of
/// the first appended byte in the table's file. The block has at most kMaxBlockBytes.
void append_block(std::string& to, Bytes block, const Codec* codec, std::uint64_t table_number, std::uint64_t offset);

// A frame is a block in memory, as caches hold it: the uncompressed block, then kBlockSlackBytes zeros.

/// The block of a frame.
inline Bytes block_of(Bytes frame) { return frame.first(frame.size() - kBlockSlackBytes); }

/// The frame of a block from its stored bytes, trailer included. The checksum is verified first, so that a corrupt
/// length allocates nothing. The block's contents are not checked. `name` is for messages.
Result<BlockBuffer> open_block(Bytes stored, std::uint64_t table_number, std::uint64_t offset, std::string_view name);

/// Reads and verifies the frame of a data block: one read of exactly the stored bytes, directly into the frame if they
/// are not compressed.
Result<BlockBuffer> read_block(const ReadableFile& file, BlockPosition position, std::uint64_t table_number,
                               std::string_view name);

/// The same in two parts, to read several blocks at once: first memory, whose first `position.bytes` bytes the caller
/// fills; then the frame, of which the file had `there` bytes.
Result<BlockBuffer> begin_block(BlockPosition position, std::uint64_t table_number, std::string_view name);
Result<BlockBuffer> finish_block(BlockBuffer frame, std::size_t there, BlockPosition position,
                                 std::uint64_t table_number, std::string_view name);

}  // namespace tamis
