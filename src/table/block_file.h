// Blocks in a table's file: compressed, with a trailer, checked before anything is believed.
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

/// Compresses the block if that pays and appends it with its trailer. `codec` null: none. `offset` is where the first
/// appended byte will stand in the file of this table. The block has at most kMaxBlockBytes.
void append_block(std::string& to, Bytes block, const Codec* codec, std::uint64_t table_number, std::uint64_t offset);

// A frame is a block in memory, as caches hold it: the block as it was before compression, then kBlockSlackBytes zeros.

/// The block of a frame.
inline Bytes block_of(Bytes frame) { return frame.first(frame.size() - kBlockSlackBytes); }

/// The frame of a block whose stored bytes, trailer included, somebody has read. The checksum is verified first: a
/// length that is not ours takes no memory. What is in the block is not checked. `name` is for messages.
Result<BlockBuffer> open_block(Bytes stored, std::uint64_t table_number, std::uint64_t offset, std::string_view name);

/// The frame of a data block, its bytes checked: one read of exactly the stored bytes, straight into the frame when
/// they are not compressed.
Result<BlockBuffer> read_block(const ReadableFile& file, BlockPosition position, std::uint64_t table_number,
                               std::string_view name);

/// The same in two parts, for who reads several at once: memory, whose first `position.bytes` bytes somebody fills;
/// then the frame, of which the file had `there` bytes.
Result<BlockBuffer> begin_block(BlockPosition position, std::uint64_t table_number, std::string_view name);
Result<BlockBuffer> finish_block(BlockBuffer frame, std::size_t there, BlockPosition position,
                                 std::uint64_t table_number, std::string_view name);

}  // namespace tamis
