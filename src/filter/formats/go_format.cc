// The filters of Go programs: go-bloom and go-article, both over a bits-and-blooms bitset.
//
// go-bloom: bits-and-blooms/bloom version 3, the common Bloom filter of Go programs.
//
//     offset size
//          0    8  bits m, big-endian
//          8    8  hashes, big-endian
//         16    8  length of the bitset, big-endian; m, unless the program supplied its own bitset (FromWithM)
//         24    –  ⌈length/64⌉ big-endian words, bit i in word i/64 at 1 << (i%64); the file ends here
//
// As JSON: {"m":…,"k":…,"b":"<base64url of the bitset: length and words>"}. The four hashes a0 … a3 are the halves of
// Murmur3 x64 128 of the key and of the key followed by a byte 1; position i = (a[i%2] + i·a[2 or 3]) mod m. A position
// at or beyond the length is an unset bit; bits beyond m have no meaning.
//
// go-article: the filter of a Go article, a bitset saved by that library. The number of hashes is out of band.
//
//     offset size
//          0    8  bits m
//          8    –  ⌈m/64⌉ words of 8 bytes, bit i in word i/64 at 1 << (i%64); the file ends here
//
// Big-endian throughout (go-article), or little-endian if the program chose it (go-article-le). As JSON, a string with
// the base64url of the big-endian form (go-article-json). Position i is the first half of the standard Murmur3 x64 128
// with seed i, mod m.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/try.h"
#include "filter/formats/classic.h"
#include "filter/formats/foreign_hash.h"
#include "filter/formats/go_json_format.h"

namespace tamis::foreign {
namespace {

constexpr BitOrder kBigEndian = BitOrder::kBigEndianWords;
constexpr std::size_t kBitsetOffset = 16;
constexpr std::size_t kLengthBytes = 8;

/// The length of a bitset, before its words and in their byte order.
template <BitOrder kOrder>
Result<std::uint64_t> read_length(ByteReader& reader) {
  constexpr std::string_view kWhat = "the length of the bitset";
  return kOrder == BitOrder::kBytes ? reader.read_le<std::uint64_t>(kWhat) : reader.read_be<std::uint64_t>(kWhat);
}

Result<std::string> decode_bitset_text(std::string_view text, std::string_view name) {
  std::optional<std::string> bytes = base64_decode(text);
  if (!bytes) return Status::corruption(fmt::format("{}: the bitset is not base64", name));
  return *std::move(bytes);
}

class GoBloomPositions {
 public:
  GoBloomPositions(std::string_view key, const BloomShape& shape) : bits_(shape.bits) {
    const auto [first, second] = murmur3_x64_128_and_longer(key);
    hashes_ = {first.low, first.high, second.low, second.high};
  }
  std::uint64_t next() {
    const std::uint64_t i = index_++;
    return (hashes_[i % 2] + i * hashes_[2 + (i + i % 2) % 4 / 2]) % bits_;
  }

 private:
  std::uint64_t bits_;
  std::array<std::uint64_t, 4> hashes_;
  std::uint64_t index_ = 0;
};

/// A filter whose bitset may be shorter or longer than m.
///
/// Threads: immutable. The words must outlive it unless it owns them.
class GoBloomProbe final : public Probe {
 public:
  GoBloomProbe(const BloomShape& shape, std::uint64_t length, Bytes words)
      : shape_(shape), length_(length), words_(words) {}
  /// `bitset` is the encoded length and words.
  GoBloomProbe(const BloomShape& shape, std::uint64_t length, std::string bitset)
      : shape_(shape), length_(length), owned_(std::move(bitset)), words_(as_bytes(owned_).subspan(kLengthBytes)) {}

  [[nodiscard]] bool may_contain(std::string_view key) const override {
    GoBloomPositions positions(key, shape_);
    for (std::uint32_t i = 0; i < shape_.hashes; ++i) {
      const std::uint64_t position = positions.next();
      if (position >= length_) return false;
      const auto byte = std::to_integer<unsigned>(words_[byte_of<kBigEndian>(position)]);
      if ((byte >> (position % 8)) % 2 == 0) return false;
    }
    return true;
  }

  void describe(ForeignInfo& info) const override {
    FillEstimate estimate;
    estimate.add(shape_.bits, count_bits(words_, std::min(shape_.bits, length_), kBigEndian), shape_.hashes);
    estimate.write_to(info);
    info.hashes = shape_.hashes;
    if (length_ != shape_.bits) info.detail = fmt::format("a bitset of {} bits", length_);
  }

  /// Nothing if the filter claims 128 MiB more than the file has: a header alone must not allocate memory.
  [[nodiscard]] std::optional<PlainBits> plain_bits() const override {
    constexpr std::uint64_t kMaxMissingBits = std::uint64_t{1} << 30;
    if (shape_.bits > length_ && shape_.bits - length_ > kMaxMissingBits) return std::nullopt;
    PlainBits plain = {shape_, plain_bytes(words_, std::min(shape_.bits, length_), kBigEndian)};
    plain.bits.resize(static_cast<std::size_t>(body_bytes(shape_.bits, 8)), '\0');
    return plain;
  }

 private:
  const BloomShape shape_;
  const std::uint64_t length_;
  const std::string owned_;
  const Bytes words_;
};

/// m and k, checked.
Result<BloomShape> checked_shape(const ByteReader& reader, std::uint64_t bits, std::uint64_t hashes) {
  if (bits == 0) return reader.corruption("a filter of 0 bits");
  TAMIS_TRY_STATUS(check_hashes(reader, hashes));
  return BloomShape{.bits = bits, .hashes = static_cast<std::uint32_t>(hashes)};
}

/// The words of a bitset of this length, up to the end of the file.
Result<Bytes> read_bitset_words(ByteReader& reader, std::uint64_t length) {
  TAMIS_TRY(const Bytes words, reader.read(body_bytes(length, 64), "the bit array"));
  TAMIS_TRY_STATUS(reader.expect_end());
  return words;
}

Result<ProbePtr> open_bloom(const Input& input) {
  ByteReader reader(input.bytes, input.name);
  TAMIS_TRY(const std::uint64_t bits, reader.read_be<std::uint64_t>("the number of bits"));
  TAMIS_TRY(const std::uint64_t hashes, reader.read_be<std::uint64_t>("the number of hashes"));
  TAMIS_TRY(const BloomShape shape, checked_shape(reader, bits, hashes));
  TAMIS_TRY(const std::uint64_t length, read_length<kBigEndian>(reader));
  TAMIS_TRY(const Bytes words, read_bitset_words(reader, length));
  return ProbePtr(std::make_unique<GoBloomProbe>(shape, length, words));
}

void write_bloom_header(std::string& file, const BloomShape& shape) {
  append_be<std::uint64_t>(file, shape.bits);
  append_be<std::uint64_t>(file, shape.hashes);
  append_be<std::uint64_t>(file, shape.bits);
}

Result<BloomShape> size_bloom(const BuildOptions& options, std::uint64_t keys) {
  TAMIS_TRY(const std::uint64_t bits, bits_by_rate(options, keys));
  const double best = std::ceil(std::numbers::ln2 * static_cast<double>(bits) / static_cast<double>(keys));
  TAMIS_TRY(const std::uint32_t hashes, checked_hashes(options, best, kMaxHashes));
  return BloomShape{.bits = bits, .hashes = hashes};
}

/// For writing: a bitset of m bits.
constexpr ClassicLayout kBloomLayout = {kBloomScheme<GoBloomPositions, kBigEndian>, 64, nullptr, write_bloom_header,
                                        size_bloom};

/// The JSON value of this name, as this type.
template <typename T>
Result<T> member_of(const std::map<std::string, GoJsonValue>& json, const std::string& name, const Input& input) {
  const auto found = json.find(name);
  if (found != json.end() && std::holds_alternative<T>(found->second)) return std::get<T>(found->second);
  return Status::corruption(fmt::format("{}: \"{}\" is not a {}", input.name, name,
                                        std::is_same_v<T, std::string> ? "string" : "whole number"));
}

Result<ProbePtr> open_bloom_json(const Input& input) {
  TAMIS_TRY(const auto json, read_go_json_object(input.bytes, input.name));
  TAMIS_TRY(const std::uint64_t bits, member_of<std::uint64_t>(json, "m", input));
  TAMIS_TRY(const std::uint64_t hashes, member_of<std::uint64_t>(json, "k", input));
  TAMIS_TRY(const std::string text, member_of<std::string>(json, "b", input));
  TAMIS_TRY(std::string bitset, decode_bitset_text(text, input.name));
  ByteReader reader(as_bytes(bitset), input.name);
  TAMIS_TRY(const BloomShape shape, checked_shape(reader, bits, hashes));
  TAMIS_TRY(const std::uint64_t length, read_length<kBigEndian>(reader));
  TAMIS_TRY_STATUS(read_bitset_words(reader, length).status());
  return ProbePtr(std::make_unique<GoBloomProbe>(shape, length, std::move(bitset)));
}

std::string bloom_json_of(const std::string& file) {
  return fmt::format(R"({{"m":{},"k":{},"b":"{}"}})", load_be<std::uint64_t>(file.data()),
                     load_be<std::uint64_t>(file.data() + 8),
                     base64url_encode(std::string_view(file).substr(kBitsetOffset)));
}

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
Result<BloomShape> read_article_header(ByteReader& reader, const OpenOptions& options) {
  TAMIS_TRY(const std::uint64_t bits, read_length<kOrder>(reader));
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
void write_article_header(std::string& file, const BloomShape& shape) {
  kOrder == BitOrder::kBytes ? append_le(file, shape.bits) : append_be(file, shape.bits);
}

Result<BloomShape> size_article(const BuildOptions& options, std::uint64_t keys) {
  const double rate = options.fpr.value_or(0.01);
  // The article truncates and would divide by zero for 0 bits; the min is one bit.
  TAMIS_TRY(const std::uint64_t bits, options.bits ? checked_bits(*options.bits)
                                                   : checked_bits(std::max(1.0, std::floor(ideal_bits(keys, rate)))));
  TAMIS_TRY(const std::uint32_t hashes, checked_hashes(options, std::ceil(std::log2(1 / rate)), kMaxHashes));
  return BloomShape{.bits = bits, .hashes = hashes};
}

template <BitOrder kOrder>
constexpr ClassicLayout kArticleLayout = {kBloomScheme<GoArticlePositions, kOrder>, 64, read_article_header<kOrder>,
                                          write_article_header<kOrder>, size_article};

Result<ProbePtr> open_article_json(const Input& input) {
  TAMIS_TRY(const std::string text, read_go_json_string(input.bytes, input.name));
  TAMIS_TRY(std::string bitset, decode_bitset_text(text, input.name));
  ByteReader reader(as_bytes(bitset), input.name);
  TAMIS_TRY(const BloomShape shape, read_article_header<kBigEndian>(reader, input.options));
  if (shape.bits == 0) return reader.corruption("a filter of 0 bits");
  bitset.erase(0, reader.offset());
  return ProbePtr(std::make_unique<BloomProbe>(kArticleLayout<kBigEndian>.scheme, shape, std::move(bitset)));
}

std::string article_json_of(const std::string& file) { return '"' + base64url_encode(file) + '"'; }

constexpr ParameterSet kTakes = kTakesExpectedKeys | kTakesRate | kTakesBits | kTakesHashes;
constexpr std::string_view kParameters = "expected keys, rate (0.01); or bits and hashes";

constexpr Format bloom_format(std::string_view name, std::string_view summary) {
  Format format = classic_format<kBloomLayout>({.name = name,
                                                .system = "bits-and-blooms/bloom v3 (Go)",
                                                .summary = summary,
                                                .build_parameters = kParameters,
                                                .writable = true},
                                               kTakes, "go-bloom", fit_if_it_opens<open_bloom>);
  format.open = open_bloom;
  return format;
}

template <BitOrder kOrder>
constexpr Format article_format(std::string_view name, std::string_view summary) {
  return classic_format<kArticleLayout<kOrder>>(
      {.name = name,
       .system = "the article \"Bloom filter\" by Sarthak Makhija (2023), in Go over bits-and-blooms/bitset",
       .summary = summary,
       .build_parameters = kParameters,
       .writable = true,
       .needs_hashes_to_probe = true},
      kTakes, "go-article");
}

/// The same format in JSON, which kJsonOf makes of a file.
template <const ClassicLayout& kLayout, Result<ProbePtr> (*kOpen)(const Input&),
          std::string (*kJsonOf)(const std::string&)>
constexpr Format in_json(Format format) {
  format.open = kOpen;
  format.fit = fit_if_it_opens<kOpen>;
  format.build = [](std::span<const std::string> keys, const BuildOptions& options) -> Result<std::string> {
    TAMIS_TRY(const std::string file, build_classic(kLayout, keys, options));
    return kJsonOf(file);
  };
  format.rewrite = [](const PlainBits& plain) { return kJsonOf(write_classic(kLayout, plain)); };
  return format;
}

}  // namespace

constinit const Format kGoBloomFormat = bloom_format("go-bloom", "bits, hashes, bitset");
constinit const Format kGoBloomJsonFormat =
    in_json<kBloomLayout, open_bloom_json, bloom_json_of>(bloom_format("go-bloom-json", "the same as a JSON object"));

constinit const Format kGoArticleFormat = article_format<kBigEndian>("go-article", "bitset, big-endian");
constinit const Format kGoArticleLeFormat = article_format<BitOrder::kBytes>("go-article-le", "bitset, little-endian");
constinit const Format kGoArticleJsonFormat = in_json<kArticleLayout<kBigEndian>, open_article_json, article_json_of>(
    article_format<kBigEndian>("go-article-json", "bitset as a JSON string"));

}  // namespace tamis::foreign
