// Three layouts from teaching material: a course's lab, a course's lesson and a book's chapter.
//
// lab: of the public "distributed systems engineer" course on Bloom filters.
//
//     offset size
//          0    4  hashes, little-endian
//          4    8  bits m, little-endian
//         12    –  ⌈m/8⌉ bytes, bit i at byte i/8, mask 1 << (i%8); the file ends here
//
// Position i = (h1 + i·h2) mod m, h1 and h2 the low and high 32 bits of SplitMix64(FNV-1a 64).
//
// lesson: of a Rust lesson on storage engines.
//
//     offset size
//          0    4  bits m, little-endian
//          4    4  hashes, little-endian
//          8    –  ⌈m/8⌉ bytes, bit i at byte i/8, mask 1 << (i%8); the file ends here
//
// Position i = (h1 + i·h2) mod m. h1 is SipHash-1-3 with a zero key over what Rust hashes for a byte slice: its length
// as 8 little-endian bytes, then the bytes. h2 is the same with the u32 0xdeadbeef appended.
//
// pychapter: of a Python book: just ⌈m/8⌉ bytes. m and the number of hashes are out of band.
//
// Bit p at byte p/8, mask 1 << (p%8). Position i = (a + i·b) mod m in unbounded integers; a and b are the halves of the
// key's MD5, big-endian.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/try.h"
#include "filter/formats/classic.h"
#include "filter/formats/foreign_hash.h"

namespace tamis::foreign {
namespace {

class LabPositions : public SteppedPositions<std::uint64_t> {
 public:
  LabPositions(std::string_view key, const BloomShape& shape) : SteppedPositions(shape) {
    const std::uint64_t hash = splitmix64(fnv1a64(key));
    value_ = hash & 0xffffffffU;
    step_ = hash >> 32;
  }
};

Result<BloomShape> read_lab_header(ByteReader& reader, const OpenOptions&) {
  TAMIS_TRY(const std::uint32_t hashes, reader.read_le<std::uint32_t>("the number of hashes"));
  TAMIS_TRY_STATUS(check_hashes(reader, hashes));
  TAMIS_TRY(const std::uint64_t bits, reader.read_le<std::uint64_t>("the number of bits"));
  return BloomShape{.bits = bits, .hashes = hashes};
}

void write_lab_header(std::string& file, const BloomShape& shape) {
  append_le<std::uint32_t>(file, shape.hashes);
  append_le<std::uint64_t>(file, shape.bits);
}

Result<BloomShape> size_lab(const BuildOptions& options, std::uint64_t keys) {
  constexpr std::uint32_t kHashLimit = 30;
  TAMIS_TRY(const std::uint64_t bits, bits_by_rate(options, keys));
  const double best = std::round(static_cast<double>(bits) / static_cast<double>(keys) * std::numbers::ln2);
  TAMIS_TRY(const std::uint32_t hashes, checked_hashes(options, std::clamp(best, 1.0, double{kHashLimit}), kMaxHashes));
  return BloomShape{.bits = bits, .hashes = hashes};
}

constexpr ClassicLayout kLabLayout = {kBloomScheme<LabPositions, BitOrder::kBytes>, 8, read_lab_header,
                                      write_lab_header, size_lab};

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

Result<BloomShape> read_lesson_header(ByteReader& reader, const OpenOptions&) {
  TAMIS_TRY(const std::uint32_t bits, reader.read_le<std::uint32_t>("the number of bits"));
  TAMIS_TRY(const std::uint32_t hashes, reader.read_le<std::uint32_t>("the number of hashes"));
  TAMIS_TRY_STATUS(check_hashes(reader, hashes));
  return BloomShape{.bits = bits, .hashes = hashes};
}

void write_lesson_header(std::string& file, const BloomShape& shape) {
  append_le<std::uint32_t>(file, static_cast<std::uint32_t>(shape.bits));
  append_le<std::uint32_t>(file, shape.hashes);
}

Result<BloomShape> size_lesson(const BuildOptions& options, std::uint64_t keys) {
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

constexpr ClassicLayout kLessonLayout = {kBloomScheme<LessonPositions, BitOrder::kBytes>, 8, read_lesson_header,
                                         write_lesson_header, size_lesson};

class PyChapterPositions {
 public:
  PyChapterPositions(std::string_view key, const BloomShape& shape) : bits_(shape.bits) {
    const std::array<std::byte, 16> digest = md5(key);
    position_ = load_be<std::uint64_t>(digest.data()) % bits_;
    step_ = load_be<std::uint64_t>(digest.data() + 8) % bits_;
  }
  std::uint64_t next() {
    const std::uint64_t position = position_;
    // Python's integers do not wrap. Both terms are below m, so p + s - m is computed without the sum.
    position_ = position_ >= bits_ - step_ ? position_ - (bits_ - step_) : position_ + step_;
    return position;
  }

 private:
  std::uint64_t bits_;
  std::uint64_t position_;
  std::uint64_t step_;
};

Result<BloomShape> read_pychapter_header(ByteReader& reader, const OpenOptions& options) {
  if (!options.bits || !options.hashes) {
    return Status::invalid_argument("pychapter: the file holds neither; give the number of bits and of hashes");
  }
  if (*options.bits == 0 || *options.hashes == 0 || *options.hashes > kMaxHashes) {
    return Status::invalid_argument(
        fmt::format("pychapter: {} bits and {} hashes are invalid", *options.bits, *options.hashes));
  }
  if (body_bytes(*options.bits, 8) != reader.remaining()) {
    return reader.corruption(fmt::format("{} bits take {} bytes, the file has {}", *options.bits,
                                         body_bytes(*options.bits, 8), reader.remaining()));
  }
  return BloomShape{.bits = *options.bits, .hashes = *options.hashes};
}

void write_pychapter_header(std::string&, const BloomShape&) {}

Result<BloomShape> size_pychapter(const BuildOptions& options, std::uint64_t keys) {
  TAMIS_TRY(const std::uint64_t bits, bits_by_rate(options, keys));
  // Python rounds ties to even, as nearbyint does in the default rounding mode.
  const double best = std::nearbyint(static_cast<double>(bits) / static_cast<double>(keys) * std::numbers::ln2);
  TAMIS_TRY(const std::uint32_t hashes, checked_hashes(options, std::max(best, 1.0), kMaxHashes));
  return BloomShape{.bits = bits, .hashes = hashes};
}

constexpr ClassicLayout kPyChapterLayout = {kBloomScheme<PyChapterPositions, BitOrder::kBytes>, 8,
                                            read_pychapter_header, write_pychapter_header, size_pychapter};

/// Any bytes could be one; whoever knows bits and hashes can also name the format.
Fit fit_pychapter(const Input& input) { return input.bytes.empty() ? Fit::kNo : Fit::kPossible; }

}  // namespace

constinit const Format kLabFormat = classic_format<kLabLayout>(
    {.name = "lab",
     .system = "the lab \"Bloom filters and hashing\" of the public distributed-systems-engineer course",
     .summary = "hashes, bits, bit array; FNV-1a and SplitMix64",
     .build_parameters = "expected keys, rate (0.01); or bits and hashes",
     .writable = true},
    kTakesExpectedKeys | kTakesRate | kTakesBits | kTakesHashes);

constinit const Format kLessonFormat = classic_format<kLessonLayout>(
    {.name = "lesson",
     .system = "the lesson \"Bloom Filters, Block Cache, and Read Optimization\" of a Rust course module \"LSM "
               "Trees & Compaction\"",
     .summary = "bits, hashes, bit array; the SipHash-1-3 of Rust's DefaultHasher",
     .build_parameters = "expected keys, bits per key (10, whole); or bits and hashes",
     .writable = true},
    kTakesExpectedKeys | kTakesBitsPerKey | kTakesBits | kTakesHashes);

constinit const Format kPyChapterFormat = classic_format<kPyChapterLayout>(
    {.name = "pychapter",
     .system = "a Python book's chapter on LSM trees, which keeps each table's filter as TABLE.bloom",
     .summary = "the bit array alone; MD5",
     .build_parameters = "expected keys, rate (0.01); or bits and hashes",
     .self_describing = false,
     .writable = true,
     .needs_bits_to_probe = true,
     .needs_hashes_to_probe = true},
    kTakesExpectedKeys | kTakesRate | kTakesBits | kTakesHashes, {}, fit_pychapter);

}  // namespace tamis::foreign
