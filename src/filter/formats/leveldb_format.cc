// LevelDB: single filters (leveldb-raw, badger) and the filters of whole tables (leveldb-table).
//
// The filter bytes of LevelDB (`leveldb.BuiltinBloomFilter2`) and, identical, of BadgerDB tables.
//
//     –  bits, bit p at byte p/8, mask 1 << (p%8); at least 8 bytes
//     1  hashes; more than 30 are reserved and mean "maybe" for every key, like 0
//
// Position i = (h + i·ror(h, 17)) mod bits in 32 bits, h LevelDB's own hash. Fewer than two bytes hold no keys. The two
// systems differ only in sizing: Badger computes a number of hashes and uses it as bits per key.
//
// Tables (.ldb, older .sst): the parts needed to reach their filters.
//
//     footer, the last 48 bytes: metaindex handle, index handle, zeros to 40, u64 little-endian magic
//     metaindex block            "filter.leveldb.BuiltinBloomFilter2" → handle of the filter block
//     index block                separator → handle of a data block
//     filter block               filters, u32 start of each, u32 start of those starts, u8 base
//
// The filter of a data block is number offset >> base. A key after the last separator is in no block.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/try.h"
#include "filter/formats/classic.h"
#include "filter/formats/foreign_hash.h"
#include "filter/formats/table_block_format.h"

namespace tamis::foreign {
namespace {

constexpr std::uint32_t kHashLimit = 30;

class LevelDbPositions : public SteppedPositions<std::uint32_t> {
 public:
  LevelDbPositions(std::string_view key, const BloomShape& shape)
      : SteppedPositions(shape, leveldb_hash32(key, TailBytes::kUnsigned)) {
    step_ = std::rotr(value_, 17);
  }
};

constexpr BloomScheme kScheme = kBloomScheme<LevelDbPositions, BitOrder::kBytes>;

/// Reads filter bytes as LevelDB does: a constant answer without a usable filter, else the Bloom filter.
ProbePtr open_bloom(Bytes filter) {
  if (filter.size() < 2) return std::make_unique<ConstantProbe>(false);
  const auto hashes = std::to_integer<std::uint32_t>(filter.back());
  if (hashes == 0 || hashes > kHashLimit) return std::make_unique<ConstantProbe>(true);
  const Bytes bits = filter.first(filter.size() - 1);
  return std::make_unique<BloomProbe>(kScheme, BloomShape{.bits = bits.size() * 8, .hashes = hashes}, bits);
}

Result<ProbePtr> open_raw(const Input& input) { return open_bloom(input.bytes); }

/// Only the last byte can be recognised.
Fit fit_raw(const Input& input) {
  if (input.bytes.size() < 2) return Fit::kPossible;
  const auto hashes = std::to_integer<std::uint32_t>(input.bytes.back());
  return hashes >= 1 && hashes <= kHashLimit && input.bytes.size() >= 9 ? Fit::kPossible : Fit::kNo;
}

Result<std::string> build_with(std::span<const std::string> keys, const BuildOptions& options,
                               std::uint32_t bits_per_key) {
  const std::uint64_t count = options.expected_keys.value_or(keys.size());
  const double wanted = std::max(64.0, static_cast<double>(count) * bits_per_key);
  TAMIS_TRY(const std::uint64_t bits, checked_bits(wanted));
  const std::uint64_t bytes = (bits + 7) / 8;
  if (bytes * 8 > std::numeric_limits<std::uint32_t>::max()) {
    return Status::invalid_argument(fmt::format("{} bits exceed the range of a 32-bit hash", bits));
  }
  TAMIS_TRY(const std::uint32_t hashes,
            checked_hashes(options, std::clamp(std::floor(bits_per_key * 0.69), 1.0, double{kHashLimit}), kHashLimit));
  const char trailer = static_cast<char>(hashes);
  return build_bits(kScheme, {.bits = bytes * 8, .hashes = hashes}, keys, {}, bytes, {&trailer, 1});
}

Result<std::string> build_leveldb(std::span<const std::string> keys, const BuildOptions& options) {
  TAMIS_TRY(const std::uint32_t bits_per_key, whole_bits_per_key(options, 10));
  return build_with(keys, options, bits_per_key);
}

/// The optimal hashes for this rate, which Badger uses as bits per key: 1 % becomes 7 bits, about 4 %.
std::uint32_t badger_bits_per_key(std::uint64_t keys, double rate) {
  constexpr double kLn2 = 0.69314718056;  // With Badger's number of digits.
  const auto n = static_cast<double>(keys);
  const double bits = -n * std::log(rate) / (kLn2 * kLn2);
  return static_cast<std::uint32_t>(std::ceil(kLn2 * bits / n));
}

Result<std::string> build_badger(std::span<const std::string> keys, const BuildOptions& options) {
  if (options.bits_per_key && options.fpr) {
    return Status::invalid_argument("badger takes a rate or bits per key, not both");
  }
  const std::uint32_t by_rate = badger_bits_per_key(keys_to_size_for(options, keys.size()), options.fpr.value_or(0.01));
  TAMIS_TRY(const std::uint32_t bits_per_key, whole_bits_per_key(options, by_rate));
  return build_with(keys, options, bits_per_key);
}

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
      filters.push_back(open_bloom(block.subspan(begin, end - begin)));
    } else {
      filters.push_back(std::make_unique<ConstantProbe>(true));
    }
  }
  return filters;
}

Result<ProbePtr> open_table(const Input& input) {
  TAMIS_TRY(const Footer footer, read_footer(input));
  const TableBytes table = {.file = input.bytes, .name = input.name};
  TAMIS_TRY(const BlockDictionary metaindex, read_dictionary(table, footer.metaindex, "the metaindex"));
  const auto filter = metaindex.find(kFilterKey);
  if (filter == metaindex.end()) {
    return Status::not_supported(fmt::format("{}: the table has no filter of LevelDB's own kind", input.name));
  }
  TAMIS_TRY(const BlockHandle filter_handle, handle_in(filter->second, input.name));
  TAMIS_TRY(std::vector<IndexEntry> index, read_index(table, footer.index));
  TAMIS_TRY(const Bytes block, read_filter_block(table, filter_handle));
  const ByteReader whole(block, input.name);
  if (block.size() < 5) return whole.corruption("a filter block too short for its trailer");
  const auto base_log2 = std::to_integer<std::uint32_t>(block.back());
  const std::size_t starts_at = load_le<std::uint32_t>(block.data() + block.size() - 5);
  if (starts_at > block.size() - 5) return whole.corruption("a filter block with starts outside it");
  return ProbePtr(std::make_unique<LevelDbTableProbe>(std::move(index), open_filters(block, starts_at), base_log2));
}

/// The magic number suffices, so that a damaged table is reported as one; but RocksDB's first tables share it.
Fit fit_table(const Input& input) {
  if (!read_footer(input).ok()) return Fit::kNo;
  return open_table(input).status().code() == StatusCode::kNotSupported ? Fit::kNo : Fit::kStrong;
}

}  // namespace

constinit const Format kLevelDbRawFormat = {
    .info = {.name = "leveldb-raw",
             .system = "LevelDB",
             .summary = "one filter: bit array, number of hashes",
             .build_parameters = "expected keys, bits per key (10, whole), hashes",
             .self_describing = false,
             .writable = true},
    .takes = kTakesExpectedKeys | kTakesBitsPerKey | kTakesHashes,
    .open = open_raw,
    .build = build_leveldb,
    .fit = fit_raw};

constinit const Format kBadgerFormat = {
    .info = {.name = "badger",
             .system = "BadgerDB v3, v4",
             .summary = "a table's filter bytes: bit array, number of hashes",
             .build_parameters = "expected keys, rate (0.01) or bits per key (whole), hashes",
             .self_describing = false,
             .writable = true},
    .takes = kTakesExpectedKeys | kTakesRate | kTakesBitsPerKey | kTakesHashes,
    .open = open_raw,
    .build = build_badger,
    .fit = fit_raw};

constinit const Format kLevelDbTableFormat = {
    .info = {.name = "leveldb-table", .system = "LevelDB", .summary = "a whole table file (.ldb)"},
    .takes = 0,
    .open = open_table,
    .build = nullptr,
    .fit = fit_table};

}  // namespace tamis::foreign
