// bits-and-blooms/bloom version 3, the usual Bloom filter of Go programs.
//
//     offset size
//          0    8  bits m, big-endian
//          8    8  hashes, big-endian
//         16    8  length of the bitset, big-endian; equals m
//         24    –  ⌈length/64⌉ big-endian words, bit i in word i/64 at 1 << (i%64); the file ends here
//
// As JSON: {"m":…,"k":…,"b":"<base64url of the bitset: length and words>"}. Four hashes a0 … a3, the two halves of
// Murmur3 x64 128 of the key and of the key followed by a byte 1; position i = (a[i%2] + i·a[2 or 3]) mod m.
#include <fmt/core.h>

#include <array>
#include <cmath>
#include <numbers>

#include "base/try.h"
#include "filter/formats/base64.h"
#include "filter/formats/foreign_hash.h"
#include "filter/formats/go_bitset_format.h"
#include "filter/formats/registry.h"

namespace tamis::foreign {
namespace {

constexpr BitOrder kOrder = BitOrder::kBigEndianWords;

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

/// The bitset's own length is m in every file the library writes; with a shorter one, positions beyond it would be
/// lost.
Status check_bitset_length(const ByteReader& reader, std::uint64_t length, std::uint64_t bits) {
  if (bits != 0 && length == bits) return {};
  return reader.corruption(fmt::format("a filter of {} bits with a bitset of {}", bits, length));
}

Result<BloomShape> read_header(ByteReader& reader, const OpenOptions&) {
  TAMIS_TRY(const std::uint64_t bits, reader.read_be<std::uint64_t>("the number of bits"));
  TAMIS_TRY(const std::uint64_t hashes, reader.read_be<std::uint64_t>("the number of hashes"));
  TAMIS_TRY_STATUS(check_hashes(reader, hashes));
  TAMIS_TRY(const std::uint64_t length, read_bitset_length(reader, kOrder));
  TAMIS_TRY_STATUS(check_bitset_length(reader, length, bits));
  return BloomShape{.bits = bits, .hashes = static_cast<std::uint32_t>(hashes)};
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

constexpr ClassicLayout kLayout = {kBloomScheme<GoBloomPositions, kOrder>, 64, read_header, write_header, size};
constexpr std::size_t kBitsetOffset = 16;

Result<ProbePtr> open(const Input& input) { return open_classic(kLayout, input); }
Result<std::string> build_file(std::span<const std::string> keys, const BuildOptions& options) {
  return build_classic(kLayout, keys, options);
}

/// A whole number that JSON holds under this name.
Result<std::uint64_t> number_of(const nlohmann::json& json, const char* name, std::string_view file) {
  const auto found = json.find(name);
  if (found != json.end() && found->is_number_unsigned()) return found->get<std::uint64_t>();
  return Status::corruption(fmt::format("{}: \"{}\" is not a whole number", file, name));
}

Result<ProbePtr> open_json(const Input& input) {
  TAMIS_TRY(const nlohmann::json json, parse_go_json(input.bytes, input.name));
  if (!json.is_object()) return Status::corruption(fmt::format("{}: not a JSON object", input.name));
  TAMIS_TRY(const std::uint64_t bits, number_of(json, "m", input.name));
  TAMIS_TRY(const std::uint64_t hashes, number_of(json, "k", input.name));
  const auto text = json.find("b");
  if (text == json.end() || !text->is_string()) {
    return Status::corruption(fmt::format("{}: \"b\" is not a string", input.name));
  }
  TAMIS_TRY(std::string bitset, decode_bitset_text(text->get_ref<const std::string&>(), input.name));
  ByteReader reader(as_bytes(bitset), input.name);
  TAMIS_TRY_STATUS(check_hashes(reader, hashes));
  TAMIS_TRY(const std::uint64_t length, read_bitset_length(reader, kOrder));
  TAMIS_TRY_STATUS(check_bitset_length(reader, length, bits));
  const std::size_t header_bytes = reader.offset();
  TAMIS_TRY_STATUS(reader.skip(body_bytes(length, 64), "the bit array"));
  TAMIS_TRY_STATUS(reader.expect_end());
  bitset.erase(0, header_bytes);
  const BloomShape shape = {.bits = bits, .hashes = static_cast<std::uint32_t>(hashes)};
  return ProbePtr(std::make_unique<BloomProbe>(kLayout.scheme, shape, std::move(bitset)));
}

Result<std::string> build_json(std::span<const std::string> keys, const BuildOptions& options) {
  TAMIS_TRY(const std::string file, build_file(keys, options));
  return fmt::format(R"({{"m":{},"k":{},"b":"{}"}})", load_be<std::uint64_t>(file.data()),
                     load_be<std::uint64_t>(file.data() + 8),
                     base64url_encode(std::string_view(file).substr(kBitsetOffset)));
}

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

constinit const Format kGoBloomFormat = {
    .info = kInfo, .takes = kTakes, .open = open, .build = build_file, .fit = fit_if_it_opens<open>};
constinit const Format kGoBloomJsonFormat = {
    .info = kJsonInfo, .takes = kTakes, .open = open_json, .build = build_json, .fit = fit_if_it_opens<open_json>};

}  // namespace tamis::foreign
