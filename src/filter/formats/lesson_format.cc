// The layout of a Rust lesson on storage engines.
//
//     offset size
//          0    4  bits m, little-endian
//          4    4  hashes, little-endian
//          8    –  ⌈m/8⌉ bytes, bit i at byte i/8, mask 1 << (i%8); the file ends here
//
// Position i = (h1 + i·h2) mod m. h1 is SipHash-1-3 with a zero key over what Rust hashes for a byte slice: its length
// as 8 little-endian bytes, then the bytes. h2 is the same with the u32 0xdeadbeef appended.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/try.h"
#include "filter/formats/classic.h"
#include "filter/formats/foreign_hash.h"
#include "filter/formats/registry.h"

namespace tamis::foreign {
namespace {

class LessonPositions : public SteppedPositions<std::uint64_t> {
 public:
  LessonPositions(std::string_view key, const BloomShape& shape) : SteppedPositions(shape) {
    std::array<char, 8> length;
    store_le<std::uint64_t>(length.data(), key.size());
    SipHasher13 hasher;
    hasher.update({length.data(), length.size()});
    hasher.update(key);
    value_ = hasher.finish();
    hasher.update("\xef\xbe\xad\xde");
    step_ = hasher.finish();
  }
};

Result<BloomShape> read_header(ByteReader& reader, const OpenOptions&) {
  TAMIS_TRY(const std::uint32_t bits, reader.read_le<std::uint32_t>("the number of bits"));
  TAMIS_TRY(const std::uint32_t hashes, reader.read_le<std::uint32_t>("the number of hashes"));
  TAMIS_TRY_STATUS(check_hashes(reader, hashes));
  return BloomShape{.bits = bits, .hashes = hashes};
}

void write_header(std::string& file, const BloomShape& shape) {
  append_le<std::uint32_t>(file, static_cast<std::uint32_t>(shape.bits));
  append_le<std::uint32_t>(file, shape.hashes);
}

Result<BloomShape> size(const BuildOptions& options, std::uint64_t keys) {
  TAMIS_TRY(const std::uint32_t bits_per_key, whole_bits_per_key(options, 10));
  TAMIS_TRY(const std::uint64_t bits,
            options.bits ? checked_bits(*options.bits)
                         : checked_bits(static_cast<double>(keys) * static_cast<double>(bits_per_key)));
  if (bits > std::numeric_limits<std::uint32_t>::max()) {
    return Status::invalid_argument(fmt::format("{} bits exceed the 32-bit field of the lesson's header", bits));
  }
  const double best = std::clamp(std::ceil(bits_per_key * 0.693), 1.0, 30.0);
  TAMIS_TRY(const std::uint32_t hashes, checked_hashes(options, best, kMaxHashes));
  return BloomShape{.bits = bits, .hashes = hashes};
}

constexpr ClassicLayout kLayout = {kBloomScheme<LessonPositions, BitOrder::kBytes>, 8, read_header, write_header, size};

}  // namespace

constinit const Format kLessonFormat = {
    .info = {.name = "lesson",
             .system = "the lesson \"Bloom Filters, Block Cache, and Read Optimization\" of a Rust course module \"LSM "
                       "Trees & Compaction\"",
             .summary = "bits, hashes, bit array; the SipHash-1-3 of Rust's DefaultHasher",
             .build_parameters = "expected keys, bits per key (10, whole); or bits and hashes",
             .writable = true},
    .takes = kTakesExpectedKeys | kTakesBitsPerKey | kTakesBits | kTakesHashes,
    .open = open_as<kLayout>,
    .build = build_as<kLayout>,
    .fit = fit_if_it_opens<open_as<kLayout>>};

}  // namespace tamis::foreign
