#include "filter/formats/table_block_format.h"

#include <fmt/core.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include "base/check.h"
#include "base/try.h"
#include "filter/formats/foreign_hash.h"

namespace tamis::foreign {
namespace {

constexpr std::uint8_t kUncompressed = 0;
constexpr std::uint8_t kSnappy = 1;

std::uint32_t low32(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

/// A reader over a block's entries, without the restart array.
Result<ByteReader> entries_of(Bytes contents, std::string_view name) {
  const ByteReader whole(contents, name);
  if (contents.size() < 4) return whole.corruption("a block too short for its restarts");
  const std::uint64_t restarts = load_le<std::uint32_t>(contents.data() + contents.size() - 4);
  if (restarts > contents.size() / 4 - 1) return whole.corruption(fmt::format("a block with {} restarts", restarts));
  return ByteReader(contents.first(contents.size() - 4 * (restarts + 1)), name);
}

/// Turns `key` from the previous key into the next.
Status read_key(ByteReader& reader, std::string& key, std::uint64_t shared, std::uint64_t unshared) {
  if (shared > key.size()) return reader.corruption("a key that shares more than the previous key has");
  TAMIS_TRY(const Bytes rest, reader.read(unshared, "a key"));
  key.resize(static_cast<std::size_t>(shared));
  key.append(as_text(rest));
  return {};
}

Result<BlockHandle> read_index_value(ByteReader& reader, bool is_delta, BlockHandle before) {
  if (!is_delta) return read_handle(reader);
  TAMIS_TRY(const std::uint64_t zigzag, reader.read_varint("the difference of two sizes"));
  const std::uint64_t difference = (zigzag >> 1) ^ (0 - (zigzag & 1));
  return BlockHandle{before.offset + before.size + kBlockTrailerBytes, before.size + difference};
}

struct StoredBlock {
  Bytes contents;
  std::uint8_t compression;
};

Result<StoredBlock> read_stored_block(const TableBytes& table, BlockHandle handle, std::string_view what) {
  ByteReader reader(table.file, table.name);
  TAMIS_TRY_STATUS(reader.skip(handle.offset, what));
  TAMIS_TRY(const Bytes contents, reader.read(handle.size, what));
  TAMIS_TRY(const std::uint8_t compression, reader.read_le<std::uint8_t>("a block's compression"));
  TAMIS_TRY(const std::uint32_t stored, reader.read_le<std::uint32_t>("a block's checksum"));
  const Bytes checked(contents.data(), contents.size() + 1);
  const std::uint32_t computed = block_checksum(table.checksum, checked) + table.context_at(handle.offset);
  if (table.checksum != BlockChecksum::kNone && stored != computed) {
    return reader.corruption(fmt::format("the checksum of {} is {:#010x}, computed {:#010x}", what, stored, computed));
  }
  return StoredBlock{contents, compression};
}

}  // namespace

Result<BlockHandle> read_handle(ByteReader& reader) {
  TAMIS_TRY(const std::uint64_t offset, reader.read_varint("the offset of a block"));
  TAMIS_TRY(const std::uint64_t size, reader.read_varint("the size of a block"));
  return BlockHandle{offset, size};
}

Result<BlockHandle> handle_in(std::string_view value, std::string_view name) {
  ByteReader reader(as_bytes(value), name);
  return read_handle(reader);
}

std::uint32_t block_checksum(BlockChecksum kind, Bytes bytes) {
  TAMIS_CHECK(!bytes.empty());
  switch (kind) {
    case BlockChecksum::kNone: return 0;
    case BlockChecksum::kCrc32c: return masked_crc32c(crc32c(bytes));
    case BlockChecksum::kXxh32: return XXH32(bytes.data(), bytes.size(), 0);
    case BlockChecksum::kXxh64: return low32(XXH64(bytes.data(), bytes.size(), 0));
    case BlockChecksum::kXxh3:
      return low32(XXH3_64bits(bytes.data(), bytes.size() - 1)) ^
             (std::to_integer<std::uint32_t>(bytes.back()) * 0x6b9083d9U);
  }
  return 0;
}

std::uint32_t TableBytes::context_at(std::uint64_t offset) const {
  return base_context == 0 ? 0 : base_context ^ (low32(offset) + low32(offset >> 32));
}

Result<std::string> read_block(const TableBytes& table, BlockHandle handle, std::string_view what) {
  TAMIS_TRY(const StoredBlock block, read_stored_block(table, handle, what));
  if (block.compression == kUncompressed) return std::string(as_text(block.contents));
  if (block.compression == kSnappy) return unpack_snappy(block.contents, fmt::format("{}: {}", table.name, what));
  return Status::not_supported(
      fmt::format("{}: {} is compressed by method {}; only Snappy is supported", table.name, what, block.compression));
}

Result<Bytes> read_filter_block(const TableBytes& table, BlockHandle handle) {
  TAMIS_TRY(const StoredBlock block, read_stored_block(table, handle, "a filter block"));
  if (block.compression == kUncompressed) return block.contents;
  return Status::not_supported(fmt::format("{}: a compressed filter block, which is never written", table.name));
}

Result<BlockDictionary> read_dictionary(const TableBytes& table, BlockHandle handle, std::string_view what) {
  TAMIS_TRY(const std::string block, read_block(table, handle, what));
  TAMIS_TRY(ByteReader reader, entries_of(as_bytes(block), table.name));
  BlockDictionary entries;
  std::string key;
  while (!reader.at_end()) {
    TAMIS_TRY(const std::uint64_t shared, reader.read_varint("a shared length"));
    TAMIS_TRY(const std::uint64_t unshared, reader.read_varint("an unshared length"));
    TAMIS_TRY(const std::uint64_t value_bytes, reader.read_varint("the length of a value"));
    TAMIS_TRY_STATUS(read_key(reader, key, shared, unshared));
    TAMIS_TRY(const Bytes value, reader.read(value_bytes, "a value"));
    entries.insert_or_assign(key, std::string(as_text(value)));
  }
  return entries;
}

Result<std::vector<IndexEntry>> read_index(const TableBytes& table, BlockHandle handle, IndexEncoding encoding) {
  TAMIS_TRY(const std::string block, read_block(table, handle, "the index"));
  TAMIS_TRY(ByteReader reader, entries_of(as_bytes(block), table.name));
  const std::size_t suffix = encoding.keys_are_user_keys ? 0 : kInternalKeySuffixBytes;
  std::vector<IndexEntry> entries;
  std::string key;
  BlockHandle last;
  while (!reader.at_end()) {
    TAMIS_TRY(const std::uint64_t shared, reader.read_varint("a shared length"));
    TAMIS_TRY(const std::uint64_t unshared, reader.read_varint("an unshared length"));
    if (!encoding.values_are_deltas) TAMIS_TRY_STATUS(reader.read_varint("the length of a value").status());
    TAMIS_TRY_STATUS(read_key(reader, key, shared, unshared));
    TAMIS_TRY(last, read_index_value(reader, encoding.values_are_deltas && shared != 0, last));
    if (key.size() < suffix) return reader.corruption("an index key shorter than its suffix");
    entries.push_back({key.substr(0, key.size() - suffix), last});
  }
  // Lookups use binary search; in another order, they would miss keys.
  const auto in_order = [](const IndexEntry& a, const IndexEntry& b) { return a.separator < b.separator; };
  if (!std::is_sorted(entries.begin(), entries.end(), in_order)) {
    return reader.corruption("an index that is not in bytewise order");
  }
  return entries;
}

std::size_t find_separator(const std::vector<IndexEntry>& index, std::string_view user_key) {
  const auto found =
      std::lower_bound(index.begin(), index.end(), user_key,
                       [](const IndexEntry& entry, std::string_view key) { return entry.separator < key; });
  return static_cast<std::size_t>(found - index.begin());
}

}  // namespace tamis::foreign
