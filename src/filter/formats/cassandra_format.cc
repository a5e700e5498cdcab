// Apache Cassandra's Filter.db.
//
//     offset size
//          0    4  hashes, i32 big-endian
//          4    4  words, i32 big-endian
//          8    –  bits, 8 bytes per word; the file ends here
//
// Three layouts share it, distinguished only by the version in the file name:
//     cassandra-new        from `na`, 4.0   plain bytes            position i = |h2 + i·h1| mod m
//     cassandra-old        from `ma`, 3.0   big-endian words       the same
//     cassandra-old-h1h2   from `ia`, 1.2   big-endian words       position i = |h1 + i·h2| mod m
#include <fmt/core.h>

#include <cmath>

#include "base/try.h"
#include "filter/formats/classic.h"
#include "filter/formats/foreign_hash.h"

namespace tamis::foreign {
namespace {

constexpr std::uint32_t kMaxCassandraHashes = 21;  // The capacity of Cassandra's probe.
constexpr double kDefaultRate = 0.01;              // bloom_filter_fp_chance

enum class Base : std::uint8_t { kHigh, kLow };

/// Of the signed value; for −2⁶³ it is 2⁶³, as in Java's remainder.
constexpr std::uint64_t magnitude(std::uint64_t word) { return (word >> 63) != 0 ? 0 - word : word; }

template <Base kBase>
class CassandraPositions : public SteppedPositions<std::uint64_t, magnitude> {
 public:
  CassandraPositions(std::string_view key, const BloomShape& shape) : SteppedPositions(shape) {
    const Hash128 hash = murmur3_x64_128(key, 0, TailBytes::kSignExtended);
    value_ = kBase == Base::kHigh ? hash.high : hash.low;
    step_ = kBase == Base::kHigh ? hash.low : hash.high;
  }
};

Result<BloomShape> read_header(ByteReader& reader, const OpenOptions&) {
  TAMIS_TRY(const std::uint32_t hashes, reader.read_be<std::uint32_t>("the number of hashes"));
  TAMIS_TRY_STATUS(check_hashes(reader, hashes, kMaxCassandraHashes));
  TAMIS_TRY(const std::uint64_t bits, read_words(reader));
  return BloomShape{.bits = bits, .hashes = hashes};
}

void write_header(std::string& file, const BloomShape& shape) {
  append_be<std::uint32_t>(file, shape.hashes);
  append_be<std::uint32_t>(file, static_cast<std::uint32_t>(shape.bits / 64));
}

/// Cassandra's table of rates: (1 − e^(−hashes / bits))^hashes to three digits, but for one entry.
double table_rate(std::uint32_t bits_per_key, std::uint32_t hashes) {
  if (bits_per_key == 5 && hashes == 3) return .092;
  const double rate = std::pow(-std::expm1(-1.0 * hashes / bits_per_key), hashes);
  const double thousandths = std::pow(10, 3 - std::ceil(std::log10(rate)));
  return std::round(rate * thousandths) / thousandths;
}

struct Sizing {
  std::uint32_t hashes;
  std::uint32_t bits_per_key;
};

/// The first row of the table that reaches the rate, and the fewest hashes that do so in that row.
Result<Sizing> sizing_for(double rate) {
  constexpr std::uint32_t kMostBits = 20;
  // From here on, Cassandra returns its two results in the wrong order, and must keep doing so.
  if (rate >= table_rate(2, 1)) return Sizing{.hashes = 2, .bits_per_key = 1};
  for (std::uint32_t bits = 2; bits <= kMostBits; ++bits) {
    std::uint32_t hashes = 1;
    while (table_rate(bits, hashes) > rate && table_rate(bits, hashes + 1) < table_rate(bits, hashes)) ++hashes;
    if (table_rate(bits, hashes) <= rate) return Sizing{hashes, bits};
  }
  return Status::invalid_argument(
      fmt::format("Cassandra cannot satisfy a rate of {}; its table ends at {}", rate, table_rate(kMostBits, 14)));
}

Result<BloomShape> size(const BuildOptions& options, std::uint64_t keys) {
  // With both words and hashes given, the rate decides nothing.
  Sizing sizing = {.hashes = 1, .bits_per_key = 1};
  if (!options.words || !options.hashes) {
    TAMIS_TRY(sizing, sizing_for(options.fpr.value_or(kDefaultRate)));
  }
  TAMIS_TRY(const std::uint32_t hashes, checked_hashes(options, sizing.hashes, kMaxCassandraHashes));
  constexpr std::uint64_t kSpareBits = 20;
  const std::uint64_t words = options.words.value_or((keys * sizing.bits_per_key + kSpareBits - 1) / 64 + 1);
  if (words > kMaxBuildBits / 64) return Status::invalid_argument(fmt::format("too many words: {}", words));
  TAMIS_TRY(const std::uint64_t bits, checked_bits(words * 64));
  return BloomShape{.bits = bits, .hashes = hashes};
}

template <Base kBase, BitOrder kOrder>
constexpr ClassicLayout kLayout = {kBloomScheme<CassandraPositions<kBase>, kOrder>, 64, read_header, write_header,
                                   size};

template <Base kBase, BitOrder kOrder>
Result<ProbePtr> open(const Input& input) {
  // Cassandra's marker for "no filter": the requested rate was 1.
  if (input.bytes.empty()) return ProbePtr(std::make_unique<ConstantProbe>(true));
  return open_classic(kLayout<kBase, kOrder>, input);
}

template <Base kBase, BitOrder kOrder>
Result<std::string> build_file(std::span<const std::string> keys, const BuildOptions& options) {
  if (options.fpr == 1.0) return std::string();
  return build_classic(kLayout<kBase, kOrder>, keys, options);
}

template <Base kBase, BitOrder kOrder>
constexpr Format make_format(std::string_view name, std::string_view summary) {
  return {.info = {.name = name,
                   .system = "Apache Cassandra",
                   .summary = summary,
                   .build_parameters = "expected keys, rate (0.01); or words and hashes",
                   .self_describing = false,
                   .writable = true},
          .takes = kTakesExpectedKeys | kTakesRate | kTakesRateOfOne | kTakesHashes | kTakesWords,
          .open = open<kBase, kOrder>,
          .build = build_file<kBase, kOrder>,
          .fit = fit_if_it_opens<open<kBase, kOrder>>,
          .family = kBase == Base::kHigh ? "cassandra" : "cassandra-h1h2",
          .rewrite = rewrite_as<kLayout<kBase, kOrder>>};
}

}  // namespace

constinit const Format kCassandraNewFormat =
    make_format<Base::kHigh, BitOrder::kBytes>("cassandra-new", "Filter.db of 4.0 and later (na, nb, oa, da)");
constinit const Format kCassandraOldFormat =
    make_format<Base::kHigh, BitOrder::kBigEndianWords>("cassandra-old", "Filter.db of 3.0 to 3.11 (ma to me)");
constinit const Format kCassandraOldH1H2Format =
    make_format<Base::kLow, BitOrder::kBigEndianWords>("cassandra-old-h1h2", "Filter.db of 1.2 to 2.2 (ia to lb)");

}  // namespace tamis::foreign
