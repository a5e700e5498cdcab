// The layout of the public "distributed systems engineer" lab on Bloom filters.
//
//     offset size
//          0    4  hashes, little-endian
//          4    8  bits m, little-endian
//         12    –  ⌈m/8⌉ bytes, bit i at byte i/8, mask 1 << (i%8); the file ends here
//
// Position i = (h1 + i·h2) mod m, h1 and h2 the low and high 32 bits of SplitMix64(FNV-1a 64).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/try.h"
#include "filter/formats/classic.h"
#include "filter/formats/foreign_hash.h"
#include "filter/formats/registry.h"

namespace tamis::foreign {
namespace {

class LabPositions : public SteppedPositions<std::uint64_t> {
 public:
  LabPositions(std::string_view key, const BloomShape& shape) : SteppedPositions(shape) {
    const std::uint64_t hash = splitmix64(fnv1a64(key));
    value_ = hash & 0xffffffffU;
    step_ = hash >> 32;
  }
};

Result<BloomShape> read_header(ByteReader& reader, const OpenOptions&) {
  TAMIS_TRY(const std::uint32_t hashes, reader.read_le<std::uint32_t>("the number of hashes"));
  TAMIS_TRY_STATUS(check_hashes(reader, hashes));
  TAMIS_TRY(const std::uint64_t bits, reader.read_le<std::uint64_t>("the number of bits"));
  return BloomShape{.bits = bits, .hashes = hashes};
}

void write_header(std::string& file, const BloomShape& shape) {
  append_le<std::uint32_t>(file, shape.hashes);
  append_le<std::uint64_t>(file, shape.bits);
}

Result<BloomShape> size(const BuildOptions& options, std::uint64_t keys) {
  constexpr std::uint32_t kHashLimit = 30;
  TAMIS_TRY(const std::uint64_t bits, bits_by_rate(options, keys));
  const double best = std::round(static_cast<double>(bits) / static_cast<double>(keys) * std::numbers::ln2);
  TAMIS_TRY(const std::uint32_t hashes, checked_hashes(options, std::clamp(best, 1.0, double{kHashLimit}), kMaxHashes));
  return BloomShape{.bits = bits, .hashes = hashes};
}

constexpr ClassicLayout kLayout = {kBloomScheme<LabPositions, BitOrder::kBytes>, 8, read_header, write_header, size};

}  // namespace

constinit const Format kLabFormat = {
    .info = {.name = "lab",
             .system = "the lab \"Bloom filters and hashing\" of the public distributed-systems-engineer course",
             .summary = "hashes, bits, bit array; FNV-1a and SplitMix64",
             .build_parameters = "expected keys, rate (0.01); or bits and hashes",
             .writable = true},
    .takes = kTakesExpectedKeys | kTakesRate | kTakesBits | kTakesHashes,
    .open = open_as<kLayout>,
    .build = build_as<kLayout>,
    .fit = fit_if_it_opens<open_as<kLayout>>};

}  // namespace tamis::foreign
