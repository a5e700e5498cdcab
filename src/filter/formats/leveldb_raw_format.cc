// The filter bytes of LevelDB (`leveldb.BuiltinBloomFilter2`) and, identical, of BadgerDB tables.
//
//     –  bits, bit p at byte p/8, mask 1 << (p%8); at least 8 bytes
//     1  hashes; more than 30 are reserved and mean "maybe" for every key, like 0
//
// Position i = (h + i·ror(h, 17)) mod bits in 32 bits, h LevelDB's own hash. Fewer than two bytes hold no keys. The two
// systems differ only in sizing: Badger computes a number of hashes and uses it as bits per key.
#include "filter/formats/leveldb_bloom.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/try.h"
#include "filter/formats/foreign_hash.h"
#include "filter/formats/registry.h"

namespace tamis::foreign {
namespace {

constexpr std::uint32_t kHashLimit = 30;

class LevelDbPositions : public SteppedPositions<std::uint32_t> {
 public:
  LevelDbPositions(std::string_view key, const BloomShape& shape)
      : SteppedPositions(shape, leveldb_hash32(key, TailBytes::kUnsigned)) {
    step_ = std::rotr(value_, 17);
  }
};

constexpr BloomScheme kScheme = kBloomScheme<LevelDbPositions, BitOrder::kBytes>;

Result<ProbePtr> open(const Input& input) { return open_leveldb_bloom(input.bytes); }

/// Only the last byte can be recognised.
Fit fit(const Input& input) {
  if (input.bytes.size() < 2) return Fit::kPossible;
  const auto hashes = std::to_integer<std::uint32_t>(input.bytes.back());
  return hashes >= 1 && hashes <= kHashLimit && input.bytes.size() >= 9 ? Fit::kPossible : Fit::kNo;
}

Result<std::string> build_with(std::span<const std::string> keys, const BuildOptions& options,
                               std::uint32_t bits_per_key) {
  const std::uint64_t count = options.expected_keys.value_or(keys.size());
  const double wanted = std::max(64.0, static_cast<double>(count) * bits_per_key);
  TAMIS_TRY(const std::uint64_t bits, checked_bits(wanted));
  const std::uint64_t bytes = (bits + 7) / 8;
  if (bytes * 8 > std::numeric_limits<std::uint32_t>::max()) {
    return Status::invalid_argument(fmt::format("{} bits exceed the range of a 32-bit hash", bits));
  }
  TAMIS_TRY(const std::uint32_t hashes,
            checked_hashes(options, std::clamp(std::floor(bits_per_key * 0.69), 1.0, double{kHashLimit}), kHashLimit));
  const char trailer = static_cast<char>(hashes);
  TAMIS_TRY(std::string file, zeroed_file({}, bytes, {&trailer, 1}));
  const BloomShape shape = {.bits = bytes * 8, .hashes = hashes};
  const MutableBytes array = std::as_writable_bytes(std::span(file)).first(bytes);
  for (const std::string& key : keys) kScheme.add(array, shape, key);
  return file;
}

Result<std::string> build_leveldb(std::span<const std::string> keys, const BuildOptions& options) {
  TAMIS_TRY(const std::uint32_t bits_per_key, whole_bits_per_key(options, 10));
  return build_with(keys, options, bits_per_key);
}

/// The optimal hashes for this rate, which Badger uses as bits per key: 1 % becomes 7 bits, about 4 %.
std::uint32_t badger_bits_per_key(std::uint64_t keys, double rate) {
  constexpr double kLn2 = 0.69314718056;  // With Badger's number of digits.
  const auto n = static_cast<double>(keys);
  const double bits = -n * std::log(rate) / (kLn2 * kLn2);
  return static_cast<std::uint32_t>(std::ceil(kLn2 * bits / n));
}

Result<std::string> build_badger(std::span<const std::string> keys, const BuildOptions& options) {
  if (options.bits_per_key && options.fpr) {
    return Status::invalid_argument("badger takes a rate or bits per key, not both");
  }
  const std::uint32_t by_rate = badger_bits_per_key(keys_to_size_for(options, keys.size()), options.fpr.value_or(0.01));
  TAMIS_TRY(const std::uint32_t bits_per_key, whole_bits_per_key(options, by_rate));
  return build_with(keys, options, bits_per_key);
}

}  // namespace

ProbePtr open_leveldb_bloom(Bytes filter) {
  if (filter.size() < 2) return std::make_unique<ConstantProbe>(false);
  const auto hashes = std::to_integer<std::uint32_t>(filter.back());
  if (hashes == 0 || hashes > kHashLimit) return std::make_unique<ConstantProbe>(true);
  const Bytes bits = filter.first(filter.size() - 1);
  return std::make_unique<BloomProbe>(kScheme, BloomShape{.bits = bits.size() * 8, .hashes = hashes}, bits);
}

constinit const Format kLevelDbRawFormat = {
    .info = {.name = "leveldb-raw",
             .system = "LevelDB",
             .summary = "one filter: bit array, number of hashes",
             .build_parameters = "expected keys, bits per key (10, whole), hashes",
             .self_describing = false,
             .writable = true},
    .takes = kTakesExpectedKeys | kTakesBitsPerKey | kTakesHashes,
    .open = open,
    .build = build_leveldb,
    .fit = fit};

constinit const Format kBadgerFormat = {
    .info = {.name = "badger",
             .system = "BadgerDB v3, v4",
             .summary = "a table's filter bytes: bit array, number of hashes",
             .build_parameters = "expected keys, rate (0.01) or bits per key (whole), hashes",
             .self_describing = false,
             .writable = true},
    .takes = kTakesExpectedKeys | kTakesRate | kTakesBitsPerKey | kTakesHashes,
    .open = open,
    .build = build_badger,
    .fit = fit};

}  // namespace tamis::foreign
