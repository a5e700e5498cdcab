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
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

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
  if (body.size() % 16 != 0) {
    return Status::corruption(fmt::format("{}: {} bytes are not whole 16-byte segments", name, body.size()));
  }
  return open_rocksdb_ribbon(body, blocks, packed & 0xff);
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
  std::ranges::sort(sorted);
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
