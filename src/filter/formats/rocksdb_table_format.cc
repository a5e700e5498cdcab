// RocksDB's block-based tables (.sst): the parts needed to reach their filters.
//
//     footer, the last 53 bytes: u8 checksum type, 40 bytes, u32 version, u64 magic; little-endian
//         version 1 … 5   the 40 bytes are the metaindex and index handles
//         from 6          3e 00 7a 00, u32 checksum of the footer, u32 base context, u32 metaindex size, 24 zeros;
//                         the metaindex ends where its trailer and then the footer begin
//     version 0 has LevelDB's footer and magic
//     metaindex block     "fullfilter.<policy>" → handle of the filter; "partitionedfilter.<policy>" → handle of an
//                         index of filters by key range; "rocksdb.properties" → handle of the properties
#include <fmt/core.h>

#include <vector>

#include "base/try.h"
#include "filter/formats/format.h"
#include "filter/formats/rocksdb_filter.h"
#include "filter/formats/table_block_format.h"

namespace tamis::foreign {
namespace {

constexpr std::uint64_t kMagic = 0x88e241b785f4cff7U;
constexpr std::size_t kFooterBytes = 53;
constexpr std::size_t kVersion0FooterBytes = 48;
constexpr std::uint32_t kContextVersion = 6;  // From here on, checksums depend on the offset.
constexpr std::uint32_t kNewestVersion = 7;   // The newest version whose footer is known.
constexpr std::string_view kPolicy = "rocksdb.BuiltinBloomFilter";

/// One filter per key range: that of the first separator not before the key, else the last.
class PartitionedProbe final : public Probe {
 public:
  PartitionedProbe(std::vector<IndexEntry> index, std::vector<ProbePtr> filters)
      : index_(std::move(index)), filters_(std::move(filters)) {}

  [[nodiscard]] bool may_contain(std::string_view key) const override {
    if (filters_.empty()) return false;
    return filters_[std::min(find_separator(index_, key), filters_.size() - 1)]->may_contain(key);
  }

  void describe(ForeignInfo& info) const override {
    std::string kind;
    for (const ProbePtr& filter : filters_) {
      ForeignInfo one;
      filter->describe(one);
      kind = one.detail;
      info.hashes = one.hashes;
      info.bits += one.bits;
      info.fill += one.fill * static_cast<double>(one.bits);
      info.estimated_keys += one.estimated_keys;
      info.estimated_rate += one.estimated_rate / static_cast<double>(filters_.size());
    }
    if (info.bits > 0) info.fill /= static_cast<double>(info.bits);
    info.detail = fmt::format("{} partitions, {}", filters_.size(), kind);
  }

 private:
  std::vector<IndexEntry> index_;
  std::vector<ProbePtr> filters_;
};

struct Footer {
  TableBytes table;
  BlockHandle metaindex;
};

Result<BlockChecksum> checked_checksum(const ByteReader& reader, std::uint8_t kind) {
  if (kind <= 4) return BlockChecksum{kind};
  return reader.corruption(fmt::format("unknown checksum type {}", kind));
}

/// From version 6, the footer has its own checksum, computed with that field zero.
Result<Footer> read_context_footer(const Input& input, ByteReader reader, BlockChecksum checksum) {
  constexpr std::size_t kChecksumAt = 5;
  const std::uint64_t footer_at = input.bytes.size() - kFooterBytes;
  TAMIS_TRY(const std::uint32_t signature, reader.read_le<std::uint32_t>("the footer's second magic"));
  if (signature != 0x007a003eU) return reader.corruption(fmt::format("the footer's second magic is {:#x}", signature));
  TAMIS_TRY(const std::uint32_t stored, reader.read_le<std::uint32_t>("the footer's checksum"));
  TAMIS_TRY(const std::uint32_t base_context, reader.read_le<std::uint32_t>("the base context"));
  TAMIS_TRY(const std::uint32_t metaindex_bytes, reader.read_le<std::uint32_t>("the metaindex size"));

  const TableBytes table = {input.bytes, input.name, checksum, base_context};
  std::string zeroed(as_text(input.bytes.last(kFooterBytes)));
  store_le<std::uint32_t>(zeroed.data() + kChecksumAt, 0);
  const std::uint32_t computed = block_checksum(checksum, as_bytes(zeroed)) + table.context_at(footer_at);
  if (checksum != BlockChecksum::kNone && stored != computed) {
    return reader.corruption(fmt::format("the footer's checksum is {:#010x}, computed {:#010x}", stored, computed));
  }
  if (std::uint64_t{metaindex_bytes} + kBlockTrailerBytes > footer_at) {
    return reader.corruption(fmt::format("a metaindex of {} bytes is longer than the file", metaindex_bytes));
  }
  return Footer{table, {footer_at - kBlockTrailerBytes - metaindex_bytes, metaindex_bytes}};
}

Result<Footer> read_version0_footer(const Input& input) {
  ByteReader reader(input.bytes.last(kVersion0FooterBytes), input.name);
  TAMIS_TRY(const BlockHandle metaindex, read_handle(reader));
  return Footer{{input.bytes, input.name}, metaindex};
}

Result<Footer> read_footer(const Input& input) {
  const ByteReader whole(input.bytes, input.name);
  if (input.bytes.size() < kVersion0FooterBytes) return whole.corruption("too short for a table's footer");
  const auto magic = load_le<std::uint64_t>(input.bytes.last(8).data());
  if (magic == kLevelDbMagic) return read_version0_footer(input);
  if (magic != kMagic) return whole.corruption(fmt::format("the magic number is {:#x}", magic));
  if (input.bytes.size() < kFooterBytes) return whole.corruption("too short for a table's footer");
  ByteReader reader(input.bytes.last(kFooterBytes), input.name);
  TAMIS_TRY(const std::uint8_t checksum_type, reader.read_le<std::uint8_t>("the checksum type"));
  TAMIS_TRY(const BlockChecksum checksum, checked_checksum(reader, checksum_type));
  const auto version = load_le<std::uint32_t>(input.bytes.last(12).data());
  if (version > kNewestVersion) {
    return Status::not_supported(
        fmt::format("{}: table version {} is newer than {}", input.name, version, kNewestVersion));
  }
  if (version >= kContextVersion) return read_context_footer(input, reader, checksum);
  TAMIS_TRY(const BlockHandle metaindex, read_handle(reader));
  return Footer{{input.bytes, input.name, checksum}, metaindex};
}

Result<BlockDictionary> read_properties(const TableBytes& table, const BlockDictionary& metaindex) {
  const auto found = metaindex.find("rocksdb.properties");
  if (found == metaindex.end()) return BlockDictionary();
  TAMIS_TRY(const BlockHandle handle, handle_in(found->second, table.name));
  return read_dictionary(table, handle, "the properties");
}

/// Numeric properties used as flags: set unless absent or 0.
bool is_set(const BlockDictionary& properties, std::string_view name) {
  const auto found = properties.find(name);
  return found != properties.end() && !found->second.empty() && found->second != std::string_view("\0", 1);
}

Result<ProbePtr> open_filter_at(const TableBytes& table, BlockHandle handle) {
  TAMIS_TRY(const Bytes block, read_filter_block(table, handle));
  return open_rocksdb_filter(block, table.name);
}

Result<ProbePtr> open_partitions(const TableBytes& table, BlockHandle handle, const BlockDictionary& properties) {
  const auto comparator = properties.find("rocksdb.comparator");
  if (comparator != properties.end() && comparator->second != "leveldb.BytewiseComparator") {
    return Status::not_supported(
        fmt::format("{}: filters partitioned by comparator {}", table.name, comparator->second));
  }
  const IndexEncoding encoding = {.values_are_deltas = is_set(properties, "rocksdb.index.value.is.delta.encoded"),
                                  .keys_are_user_keys = is_set(properties, "rocksdb.index.key.is.user.key")};
  TAMIS_TRY(std::vector<IndexEntry> index, read_index(table, handle, encoding));
  std::vector<ProbePtr> filters;
  filters.reserve(index.size());
  for (const IndexEntry& entry : index) {
    TAMIS_TRY(ProbePtr filter, open_filter_at(table, entry.handle));
    filters.push_back(std::move(filter));
  }
  return ProbePtr(std::make_unique<PartitionedProbe>(std::move(index), std::move(filters)));
}

Result<ProbePtr> open(const Input& input) {
  TAMIS_TRY(const Footer footer, read_footer(input));
  const TableBytes& table = footer.table;
  TAMIS_TRY(const BlockDictionary metaindex, read_dictionary(table, footer.metaindex, "the metaindex"));
  TAMIS_TRY(const BlockDictionary properties, read_properties(table, metaindex));
  const auto whole_keys = properties.find("rocksdb.block.based.table.whole.key.filtering");
  if (whole_keys != properties.end() && whole_keys->second == "0") {
    return Status::not_supported(fmt::format("{}: the filter holds prefixes only, not keys", input.name));
  }
  for (const bool partitioned : {false, true}) {
    const auto found = metaindex.find(fmt::format("{}.{}", partitioned ? "partitionedfilter" : "fullfilter", kPolicy));
    if (found == metaindex.end()) continue;
    TAMIS_TRY(const BlockHandle handle, handle_in(found->second, input.name));
    return partitioned ? open_partitions(table, handle, properties) : open_filter_at(table, handle);
  }
  const bool obsolete = metaindex.contains(fmt::format("filter.{}", kPolicy));
  return Status::not_supported(
      fmt::format("{}: the table has {}", input.name,
                  obsolete ? "the obsolete block-based filter" : "no filter of a built-in kind"));
}

/// The magic number suffices, so that a damaged table is reported as one; with LevelDB's, it must also open.
Fit fit(const Input& input) {
  const bool has_magic = input.bytes.size() >= 8 && load_le<std::uint64_t>(input.bytes.last(8).data()) == kMagic;
  return has_magic || open(input).ok() ? Fit::kStrong : Fit::kNo;
}

}  // namespace

constinit const Format kRocksDbTableFormat = {
    .info = {.name = "rocksdb-sst",
             .system = "RocksDB",
             .summary = "a whole table file (.sst); full and partitioned filters"},
    .takes = 0,
    .open = open,
    .build = nullptr,
    .fit = fit};

}  // namespace tamis::foreign
