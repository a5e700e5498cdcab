#include "leveldb_files/table_blocks_format.h"

#include <fmt/core.h>
#include <zstd.h>

#include <algorithm>

#include "base/try.h"

namespace tamis::leveldb {
namespace {

constexpr std::uint8_t kStored = 0;
constexpr std::uint8_t kSnappy = 1;
constexpr std::uint8_t kZstd = 2;

std::string block_name(std::string_view name, std::uint64_t offset) {
  return fmt::format("{}: the block at offset {}", name, offset);
}

Result<std::string> unpack_zstd(Bytes packed, std::string_view name, std::uint64_t offset) {
  constexpr std::uint64_t kMaxGrowth = 32768;  // A block of 128 KiB of the same byte takes 4 bytes.
  const std::uint64_t size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size / kMaxGrowth > packed.size()) {
    return Status::corruption(block_name(name, offset) + " is no Zstandard frame with a plausible size");
  }
  std::string contents(size, '\0');
  const std::size_t unpacked = ZSTD_decompress(contents.data(), contents.size(), packed.data(), packed.size());
  if (ZSTD_isError(unpacked) != 0 || unpacked != size) {
    return Status::corruption(block_name(name, offset) + " cannot be decompressed");
  }
  return contents;
}

}  // namespace

Result<foreign::BlockHandle> decode_footer(Bytes footer, std::string_view name, std::uint64_t footer_offset) {
  const auto magic = load_le<std::uint64_t>(footer.data() + kFooterBytes - 8);
  if (magic != foreign::kLevelDbMagic) {
    return Status::corruption(fmt::format("{}: at offset {}: the magic number is {:#x}, a LevelDB table's is {:#x}",
                                          name, footer_offset + kFooterBytes - 8, magic, foreign::kLevelDbMagic));
  }
  const std::string footer_name = fmt::format("{}: the footer at offset {}", name, footer_offset);
  ByteReader reader(footer, footer_name);
  TAMIS_TRY_STATUS(foreign::read_handle(reader).status());
  return foreign::read_handle(reader);
}

Result<std::string> unpack_block(Bytes stored, std::string_view name, std::uint64_t offset) {
  const Bytes packed = stored.first(stored.size() - foreign::kBlockTrailerBytes);
  const Bytes checked = stored.first(packed.size() + 1);
  const auto checksum = load_le<std::uint32_t>(stored.data() + checked.size());
  const std::uint32_t computed = foreign::block_checksum(foreign::BlockChecksum::kCrc32c, checked);
  if (checksum != computed) {
    return Status::corruption(fmt::format("{}: at offset {}: the checksum of a block is {:#010x}, computed {:#010x}",
                                          name, offset, checksum, computed));
  }
  switch (const auto compression = std::to_integer<std::uint8_t>(checked.back())) {
    case kStored: return std::string(as_text(packed));
    case kSnappy: return foreign::unpack_snappy(packed, block_name(name, offset));
    case kZstd: return unpack_zstd(packed, name, offset);
    default:
      return Status::not_supported(fmt::format("{} is compressed by method {}; LevelDB has none, Snappy and Zstandard",
                                               block_name(name, offset), compression));
  }
}

Status BlockEntries::decode(std::string contents, std::string_view name, std::uint64_t offset) {
  contents_ = std::move(contents);
  const std::string full_name = block_name(name, offset);
  const Bytes bytes = as_bytes(contents_);
  const ByteReader whole(bytes, full_name);
  if (bytes.size() < 4) return whole.corruption("it is too short for its restarts");
  const std::uint64_t restarts = load_le<std::uint32_t>(bytes.data() + bytes.size() - 4);
  if (restarts > bytes.size() / 4 - 1) return whole.corruption(fmt::format("it has {} restarts", restarts));
  ByteReader reader(bytes.first(bytes.size() - 4 * (restarts + 1)), full_name);
  TAMIS_TRY_STATUS(decode_entries(reader));
  // Only now do the keys stay where they are.
  std::size_t begin = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].internal_key = std::string_view(keys_).substr(begin, key_ends_[i] - begin);
    begin = key_ends_[i];
  }
  return {};
}

Status BlockEntries::decode_entries(ByteReader& reader) {
  keys_.clear();
  key_ends_.clear();
  entries_.clear();
  std::size_t last_begin = 0;
  while (!reader.at_end()) {
    TAMIS_TRY(const std::uint64_t shared, reader.read_varint("a shared length"));
    TAMIS_TRY(const std::uint64_t unshared, reader.read_varint("an unshared length"));
    TAMIS_TRY(const std::uint64_t value_bytes, reader.read_varint("the length of a value"));
    const std::size_t begin = keys_.size();
    if (shared > begin - last_begin) return reader.corruption("a key that shares more than the previous key has");
    TAMIS_TRY(const Bytes rest, reader.read(unshared, "a key"));
    TAMIS_TRY(const Bytes value, reader.read(value_bytes, "a value"));
    keys_.resize(begin + shared);
    std::copy_n(keys_.begin() + static_cast<std::ptrdiff_t>(last_begin), shared,
                keys_.begin() + static_cast<std::ptrdiff_t>(begin));
    keys_.append(as_text(rest));
    key_ends_.push_back(keys_.size());
    entries_.push_back({.internal_key = {}, .value = as_text(value)});
    last_begin = begin;
  }
  return {};
}

}  // namespace tamis::leveldb
