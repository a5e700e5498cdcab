// The bitmap of a Python book chapter: just ⌈m/8⌉ bytes. m and the number of hashes are out of band.
//
// Bit p at byte p/8, mask 1 << (p%8). Position i = (a + i·b) mod m in unbounded integers; a and b are the halves of the
// key's MD5, big-endian.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/try.h"
#include "filter/formats/classic.h"
#include "filter/formats/md5.h"
#include "filter/formats/registry.h"

namespace tamis::foreign {
namespace {

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

Result<BloomShape> read_header(ByteReader& reader, const OpenOptions& options) {
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

void write_header(std::string&, const BloomShape&) {}

Result<BloomShape> size(const BuildOptions& options, std::uint64_t keys) {
  TAMIS_TRY(const std::uint64_t bits, bits_by_rate(options, keys));
  // Python rounds ties to even, as nearbyint does in the default rounding mode.
  const double best = std::nearbyint(static_cast<double>(bits) / static_cast<double>(keys) * std::numbers::ln2);
  TAMIS_TRY(const std::uint32_t hashes, checked_hashes(options, std::max(best, 1.0), kMaxHashes));
  return BloomShape{.bits = bits, .hashes = hashes};
}

constexpr ClassicLayout kLayout = {kBloomScheme<PyChapterPositions, BitOrder::kBytes>, 8, read_header, write_header,
                                   size};

/// Any bytes could be one; whoever knows bits and hashes can also name the format.
Fit fit(const Input& input) { return input.bytes.empty() ? Fit::kNo : Fit::kPossible; }

}  // namespace

constinit const Format kPyChapterFormat = {
    .info = {.name = "pychapter",
             .system = "a Python book's chapter on LSM trees, which keeps each table's filter as TABLE.bloom",
             .summary = "the bit array alone; MD5",
             .build_parameters = "expected keys, rate (0.01); or bits and hashes",
             .self_describing = false,
             .writable = true,
             .needs_bits_to_probe = true,
             .needs_hashes_to_probe = true},
    .takes = kTakesExpectedKeys | kTakesRate | kTakesBits | kTakesHashes,
    .open = open_as<kLayout>,
    .build = build_as<kLayout>,
    .fit = fit,
    .out_of_band = size};

}  // namespace tamis::foreign
