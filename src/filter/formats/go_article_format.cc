// The filter of a Go article: a bits-and-blooms bitset, saved by that library. The number of hashes is out of band.
//
//     offset size
//          0    8  bits m
//          8    –  ⌈m/64⌉ words of 8 bytes, bit i in word i/64 at 1 << (i%64); the file ends here
//
// Big-endian throughout (go-article), or little-endian if the program chose it (go-article-le). As JSON, a string with
// the base64url of the big-endian form (go-article-json). Position i is the first half of the standard Murmur3 x64 128
// with seed i, mod m.
#include <fmt/core.h>

#include <cmath>

#include "base/try.h"
#include "filter/formats/base64.h"
#include "filter/formats/foreign_hash.h"
#include "filter/formats/go_bitset_format.h"
#include "filter/formats/go_json_format.h"
#include "filter/formats/registry.h"

namespace tamis::foreign {
namespace {

class GoArticlePositions {
 public:
  GoArticlePositions(std::string_view key, const BloomShape& shape) : key_(key), bits_(shape.bits) {}
  std::uint64_t next() { return murmur3_x64_128(key_, seed_++, TailBytes::kUnsigned).low % bits_; }

 private:
  std::string_view key_;
  std::uint64_t bits_;
  std::uint64_t seed_ = 0;
};

template <BitOrder kOrder>
Result<BloomShape> read_header(ByteReader& reader, const OpenOptions& options) {
  TAMIS_TRY(const std::uint64_t bits, read_bitset_length(reader, kOrder));
  if (body_bytes(bits, 64) != reader.remaining()) {
    return reader.corruption(
        fmt::format("{} bits take {} bytes of words, {} follow", bits, body_bytes(bits, 64), reader.remaining()));
  }
  if (!options.hashes) return Status::invalid_argument("go-article: give the number of hashes, the file has none");
  if (*options.hashes == 0 || *options.hashes > kMaxHashes) {
    return Status::invalid_argument(fmt::format("go-article: {} hashes are invalid", *options.hashes));
  }
  if (options.bits && *options.bits != bits) {
    return Status::invalid_argument(fmt::format("go-article: the file has {} bits, not {}", bits, *options.bits));
  }
  return BloomShape{.bits = bits, .hashes = *options.hashes};
}

template <BitOrder kOrder>
void write_header(std::string& file, const BloomShape& shape) {
  write_bitset_length(file, shape.bits, kOrder);
}

Result<BloomShape> size(const BuildOptions& options, std::uint64_t keys) {
  const double rate = options.fpr.value_or(0.01);
  // The article truncates and would divide by zero for 0 bits; the min is one bit.
  TAMIS_TRY(const std::uint64_t bits, options.bits ? checked_bits(*options.bits)
                                                   : checked_bits(std::max(1.0, std::floor(ideal_bits(keys, rate)))));
  TAMIS_TRY(const std::uint32_t hashes, checked_hashes(options, std::ceil(std::log2(1 / rate)), kMaxHashes));
  return BloomShape{.bits = bits, .hashes = hashes};
}

template <BitOrder kOrder>
constexpr ClassicLayout kLayout = {kBloomScheme<GoArticlePositions, kOrder>, 64, read_header<kOrder>,
                                   write_header<kOrder>, size};

constexpr BitOrder kJsonOrder = BitOrder::kBigEndianWords;

Result<ProbePtr> open_json(const Input& input) {
  TAMIS_TRY(const std::string text, read_go_json_string(input.bytes, input.name));
  TAMIS_TRY(std::string bitset, decode_bitset_text(text, input.name));
  ByteReader reader(as_bytes(bitset), input.name);
  TAMIS_TRY(const BloomShape shape, read_header<kJsonOrder>(reader, input.options));
  if (shape.bits == 0) return reader.corruption("a filter of 0 bits");
  bitset.erase(0, reader.offset());
  return ProbePtr(std::make_unique<BloomProbe>(kLayout<kJsonOrder>.scheme, shape, std::move(bitset)));
}

Result<std::string> build_json(std::span<const std::string> keys, const BuildOptions& options) {
  TAMIS_TRY(const std::string bitset, build_classic(kLayout<kJsonOrder>, keys, options));
  return '"' + base64url_encode(bitset) + '"';
}

std::string rewrite_json(const PlainBits& plain) {
  return '"' + base64url_encode(write_classic(kLayout<kJsonOrder>, plain)) + '"';
}

constexpr Format make_format(std::string_view name, std::string_view summary, Result<ProbePtr> (*open_fn)(const Input&),
                             Result<std::string> (*build_fn)(std::span<const std::string>, const BuildOptions&),
                             Fit (*fit_fn)(const Input&), std::string (*rewrite_fn)(const PlainBits&)) {
  return {
      .info = {.name = name,
               .system = "the article \"Bloom filter\" by Sarthak Makhija (2023), in Go over bits-and-blooms/bitset",
               .summary = summary,
               .build_parameters = "expected keys, rate (0.01); or bits and hashes",
               .writable = true,
               .needs_hashes_to_probe = true},
      .takes = kTakesExpectedKeys | kTakesRate | kTakesBits | kTakesHashes,
      .open = open_fn,
      .build = build_fn,
      .fit = fit_fn,
      .out_of_band = size,
      .family = "go-article",
      .rewrite = rewrite_fn};
}

template <BitOrder kOrder>
constexpr Format make_classic_format(std::string_view name, std::string_view summary) {
  return make_format(name, summary, open_as<kLayout<kOrder>>, build_as<kLayout<kOrder>>,
                     fit_if_it_opens<open_as<kLayout<kOrder>>>, rewrite_as<kLayout<kOrder>>);
}

}  // namespace

constinit const Format kGoArticleFormat =
    make_classic_format<BitOrder::kBigEndianWords>("go-article", "bitset, big-endian");
constinit const Format kGoArticleLeFormat =
    make_classic_format<BitOrder::kBytes>("go-article-le", "bitset, little-endian");
constinit const Format kGoArticleJsonFormat = make_format("go-article-json", "bitset as a JSON string", open_json,
                                                          build_json, fit_if_it_opens<open_json>, rewrite_json);

}  // namespace tamis::foreign
