// Guava's BloomFilter.writeTo.
//
//     offset size
//          0    1  strategy: 0 MURMUR128_MITZ_32, 1 MURMUR128_MITZ_64
//          1    1  hashes
//          2    4  words, i32 big-endian
//          6    –  words of 8 bytes, big-endian, bit i in word i/64 at 1 << (i%64); the file ends here
//
// h1, h2 are the halves of the standard Murmur3 x64 128; a, b the low and high half of h1.
//     0: position i = flip(a + i·b) mod m in 32 bits, i from 1; flip(c) = c < 0 ? ~c : c
//     1: position i = ((h1 + i·h2) & (2⁶³−1)) mod m, i from 0
#include <fmt/core.h>

#include "base/try.h"
#include "filter/formats/classic.h"
#include "filter/formats/foreign_hash.h"

namespace tamis::foreign {
namespace {

enum class Strategy : std::uint8_t { kMitz32 = 0, kMitz64 = 1 };
constexpr std::uint32_t kHashLimit = 255;

class Mitz32Positions : public SteppedPositions<std::uint32_t, flipped> {
 public:
  Mitz32Positions(std::string_view key, const BloomShape& shape) : SteppedPositions(shape) {
    const std::uint64_t hash = murmur3_x64_128(key, 0, TailBytes::kUnsigned).low;
    step_ = static_cast<std::uint32_t>(hash >> 32);
    value_ = static_cast<std::uint32_t>(hash) + step_;
  }
};

constexpr std::uint64_t without_sign(std::uint64_t word) { return word & (~std::uint64_t{0} >> 1); }

class Mitz64Positions : public SteppedPositions<std::uint64_t, without_sign> {
 public:
  Mitz64Positions(std::string_view key, const BloomShape& shape) : SteppedPositions(shape) {
    const Hash128 hash = murmur3_x64_128(key, 0, TailBytes::kUnsigned);
    value_ = hash.low;
    step_ = hash.high;
  }
};

Result<BloomShape> read_header(ByteReader& reader, const OpenOptions&) {
  TAMIS_TRY_STATUS(reader.skip(1, "the strategy"));
  TAMIS_TRY(const std::uint8_t hashes, reader.read_le<std::uint8_t>("the number of hashes"));
  TAMIS_TRY_STATUS(check_hashes(reader, hashes, kHashLimit));
  TAMIS_TRY(const std::uint64_t bits, read_words(reader));
  return BloomShape{.bits = bits, .hashes = hashes};
}

void write_header(std::string& file, const BloomShape& shape) {
  file.push_back(static_cast<char>(Strategy::kMitz64));
  file.push_back(static_cast<char>(shape.hashes));
  append_be<std::uint32_t>(file, static_cast<std::uint32_t>(shape.bits / 64));
}

Result<BloomShape> size(const BuildOptions& options, std::uint64_t keys) {
  constexpr double kDefaultRate = 0.03;
  return size_in_words(options, keys, kDefaultRate, kHashLimit);
}

template <typename Positions>
constexpr ClassicLayout kLayout = {kBloomScheme<Positions, BitOrder::kBigEndianWords>, 64, read_header, write_header,
                                   size};

Result<ProbePtr> open(const Input& input) {
  ByteReader reader(input.bytes, input.name);
  TAMIS_TRY(const std::uint8_t strategy, reader.read_le<std::uint8_t>("the strategy"));
  switch (Strategy{strategy}) {
    case Strategy::kMitz32: return open_classic(kLayout<Mitz32Positions>, input, "MURMUR128_MITZ_32");
    case Strategy::kMitz64: return open_classic(kLayout<Mitz64Positions>, input, "MURMUR128_MITZ_64");
  }
  return reader.corruption(fmt::format("strategy {} is neither 0 nor 1", strategy));
}

Result<std::string> build_file(std::span<const std::string> keys, const BuildOptions& options) {
  if (options.variant.empty() || options.variant == "64") {
    return build_classic(kLayout<Mitz64Positions>, keys, options);
  }
  if (options.variant == "32") {
    return Status::not_supported("guava: the 32-bit strategy is read, not written; current releases write variant 64");
  }
  return Status::invalid_argument(fmt::format("guava has the variants 64 and 32, not \"{}\"", options.variant));
}

}  // namespace

constinit const Format kGuavaFormat = {
    .info = {.name = "guava",
             .system = "Guava (Java)",
             .summary = "BloomFilter.writeTo, both strategies",
             .build_parameters = "expected keys, rate (0.03), rounded as up to 31.1; or words and hashes; variant 64",
             .writable = true},
    .takes = kTakesExpectedKeys | kTakesRate | kTakesHashes | kTakesWords | kTakesVariant,
    .open = open,
    .build = build_file,
    .fit = fit_if_it_opens<open>};

}  // namespace tamis::foreign
