// Parquet's split-block Bloom filter: the bitset alone (sbbf) and after its Thrift header (sbbf-thrift).
//
//     bitset   blocks of 32 bytes, each eight u32 little-endian
//     header   Thrift compact {1: i32 bytes of bitset, 2: {1: {}} block, 3: {1: {}} xxHash, 4: {1: {}} uncompressed}
//
// x = XXH64(value). Block ((x >> 32)·blocks) >> 32; in word i the bit (low 32 bits of x · salt_i) >> 27.
#include "filter/formats/sbbf.h"

#include <fmt/core.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <bit>
#include <cmath>

#include "base/hash.h"
#include "base/try.h"
#include "filter/formats/classic.h"
#include "filter/formats/registry.h"
#include "filter/formats/thrift_compact_format.h"

namespace tamis::foreign {
namespace {

constexpr std::size_t kBlockBytes = 32;
constexpr std::uint32_t kBlockBits = 8 * kBlockBytes;
constexpr std::array<std::uint32_t, 8> kSalts = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                                 0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

class SplitBlockPositions {
 public:
  SplitBlockPositions(std::string_view key, const BloomShape& shape) {
    const std::uint64_t hash = XXH64(key.data(), key.size(), 0);
    const auto blocks = static_cast<std::uint32_t>(shape.bits / kBlockBits);
    block_start_ = std::uint64_t{fast_range32(static_cast<std::uint32_t>(hash >> 32), blocks)} * kBlockBits;
    hash_ = static_cast<std::uint32_t>(hash);
  }
  std::uint64_t next() {
    const std::size_t word = word_++;
    return block_start_ + 32 * word + ((hash_ * kSalts[word]) >> 27);
  }

 private:
  std::uint64_t block_start_;
  std::uint32_t hash_;
  std::size_t word_ = 0;
};

constexpr BloomScheme kScheme = kBloomScheme<SplitBlockPositions, BitOrder::kBytes>;

/// The length of a bitset determines its shape. numBytes is an i32, so larger ones do not exist.
Result<BloomShape> shape_of(const ByteReader& reader, std::int64_t bytes) {
  if (bytes > 0 && bytes % std::int64_t{kBlockBytes} == 0 && bytes <= 0x7fffffff) {
    return BloomShape{.bits = static_cast<std::uint64_t>(bytes) * 8, .hashes = kSalts.size(), .block_bits = kBlockBits};
  }
  return reader.corruption(fmt::format("a bitset of {} bytes is not whole 32-byte blocks", bytes));
}

/// A union whose only known member, number 1, is an empty struct.
Status read_only_choice(ByteReader& reader, std::string_view what) {
  ThriftStruct fields(reader);
  TAMIS_TRY(const ThriftField field, fields.next());
  if (field.id != 1 || field.type != ThriftType::kStruct) {
    return Status::not_supported(fmt::format("a Parquet filter with an unknown {}", what));
  }
  TAMIS_TRY_STATUS(skip_thrift_value(reader, field.type));
  TAMIS_TRY(const ThriftField end, fields.next());
  return end.type == ThriftType::kStop ? Status() : reader.corruption("a union with two members");
}

Result<BloomShape> read_header(ByteReader& reader, const OpenOptions&) {
  constexpr std::string_view kChoices[] = {"algorithm", "hash", "compression"};
  std::int64_t bytes = 0;
  std::uint32_t seen = 0;
  for (ThriftStruct fields(reader);;) {
    TAMIS_TRY(const ThriftField field, fields.next());
    if (field.type == ThriftType::kStop) break;
    if (field.id == 1 && field.type == ThriftType::kI32) {
      TAMIS_TRY(bytes, read_thrift_integer(reader));
    } else if (field.id >= 2 && field.id <= 4 && field.type == ThriftType::kStruct) {
      TAMIS_TRY_STATUS(read_only_choice(reader, kChoices[field.id - 2]));
    } else {
      return reader.corruption(fmt::format("unexpected field {} in a filter's header", field.id));
    }
    seen |= 1U << field.id;
  }
  if (seen != 0b11110) return reader.corruption("a filter's header without all four fields");
  return shape_of(reader, bytes);
}

void write_header(std::string& file, const BloomShape& shape) {
  constexpr std::string_view kChoices("\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0", 13);
  file.push_back('\x15');  // Field 1, i32.
  std::uint64_t zigzag = shape.bits / 8 * 2;
  for (; zigzag >= 0x80; zigzag >>= 7) file.push_back(static_cast<char>(zigzag | 0x80));
  file.push_back(static_cast<char>(zigzag));
  file.append(kChoices);
}

/// The bitset alone: the whole file.
Result<BloomShape> read_no_header(ByteReader& reader, const OpenOptions&) {
  return shape_of(reader, static_cast<std::int64_t>(reader.remaining()));
}
void write_no_header(std::string&, const BloomShape&) {}

/// The blocks given, or as many as Parquet's writers choose: enough bits for the rate, rounded up to a power of two, at
/// most 128 MiB.
Result<BloomShape> size(const BuildOptions& options, std::uint64_t keys) {
  constexpr std::uint64_t kMaxBlocks = (std::uint64_t{128} << 20) / kBlockBytes;
  std::uint64_t blocks = options.blocks.value_or(1);
  if (!options.blocks) {
    const double bits = -8.0 * static_cast<double>(keys) / std::log(1 - std::pow(options.fpr.value_or(0.01), 1.0 / 8));
    const double wanted = std::ceil(bits / kBlockBits);
    blocks = wanted >= static_cast<double>(kMaxBlocks) ? kMaxBlocks : std::bit_ceil(static_cast<std::uint64_t>(wanted));
  }
  if (blocks < 1 || blocks > 0x7fffffff / kBlockBytes) {
    return Status::invalid_argument(
        fmt::format("{} blocks; a Parquet filter has 1 to {}", blocks, 0x7fffffff / kBlockBytes));
  }
  return BloomShape{.bits = blocks * kBlockBits, .hashes = kSalts.size(), .block_bits = kBlockBits};
}

constexpr ClassicLayout kBare = {kScheme, kBlockBits, read_no_header, write_no_header, size};
constexpr ClassicLayout kWithHeader = {kScheme, kBlockBits, read_header, write_header, size};

Fit fit_bare(const Input& input) { return open_as<kBare>(input).ok() ? Fit::kPossible : Fit::kNo; }

constexpr FormatInfo kBareInfo = {.name = "sbbf",
                                  .system = "Apache Parquet",
                                  .summary = "split-block filter: the bitset alone",
                                  .build_parameters = "blocks; or expected keys, rate (0.01)",
                                  .self_describing = false,
                                  .writable = true};
constexpr FormatInfo kHeaderInfo = {.name = "sbbf-thrift",
                                    .system = "Apache Parquet",
                                    .summary = "split-block filter: Thrift header, bitset",
                                    .build_parameters = "blocks; or expected keys, rate (0.01)",
                                    .writable = true};
constexpr ParameterSet kTakes = kTakesBlocks | kTakesExpectedKeys | kTakesRate;

}  // namespace

Result<ProbePtr> read_sbbf_with_header(ByteReader& reader) {
  TAMIS_TRY(const BloomShape shape, read_header(reader, {}));
  TAMIS_TRY(const Bytes bitset, reader.read(shape.bits / 8, "the bitset"));
  return ProbePtr(std::make_unique<BloomProbe>(kScheme, shape, bitset));
}

constinit const Format kSbbfFormat = {.info = kBareInfo,
                                      .takes = kTakes,
                                      .open = open_as<kBare>,
                                      .build = build_as<kBare>,
                                      .fit = fit_bare,
                                      .family = kSbbfFamily,
                                      .rewrite = rewrite_as<kBare>};
constinit const Format kSbbfThriftFormat = {.info = kHeaderInfo,
                                            .takes = kTakes,
                                            .open = open_as<kWithHeader>,
                                            .build = build_as<kWithHeader>,
                                            .fit = fit_if_it_opens<open_as<kWithHeader>>,
                                            .family = kSbbfFamily,
                                            .rewrite = rewrite_as<kWithHeader>};

}  // namespace tamis::foreign
