// LevelDB's tables (.ldb, older .sst): the parts needed to reach their filters.
//
//     footer, the last 48 bytes: metaindex handle, index handle, zeros to 40, u64 little-endian magic
//     metaindex block            "filter.leveldb.BuiltinBloomFilter2" → handle of the filter block
//     index block                separator → handle of a data block
//     filter block               filters, u32 start of each, u32 start of those starts, u8 base
//
// The filter of a data block is number offset >> base. A key after the last separator is in no block.
#include <fmt/core.h>

#include <vector>

#include "base/try.h"
#include "filter/formats/leveldb_bloom.h"
#include "filter/formats/registry.h"
#include "filter/formats/table_block_format.h"

namespace tamis::foreign {
namespace {

constexpr std::size_t kFooterBytes = 48;
constexpr std::string_view kFilterKey = "filter.leveldb.BuiltinBloomFilter2";

/// Invariant: filters_ has one probe per start in the filter block. Beyond its end, and for invalid starts, LevelDB
/// answers maybe.
class LevelDbTableProbe final : public Probe {
 public:
  LevelDbTableProbe(std::vector<IndexEntry> index, std::vector<ProbePtr> filters, std::uint32_t base_log2)
      : index_(std::move(index)), filters_(std::move(filters)), base_log2_(base_log2) {}

  [[nodiscard]] bool may_contain(std::string_view key) const override {
    const std::size_t block = find_separator(index_, key);
    if (block == index_.size()) return false;
    const std::uint64_t number = base_log2_ < 64 ? index_[block].handle.offset >> base_log2_ : 0;
    return number >= filters_.size() || filters_[number]->may_contain(key);
  }

  void describe(ForeignInfo& info) const override {
    std::uint64_t used = 0;
    for (const ProbePtr& filter : filters_) {
      ForeignInfo one;
      filter->describe(one);
      if (one.bits == 0) continue;
      ++used;
      info.hashes = one.hashes;
      info.bits += one.bits;
      info.fill += one.fill * static_cast<double>(one.bits);
      info.estimated_keys += one.estimated_keys;
      info.estimated_rate += one.estimated_rate * static_cast<double>(one.bits);
    }
    info.detail = fmt::format("{} filters for {} blocks", used, index_.size());
    if (info.bits == 0) return;
    info.fill /= static_cast<double>(info.bits);
    info.estimated_rate /= static_cast<double>(info.bits);
  }

 private:
  std::vector<IndexEntry> index_;
  std::vector<ProbePtr> filters_;
  std::uint32_t base_log2_;
};

struct Footer {
  BlockHandle metaindex;
  BlockHandle index;
};

Result<Footer> read_footer(const Input& input) {
  const ByteReader whole(input.bytes, input.name);
  if (input.bytes.size() < kFooterBytes) return whole.corruption("too short for a table's footer");
  const Bytes tail = input.bytes.last(kFooterBytes);
  const auto magic = load_le<std::uint64_t>(tail.data() + kFooterBytes - 8);
  if (magic != kLevelDbMagic) return whole.corruption(fmt::format("the magic number is {:#x}", magic));
  ByteReader reader(tail, input.name);
  TAMIS_TRY(const BlockHandle metaindex, read_handle(reader));
  TAMIS_TRY(const BlockHandle index, read_handle(reader));
  return Footer{metaindex, index};
}

Result<BlockHandle> find_filter(const TableBytes& table, BlockHandle metaindex) {
  TAMIS_TRY(const BlockContents block, read_block(table, metaindex, "the metaindex"));
  TAMIS_TRY(const std::vector<BlockEntry> entries, read_block_entries(block.bytes(), table.name));
  for (const BlockEntry& entry : entries) {
    if (entry.key != kFilterKey) continue;
    ByteReader reader(as_bytes(entry.value), table.name);
    return read_handle(reader);
  }
  return Status::not_supported(fmt::format("{}: the table has no filter of LevelDB's own kind", table.name));
}

/// One probe per start. An empty range holds no key; invalid ranges answer maybe.
std::vector<ProbePtr> open_filters(Bytes block, std::size_t starts_at) {
  const std::size_t count = (block.size() - 5 - starts_at) / 4;
  std::vector<ProbePtr> filters;
  filters.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* const at = block.data() + starts_at + 4 * i;
    const auto begin = load_le<std::uint32_t>(at);
    const auto end = load_le<std::uint32_t>(at + 4);  // The last start is followed by the offset of the starts.
    if (begin == end) {
      filters.push_back(std::make_unique<ConstantProbe>(false));
    } else if (begin < end && end <= starts_at) {
      filters.push_back(open_leveldb_bloom(block.subspan(begin, end - begin)));
    } else {
      filters.push_back(std::make_unique<ConstantProbe>(true));
    }
  }
  return filters;
}

Result<ProbePtr> open(const Input& input) {
  TAMIS_TRY(const Footer footer, read_footer(input));
  const TableBytes table = {.file = input.bytes, .name = input.name};
  TAMIS_TRY(const BlockHandle filter_handle, find_filter(table, footer.metaindex));
  TAMIS_TRY(const BlockContents index_block, read_block(table, footer.index, "the index"));
  TAMIS_TRY(std::vector<IndexEntry> index, read_index_entries(index_block.bytes(), input.name));
  TAMIS_TRY(const BlockContents filter_block, read_block(table, filter_handle, "the filter block"));
  if (filter_block.is_owned()) {
    return Status::not_supported(fmt::format("{}: a compressed filter block, which LevelDB never writes", input.name));
  }
  const Bytes block = filter_block.bytes();
  const ByteReader whole(block, input.name);
  if (block.size() < 5) return whole.corruption("a filter block too short for its trailer");
  const auto base_log2 = std::to_integer<std::uint32_t>(block.back());
  const std::size_t starts_at = load_le<std::uint32_t>(block.data() + block.size() - 5);
  if (starts_at > block.size() - 5) return whole.corruption("a filter block with starts outside it");
  return ProbePtr(std::make_unique<LevelDbTableProbe>(std::move(index), open_filters(block, starts_at), base_log2));
}

/// The magic number suffices, so that a damaged table is reported as one; but RocksDB's first tables share it.
Fit fit(const Input& input) {
  if (!read_footer(input).ok()) return Fit::kNo;
  return open(input).status().code() == StatusCode::kNotSupported ? Fit::kNo : Fit::kStrong;
}

}  // namespace

constinit const Format kLevelDbTableFormat = {
    .info = {.name = "leveldb-table", .system = "LevelDB", .summary = "a whole table file (.ldb)"},
    .takes = 0,
    .open = open,
    .build = nullptr,
    .fit = fit};

}  // namespace tamis::foreign
