#include "table/block_file.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "base/try.h"

namespace tamis {
namespace {

// A stored block is read into the frame that it becomes if it is not compressed: its trailer must fit the slack.
static_assert(kBlockTrailerBytes <= kBlockSlackBytes);

constexpr std::size_t kKeptBytes = std::size_t{1} << 20;

/// Where a block comes from.
struct Source {
  std::uint64_t table_number;
  std::uint64_t offset;
  std::string_view name;

  [[nodiscard]] Status damage(std::string_view why) const {
    return Status::corruption(fmt::format("{}: block at offset {}: {}", name, offset, why));
  }
};

Result<BlockBuffer> make_frame(std::size_t block_bytes, const Source& source) {
  BlockBuffer frame = BlockBuffer::unset(block_bytes + kBlockSlackBytes);
  if (frame.size() != 0) {
    std::ranges::fill(frame.span().last(kBlockSlackBytes), std::byte{0});
    return frame;
  }
  return Status::out_of_space(
      fmt::format("{}: block at offset {}: no memory for {} bytes", source.name, source.offset, block_bytes));
}

Result<BlockBuffer> decompress(Bytes stored, const BlockTrailer& trailer, const Codec& codec, const Source& source) {
  TAMIS_TRY(BlockBuffer frame, make_frame(trailer.block_bytes, source));
  const Bytes compressed = stored.first(stored.size() - kBlockTrailerBytes);
  if (!codec.decompress(compressed, frame.span().first(trailer.block_bytes))) {
    return source.damage(
        fmt::format("{} bytes of {} do not become {} bytes", compressed.size(), codec.name, trailer.block_bytes));
  }
  return frame;
}

/// Checksum, codec and length agree with the stored bytes.
Result<BlockTrailer> verify(Bytes stored, const Source& source) {
  const std::uint64_t seed = block_checksum_seed(source.table_number, source.offset);
  TAMIS_TRY(const BlockTrailer trailer, verify_block_trailer(stored, seed, source.name, source.offset));
  if (find_codec(trailer.codec) == nullptr) {
    return Status::not_supported(
        fmt::format("{}: block at offset {}: codec {} is not known to this build; use a newer tamis", source.name,
                    source.offset, trailer.codec));
  }
  if (trailer.codec == 0 && trailer.block_bytes != stored.size() - kBlockTrailerBytes) {
    return source.damage(
        fmt::format("{} bytes, {} are there", trailer.block_bytes, stored.size() - kBlockTrailerBytes));
  }
  return trailer;
}

}  // namespace

void append_block(std::string& to, Bytes block, const Codec* codec, std::uint64_t table_number, std::uint64_t offset) {
  TAMIS_CHECK(block.size() <= kMaxBlockBytes);
  const std::size_t begin = to.size();
  BlockTrailer trailer{0, static_cast<std::uint32_t>(block.size())};
  thread_local std::string compressed;  // Reused from block to block, unless one was very large.
  if (codec != nullptr && codec->compress(block, compressed)) {
    trailer.codec = codec->id;
    to.append(compressed);
  } else {
    to.append(as_text(block));
  }
  if (compressed.capacity() > kKeptBytes) std::string().swap(compressed);
  append_block_trailer(to, begin, trailer, block_checksum_seed(table_number, offset));
}

Result<BlockBuffer> open_block(Bytes stored, std::uint64_t table_number, std::uint64_t offset, std::string_view name) {
  const Source source{table_number, offset, name};
  TAMIS_TRY(const BlockTrailer trailer, verify(stored, source));
  return decompress(stored, trailer, *find_codec(trailer.codec), source);
}

Result<BlockBuffer> read_block(const ReadableFile& file, BlockPosition position, std::uint64_t table_number,
                               std::string_view name) {
  TAMIS_TRY(BlockBuffer frame, begin_block(position, table_number, name));
  TAMIS_TRY(const std::size_t there, file.read_at(position.offset, frame.span().first(position.bytes)));
  return finish_block(std::move(frame), there, position, table_number, name);
}

Result<BlockBuffer> begin_block(BlockPosition position, std::uint64_t table_number, std::string_view name) {
  const Source source{table_number, position.offset, name};
  if (position.bytes < kBlockTrailerBytes) {
    return source.damage(fmt::format("{} bytes are too few for a block and its trailer", position.bytes));
  }
  return make_frame(position.bytes - kBlockTrailerBytes, source);
}

Result<BlockBuffer> finish_block(BlockBuffer frame, std::size_t there, BlockPosition position,
                                 std::uint64_t table_number, std::string_view name) {
  const Source source{table_number, position.offset, name};
  if (there != position.bytes) {
    return source.damage(fmt::format("the file ends after {} of its {} bytes", there, position.bytes));
  }
  const MutableBytes stored = frame.span().first(position.bytes);
  TAMIS_TRY(const BlockTrailer trailer, verify(stored, source));
  if (trailer.codec == 0) {
    std::ranges::fill(stored.last(kBlockTrailerBytes), std::byte{0});  // Slack from now on.
  } else {
    TAMIS_TRY(frame, decompress(stored, trailer, *find_codec(trailer.codec), source));
  }
  TAMIS_TRY_STATUS(DataBlock::check(block_of(frame.span()), name, position.offset));
  return frame;
}

}  // namespace tamis
