// Apache Spark's sketch BloomFilter, all big-endian.
//
//     V1: i32 1, i32 hashes,           i32 words, words × i64
//     V2: i32 2, i32 hashes, i32 seed, i32 words, words × i64      (Spark 4.1 and later)
//
// Bit i in word i/64 at 1 << (i%64). h1 = H(item, seed or 0), h2 = H(item, h1), H Spark's own Murmur3 x86 32.
//     V1: position i = flip(h1 + i·h2) mod m in 32 bits, i from 1
//     V2: position i = flip(h1·(2³¹−1) + i·h2) mod m in 64 bits, i from 1        flip(c) = c < 0 ? ~c : c
#include <fmt/core.h>

#include <limits>

#include "base/try.h"
#include "filter/formats/classic.h"
#include "filter/formats/foreign_hash.h"

namespace tamis::foreign {
namespace {

constexpr double kDefaultRate = 0.03;

class SparkV1Positions : public SteppedPositions<std::uint32_t, flipped> {
 public:
  SparkV1Positions(std::string_view key, const BloomShape& shape) : SteppedPositions(shape, spark_murmur3_32(key, 0)) {
    step_ = spark_murmur3_32(key, value_);
    value_ += step_;
  }
};

class SparkV2Positions : public SteppedPositions<std::uint64_t, flipped> {
 public:
  SparkV2Positions(std::string_view key, const BloomShape& shape) : SteppedPositions(shape) {
    const std::uint32_t h1 = spark_murmur3_32(key, static_cast<std::uint32_t>(shape.seed.value_or(0)));
    step_ = widened(spark_murmur3_32(key, h1));
    value_ = widened(h1) * std::numeric_limits<std::int32_t>::max() + step_;
  }

 private:
  static std::uint64_t widened(std::uint32_t hash) {
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(hash)});
  }
};

template <std::uint32_t kVersion>
Result<BloomShape> read_header(ByteReader& reader, const OpenOptions&) {
  TAMIS_TRY_STATUS(reader.skip(4, "the version"));
  TAMIS_TRY(const std::uint32_t hashes, reader.read_be<std::uint32_t>("the number of hashes"));
  TAMIS_TRY_STATUS(check_hashes(reader, hashes));
  BloomShape shape = {.hashes = hashes};
  if (kVersion == 2) {
    TAMIS_TRY(const std::uint32_t seed, reader.read_be<std::uint32_t>("the seed"));
    shape.seed = static_cast<std::int32_t>(seed);
  }
  TAMIS_TRY(shape.bits, read_words(reader));
  return shape;
}

template <std::uint32_t kVersion>
void write_header(std::string& file, const BloomShape& shape) {
  append_be<std::uint32_t>(file, kVersion);
  append_be<std::uint32_t>(file, shape.hashes);
  if (kVersion == 2) append_be<std::uint32_t>(file, static_cast<std::uint32_t>(shape.seed.value_or(0)));
  append_be<std::uint32_t>(file, static_cast<std::uint32_t>(shape.bits / 64));
}

Result<BloomShape> size(const BuildOptions& options, std::uint64_t keys) {
  TAMIS_TRY(BloomShape shape, size_in_words(options, keys, kDefaultRate, kMaxHashes));
  shape.seed = static_cast<std::int32_t>(options.seed.value_or(0));
  return shape;
}

constexpr BitOrder kOrder = BitOrder::kBigEndianWords;
constexpr ClassicLayout kV1 = {kBloomScheme<SparkV1Positions, kOrder>, 64, read_header<1>, write_header<1>, size};
constexpr ClassicLayout kV2 = {kBloomScheme<SparkV2Positions, kOrder>, 64, read_header<2>, write_header<2>, size};

Result<ProbePtr> open(const Input& input) {
  ByteReader reader(input.bytes, input.name);
  TAMIS_TRY(const std::uint32_t version, reader.read_be<std::uint32_t>("the version"));
  if (version == 1) return open_classic(kV1, input, "V1");
  if (version == 2) return open_classic(kV2, input, "V2");
  return reader.corruption(fmt::format("version {} is neither 1 nor 2", version));
}

Result<std::string> build_file(std::span<const std::string> keys, const BuildOptions& options) {
  const std::int64_t seed = options.seed.value_or(0);
  if (seed < std::numeric_limits<std::int32_t>::min() || seed > std::numeric_limits<std::int32_t>::max()) {
    return Status::invalid_argument(fmt::format("a Spark seed has 32 bits; {} does not fit", seed));
  }
  if (options.variant.empty() || options.variant == "V2") return build_classic(kV2, keys, options);
  if (options.variant != "V1") {
    return Status::invalid_argument(fmt::format("spark has the variants V1 and V2, not \"{}\"", options.variant));
  }
  if (seed != 0) return Status::invalid_argument("spark V1 has no seed");
  return build_classic(kV1, keys, options);
}

}  // namespace

constinit const Format kSparkFormat = {
    .info = {.name = "spark",
             .system = "Apache Spark",
             .summary = "sketch BloomFilter, V1 and V2",
             .build_parameters =
                 "expected keys, rate (0.03); or bits or words, hashes; variant V1 or V2 (default), seed",
             .writable = true},
    .takes = kTakesExpectedKeys | kTakesRate | kTakesBits | kTakesHashes | kTakesWords | kTakesSeed | kTakesVariant,
    .open = open,
    .build = build_file,
    .fit = fit_if_it_opens<open>};

}  // namespace tamis::foreign
