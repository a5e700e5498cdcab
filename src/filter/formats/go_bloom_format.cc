// bits-and-blooms/bloom version 3, the common Bloom filter of Go programs.
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
#include "filter/formats/base64.h"
#include "filter/formats/foreign_hash.h"
#include "filter/formats/go_bitset_format.h"
#include "filter/formats/go_json_format.h"
#include "filter/formats/registry.h"

namespace tamis::foreign {
namespace {

constexpr BitOrder kOrder = BitOrder::kBigEndianWords;
constexpr std::size_t kBitsetOffset = 16;
constexpr std::size_t kLengthBytes = 8;

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
      const auto byte = std::to_integer<unsigned>(words_[byte_of<kOrder>(position)]);
      if ((byte >> (position % 8)) % 2 == 0) return false;
    }
    return true;
  }

  void describe(ForeignInfo& info) const override {
    FillEstimate estimate;
    estimate.add(shape_.bits, count_bits(words_, std::min(shape_.bits, length_), kOrder), shape_.hashes);
    estimate.write_to(info);
    info.hashes = shape_.hashes;
    if (length_ != shape_.bits) info.detail = fmt::format("a bitset of {} bits", length_);
  }

  /// Nothing if the filter claims 128 MiB more than the file has: a header alone must not allocate memory.
  [[nodiscard]] std::optional<PlainBits> plain_bits() const override {
    constexpr std::uint64_t kMaxMissingBits = std::uint64_t{1} << 30;
    if (shape_.bits > length_ && shape_.bits - length_ > kMaxMissingBits) return std::nullopt;
    PlainBits plain = {shape_, plain_bytes(words_, std::min(shape_.bits, length_), kOrder)};
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
Result<Bytes> read_words(ByteReader& reader, std::uint64_t length) {
  TAMIS_TRY(const Bytes words, reader.read(body_bytes(length, 64), "the bit array"));
  TAMIS_TRY_STATUS(reader.expect_end());
  return words;
}

Result<ProbePtr> open(const Input& input) {
  ByteReader reader(input.bytes, input.name);
  TAMIS_TRY(const std::uint64_t bits, reader.read_be<std::uint64_t>("the number of bits"));
  TAMIS_TRY(const std::uint64_t hashes, reader.read_be<std::uint64_t>("the number of hashes"));
  TAMIS_TRY(const BloomShape shape, checked_shape(reader, bits, hashes));
  TAMIS_TRY(const std::uint64_t length, read_bitset_length(reader, kOrder));
  TAMIS_TRY(const Bytes words, read_words(reader, length));
  return ProbePtr(std::make_unique<GoBloomProbe>(shape, length, words));
}

void write_header(std::string& file, const BloomShape& shape) {
  append_be<std::uint64_t>(file, shape.bits);
  append_be<std::uint64_t>(file, shape.hashes);
  write_bitset_length(file, shape.bits, kOrder);
}

Result<BloomShape> size(const BuildOptions& options, std::uint64_t keys) {
  TAMIS_TRY(const std::uint64_t bits, bits_by_rate(options, keys));
  const double best = std::ceil(std::numbers::ln2 * static_cast<double>(bits) / static_cast<double>(keys));
  TAMIS_TRY(const std::uint32_t hashes, checked_hashes(options, best, kMaxHashes));
  return BloomShape{.bits = bits, .hashes = hashes};
}

/// For writing: a bitset of m bits.
constexpr ClassicLayout kLayout = {kBloomScheme<GoBloomPositions, kOrder>, 64, nullptr, write_header, size};

Result<std::string> build_file(std::span<const std::string> keys, const BuildOptions& options) {
  return build_classic(kLayout, keys, options);
}

/// The JSON value of this name, as this type.
template <typename T>
Result<T> member_of(const std::map<std::string, GoJsonValue>& json, const std::string& name, const Input& input) {
  const auto found = json.find(name);
  if (found != json.end() && std::holds_alternative<T>(found->second)) return std::get<T>(found->second);
  return Status::corruption(fmt::format("{}: \"{}\" is not a {}", input.name, name,
                                        std::is_same_v<T, std::string> ? "string" : "whole number"));
}

Result<ProbePtr> open_json(const Input& input) {
  TAMIS_TRY(const auto json, read_go_json_object(input.bytes, input.name));
  TAMIS_TRY(const std::uint64_t bits, member_of<std::uint64_t>(json, "m", input));
  TAMIS_TRY(const std::uint64_t hashes, member_of<std::uint64_t>(json, "k", input));
  TAMIS_TRY(const std::string text, member_of<std::string>(json, "b", input));
  TAMIS_TRY(std::string bitset, decode_bitset_text(text, input.name));
  ByteReader reader(as_bytes(bitset), input.name);
  TAMIS_TRY(const BloomShape shape, checked_shape(reader, bits, hashes));
  TAMIS_TRY(const std::uint64_t length, read_bitset_length(reader, kOrder));
  TAMIS_TRY_STATUS(read_words(reader, length).status());
  return ProbePtr(std::make_unique<GoBloomProbe>(shape, length, std::move(bitset)));
}

std::string json_of(const std::string& file) {
  return fmt::format(R"({{"m":{},"k":{},"b":"{}"}})", load_be<std::uint64_t>(file.data()),
                     load_be<std::uint64_t>(file.data() + 8),
                     base64url_encode(std::string_view(file).substr(kBitsetOffset)));
}

Result<std::string> build_json(std::span<const std::string> keys, const BuildOptions& options) {
  TAMIS_TRY(const std::string file, build_file(keys, options));
  return json_of(file);
}

std::string rewrite(const PlainBits& plain) { return write_classic(kLayout, plain); }
std::string rewrite_json(const PlainBits& plain) { return json_of(rewrite(plain)); }

constexpr FormatInfo kInfo = {.name = "go-bloom",
                              .system = "bits-and-blooms/bloom v3 (Go)",
                              .summary = "bits, hashes, bitset",
                              .build_parameters = "expected keys, rate (0.01); or bits and hashes",
                              .writable = true};
constexpr FormatInfo kJsonInfo = {.name = "go-bloom-json",
                                  .system = kInfo.system,
                                  .summary = "the same as a JSON object",
                                  .build_parameters = kInfo.build_parameters,
                                  .writable = true};
constexpr ParameterSet kTakes = kTakesExpectedKeys | kTakesRate | kTakesBits | kTakesHashes;

}  // namespace

constinit const Format kGoBloomFormat = {.info = kInfo,
                                         .takes = kTakes,
                                         .open = open,
                                         .build = build_file,
                                         .fit = fit_if_it_opens<open>,
                                         .family = "go-bloom",
                                         .rewrite = rewrite};
constinit const Format kGoBloomJsonFormat = {.info = kJsonInfo,
                                             .takes = kTakes,
                                             .open = open_json,
                                             .build = build_json,
                                             .fit = fit_if_it_opens<open_json>,
                                             .family = "go-bloom",
                                             .rewrite = rewrite_json};

}  // namespace tamis::foreign
