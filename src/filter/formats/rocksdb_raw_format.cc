// RocksDB's filter bytes. The last five identify them:
//
//     [-5]  1 … 127  Legacy Bloom, that many hashes; [-4 … -1] u32 little-endian, cache lines
//           0        maybe for every key
//           0xff     newer Bloom; [-4] 0 FastLocalBloom; [-3] low 5 bits hashes, top 3 bits 0; [-2 … -1] 0
//           0xfe     Ribbon; [-4] seed, [-3 … -1] u24 little-endian, blocks
//           others   reserved: maybe for every key
//
// Five bytes or fewer hold no keys. Legacy: the hash selects a line, then positions inside it as in LevelDB.
// FastLocalBloom: the low half of XXPH3 selects a 64-byte block, the high half the positions inside it.
//
// Ribbon ("Standard128Ribbon") is read-only. The body consists of 128-bit segments, little-endian. A block of 128 slots
// has one segment per column, that is, per bit of the result. If the number of segments is not a multiple of the
// blocks, the first blocks have one column fewer. A key covers 128 consecutive slots from any start, so it touches a
// block and the next one.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/try.h"
#include "filter/formats/classic.h"
#include "filter/formats/foreign_hash.h"
#include "filter/formats/rocksdb_filter.h"

namespace tamis::foreign {
namespace {

constexpr std::size_t kTrailerBytes = 5;
constexpr std::uint8_t kNewBloomMarker = 0xff;
constexpr std::uint8_t kRibbonMarker = 0xfe;
constexpr std::size_t kLineBytes = 64;
constexpr std::uint32_t kHashLimit = 30;

class LegacyPositions {
 public:
  LegacyPositions(std::string_view key, const BloomShape& shape)
      : hash_(leveldb_hash32(key, TailBytes::kSignExtended)), step_(std::rotr(hash_, 17)), mask_(shape.block_bits - 1) {
    line_start_ = hash_ % (shape.bits / shape.block_bits) * shape.block_bits;
  }
  std::uint64_t next() {
    const std::uint64_t position = line_start_ + (hash_ & mask_);
    hash_ += step_;
    return position;
  }

 private:
  std::uint32_t hash_;
  std::uint32_t step_;
  std::uint32_t mask_;
  std::uint64_t line_start_;
};

class FastLocalPositions {
 public:
  FastLocalPositions(std::string_view key, const BloomShape& shape) {
    const std::uint64_t hash = xxph3_64(key);
    const auto blocks = static_cast<std::uint32_t>(shape.bits / shape.block_bits);
    block_start_ = std::uint64_t{fast_range32(static_cast<std::uint32_t>(hash), blocks)} * shape.block_bits;
    hash_ = static_cast<std::uint32_t>(hash >> 32);
  }
  std::uint64_t next() {
    const std::uint64_t position = block_start_ + (hash_ >> 23);
    hash_ *= 0x9e3779b9U;
    return position;
  }

 private:
  std::uint64_t block_start_;
  std::uint32_t hash_;
};

constexpr BloomScheme kLegacyScheme = kBloomScheme<LegacyPositions, BitOrder::kBytes>;
constexpr BloomScheme kFastLocalScheme = kBloomScheme<FastLocalPositions, BitOrder::kBytes>;

__extension__ using Wide = unsigned __int128;
constexpr std::uint32_t kSlotsPerBlock = 128;
constexpr std::size_t kSegmentBytes = 16;
constexpr std::uint32_t kMaxColumns = 32;

Wide load_segment(const std::byte* at) {
  return (static_cast<Wide>(load_le<std::uint64_t>(at + 8)) << 64) | load_le<std::uint64_t>(at);
}

std::uint32_t parity(Wide value) {
  const auto folded = static_cast<std::uint64_t>(value) ^ static_cast<std::uint64_t>(value >> 64);
  return static_cast<std::uint32_t>(std::popcount(folded)) & 1;
}

/// The seed in the file counts attempts; this is its effect on the hash.
std::uint64_t raw_seed(std::uint32_t ordinal) {
  std::uint64_t mixed = ordinal * 0xc78219a23eeadd03U;
  mixed ^= (mixed & 0xf0f0f0f0f0f0f0f0U) >> 4;
  return mixed & 0xffffffffU;
}

/// Invariants: columns_ <= 32, and every segment that a key can touch lies in body_: the last start, slot
/// 128·(blocks-1), touches only the last block, and a block never has more columns than the next.
class RibbonProbe final : public Probe {
 public:
  RibbonProbe(Bytes body, std::uint32_t blocks, std::uint32_t seed)
      : body_(body), blocks_(blocks), seed_(seed), raw_seed_(raw_seed(seed)) {
    const std::uint64_t segments = body.size() / kSegmentBytes;
    columns_ = (segments + blocks - 1) / blocks;
    short_blocks_ = columns_ * blocks - segments;
    if (columns_ > kMaxColumns) {
      columns_ = kMaxColumns;
      short_blocks_ = 0;
    }
  }

  [[nodiscard]] bool may_contain(std::string_view key) const override {
    const std::uint64_t hash = (xxph3_64(key) ^ raw_seed_) * 0x6193d459236a3a0dU;
    const std::uint64_t starts = std::uint64_t{kSlotsPerBlock} * blocks_ - (kSlotsPerBlock - 1);
    const std::uint64_t start = fast_range(hash, starts);
    const std::uint64_t block = start / kSlotsPerBlock;
    const auto shift = static_cast<std::uint32_t>(start % kSlotsPerBlock);

    const std::uint64_t mixed = hash * 0xc28f82822b650bedU;
    const Wide row = (static_cast<Wide>(mixed) << 64) | (mixed ^ 0xc367844a6e52731dU) | 1;
    const auto expected = static_cast<std::uint32_t>(byte_swapped(mixed));

    const std::uint64_t columns = columns_ - (block < short_blocks_ ? 1 : 0);
    const std::uint64_t segment = block * columns_ - std::min(block, short_blocks_);
    for (std::uint64_t i = 0; i < columns; ++i) {
      Wide product = segment_at(segment + i) & (row << shift);
      if (shift != 0) product ^= segment_at(segment + columns + i) & (row >> (kSlotsPerBlock - shift));
      if (parity(product) != ((expected >> i) & 1)) return false;
    }
    return true;
  }

  void describe(ForeignInfo& info) const override {
    FillEstimate estimate;
    estimate.add(body_.size() * 8, count_bits(body_, body_.size() * 8, BitOrder::kBytes), 1);
    estimate.write_to(info);
    info.detail = "Ribbon";
    info.hashes = static_cast<std::uint32_t>(columns_);
    info.seed = seed_;
    // The bits of a solved system say nothing about its keys, but its size does: about 1.05 slots per key.
    const double slots = double{kSlotsPerBlock} * blocks_;
    const double short_part = static_cast<double>(short_blocks_) / blocks_;
    info.estimated_keys = slots / 1.05;
    info.estimated_rate = (1 + short_part) / static_cast<double>(std::uint64_t{1} << columns_);
  }

 private:
  [[nodiscard]] Wide segment_at(std::uint64_t index) const {
    TAMIS_INVARIANT((index + 1) * kSegmentBytes <= body_.size());
    return load_segment(body_.data() + index * kSegmentBytes);
  }

  Bytes body_;
  std::uint64_t blocks_;
  std::uint32_t seed_;
  std::uint64_t raw_seed_;
  std::uint64_t columns_ = 0;
  std::uint64_t short_blocks_ = 0;  // The first blocks, which have one column fewer.
};

ProbePtr constant(bool answer) { return std::make_unique<ConstantProbe>(answer); }

Result<ProbePtr> open_legacy(Bytes body, std::uint32_t hashes, std::uint32_t lines) {
  if (lines == 0 || body.size() % lines != 0 || !std::has_single_bit(body.size() / lines)) return constant(true);
  const std::uint64_t line_bits = body.size() / lines * 8;
  if (line_bits > std::uint64_t{1} << 31) return constant(true);  // Lines of 256 MiB: no writer had the memory.
  const BloomShape shape = {
      .bits = body.size() * 8, .hashes = hashes, .block_bits = static_cast<std::uint32_t>(line_bits)};
  return ProbePtr(std::make_unique<BloomProbe>(kLegacyScheme, shape, body, "LegacyBloom"));
}

Result<ProbePtr> open_fast_local(Bytes body, Bytes trailer, std::string_view name) {
  const auto at = [trailer](std::size_t i) { return std::to_integer<std::uint32_t>(trailer[i]); };
  const std::uint32_t hashes = at(2) & 31;
  const bool known = at(1) == 0 && at(2) >> 5 == 0 && at(3) == 0 && at(4) == 0;
  if (!known || hashes < 1 || hashes > kHashLimit) return constant(true);
  if (body.size() % kLineBytes != 0 || body.size() / kLineBytes > 0xffffffffU) {
    return Status::corruption(fmt::format("{}: {} bytes are not whole 64-byte blocks", name, body.size()));
  }
  const BloomShape shape = {.bits = body.size() * 8, .hashes = hashes, .block_bits = kLineBytes * 8};
  return ProbePtr(std::make_unique<BloomProbe>(kFastLocalScheme, shape, body, "FastLocalBloom"));
}

Result<ProbePtr> open_ribbon(Bytes body, std::uint32_t packed, std::string_view name) {
  const std::uint32_t blocks = packed >> 8;
  if (blocks < 2) return constant(true);
  if (body.size() % kSegmentBytes != 0) {
    return Status::corruption(fmt::format("{}: {} bytes are not whole 16-byte segments", name, body.size()));
  }
  return ProbePtr(std::make_unique<RibbonProbe>(body, blocks, packed & 0xff));
}

Result<ProbePtr> open(const Input& input) { return open_rocksdb_filter(input.bytes, input.name); }

/// A trailer that matches the length is no accident; a constant answer could be anything.
Fit fit(const Input& input) {
  const Result<ProbePtr> probe = open(input);
  if (!probe.ok()) return Fit::kNo;
  if (input.bytes.size() <= kTrailerBytes) return Fit::kPossible;
  ForeignInfo info;
  (*probe)->describe(info);
  const Bytes trailer = input.bytes.last(kTrailerBytes);
  const std::uint64_t lines = load_le<std::uint32_t>(trailer.data() + 1);
  const std::size_t body_bytes = input.bytes.size() - kTrailerBytes;
  if (info.detail == "FastLocalBloom") return Fit::kStrong;
  if (info.detail == "LegacyBloom") return lines * kLineBytes == body_bytes ? Fit::kStrong : Fit::kPossible;
  const std::uint64_t ribbon_blocks = lines >> 8;
  const bool columns_make_sense = ribbon_blocks <= body_bytes / 16 && body_bytes / 16 <= 32 * ribbon_blocks;
  return info.detail == "Ribbon" && columns_make_sense ? Fit::kStrong : Fit::kPossible;
}

Result<std::string> build_lines(const BloomScheme& scheme, std::uint64_t lines, std::uint32_t hashes,
                                const std::vector<std::string_view>& keys, std::string_view trailer) {
  const BloomShape shape = {.bits = lines * kLineBytes * 8, .hashes = hashes, .block_bits = kLineBytes * 8};
  return build_bits(scheme, shape, keys, {}, lines * kLineBytes, trailer);
}

/// Whole bits only, as in the old filter; hashes and an odd number of lines follow from them.
Result<std::string> build_legacy(const std::vector<std::string_view>& keys, double bits_per_key) {
  const double whole_bits = std::round(bits_per_key);
  const auto hashes = static_cast<std::uint32_t>(std::clamp(std::floor(whole_bits * 0.69), 1.0, double{kHashLimit}));
  const std::uint64_t wanted = keys.size() * static_cast<std::uint64_t>(whole_bits);
  const std::uint64_t lines = keys.empty() ? 0 : (wanted + kLineBytes * 8 - 1) / (kLineBytes * 8) | 1;
  if (lines > 0xffffffffU) return Status::invalid_argument("too many keys for a legacy filter");
  std::string trailer(1, static_cast<char>(hashes));
  append_le(trailer, static_cast<std::uint32_t>(lines));
  return build_lines(kLegacyScheme, lines, hashes, keys, trailer);
}

std::uint32_t fast_local_hashes(std::uint64_t millibits_per_key) {
  constexpr std::uint64_t kUpTo[] = {2080, 3580, 5100, 6640, 8300, 10070, 11720, 14001, 16050, 18300, 22001, 25501};
  for (std::uint32_t i = 0; i < std::size(kUpTo); ++i) {
    if (millibits_per_key <= kUpTo[i]) return i + 1;
  }
  return millibits_per_key > 50000 ? 24 : static_cast<std::uint32_t>((millibits_per_key - 1) / 2000 - 1);
}

Result<std::string> build_fast_local(const std::vector<std::string_view>& keys, double bits_per_key) {
  if (keys.empty()) return std::string();
  const auto millibits = static_cast<std::uint64_t>(std::llround(bits_per_key * 1000));
  const std::uint64_t blocks = (keys.size() * millibits + 511'999) / 512'000;
  if (blocks > 0xffffffffU) return Status::invalid_argument("too many keys for one filter");
  const std::uint32_t hashes = fast_local_hashes(millibits);
  const std::string trailer = {static_cast<char>(kNewBloomMarker), 0, static_cast<char>(hashes), 0, 0};
  return build_lines(kFastLocalScheme, blocks, hashes, keys, trailer);
}

/// Tables hold sorted keys, and the builder drops a hash equal to the previous one.
template <typename HashFn>
std::vector<std::string_view> as_a_table_adds_them(std::span<const std::string> keys, HashFn hash) {
  std::vector<std::string_view> sorted(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end());
  const auto same_hash = [&hash](std::string_view a, std::string_view b) { return hash(a) == hash(b); };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same_hash), sorted.end());
  return sorted;
}

Result<std::string> build_file(std::span<const std::string> keys, const BuildOptions& options) {
  const double bits_per_key = options.bits_per_key.value_or(10);
  if (bits_per_key < 1 || bits_per_key > 100) {
    return Status::invalid_argument(fmt::format("RocksDB takes 1 to 100 bits per key, not {}", bits_per_key));
  }
  if (options.variant.empty() || options.variant == "5") {
    return build_fast_local(as_a_table_adds_them(keys, xxph3_64), bits_per_key);
  }
  if (options.variant != "4") {
    return Status::invalid_argument(
        fmt::format("rocksdb-raw has the variants 4 (Legacy) and 5 (FastLocalBloom), not \"{}\"", options.variant));
  }
  const auto hash = [](std::string_view key) { return leveldb_hash32(key, TailBytes::kSignExtended); };
  return build_legacy(as_a_table_adds_them(keys, hash), bits_per_key);
}

}  // namespace

Result<ProbePtr> open_rocksdb_filter(Bytes filter, std::string_view name) {
  if (filter.size() <= kTrailerBytes) return constant(false);
  const Bytes body = filter.first(filter.size() - kTrailerBytes);
  const Bytes trailer = filter.last(kTrailerBytes);
  const auto marker = std::to_integer<std::uint8_t>(trailer[0]);
  const auto packed = load_le<std::uint32_t>(trailer.data() + 1);
  if (marker == kNewBloomMarker) return open_fast_local(body, trailer, name);
  if (marker == kRibbonMarker) return open_ribbon(body, packed, name);
  if (marker == 0 || marker > 127) return constant(true);
  return open_legacy(body, marker, packed);
}

constinit const Format kRocksDbRawFormat = {
    .info = {.name = "rocksdb-raw",
             .system = "RocksDB",
             .summary = "one filter block: Legacy Bloom, FastLocalBloom; Ribbon read only",
             .build_parameters = "bits per key (10), variant 4 (Legacy) or 5 (FastLocalBloom, default)",
             .writable = true},
    .takes = kTakesBitsPerKey | kTakesVariant,
    .open = open,
    .build = build_file,
    .fit = fit};

}  // namespace tamis::foreign
