// Files that consist of a header and a Bloom filter's bits, as most formats do, and shared sizing rules.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/try.h"
#include "filter/formats/format.h"

namespace tamis::foreign {

/// The largest filter we build, 8 GiB; anything larger is a typing error.
inline constexpr std::uint64_t kMaxBuildBits = std::uint64_t{1} << 36;

/// The number of keys to size for, at least 1: where the originals divide by zero, an empty set counts as one key.
std::uint64_t keys_to_size_for(const BuildOptions& options, std::size_t keys);

/// −n · ln p / (ln 2)², the optimal size of a Bloom filter, as all these systems compute it before rounding.
double ideal_bits(std::uint64_t keys, double rate);

/// A computed or given size in bits; kInvalidArgument if it is 0 or above kMaxBuildBits.
Result<std::uint64_t> checked_bits(double bits);
Result<std::uint64_t> checked_bits(std::uint64_t bits);

/// options.bits if given, else ⌈ideal_bits⌉ for the rate, default 0.01: the sizing of most formats.
Result<std::uint64_t> bits_by_rate(const BuildOptions& options, std::uint64_t keys);

/// options.hashes if given, else `computed`; kInvalidArgument outside 1 … limit.
Result<std::uint32_t> checked_hashes(const BuildOptions& options, double computed, std::uint32_t limit);

/// options.bits_per_key, or `fallback`, for systems that take integers: 1 … 1000.
Result<std::uint32_t> whole_bits_per_key(const BuildOptions& options, std::uint32_t fallback);

/// `bytes` zeros between `head` and `tail`, or kOutOfSpace.
Result<std::string> zeroed_file(std::string_view head, std::uint64_t bytes, std::string_view tail = {});

/// What such a layout adds to the Bloom core: reading and writing its header, and its sizing rule.
///
/// Threads: immutable.
struct ClassicLayout {
  const BloomScheme& scheme;
  std::uint32_t unit_bits;  // The bits are padded to a multiple of this: 8 or 64.
  /// Reads and checks the header. Its `bits` need not fit the file yet. Null for layouts with their own opener.
  Result<BloomShape> (*read_header)(ByteReader& reader, const OpenOptions& options);
  void (*write_header)(std::string& file, const BloomShape& shape);
  Result<BloomShape> (*size)(const BuildOptions& options, std::uint64_t keys);
};

/// The bytes that `bits` take in units of unit_bits; never overflows.
constexpr std::uint64_t body_bytes(std::uint64_t bits, std::uint32_t unit_bits) {
  return (bits / unit_bits + (bits % unit_bits != 0 ? 1 : 0)) * (unit_bits / 8);
}

/// `head`, `bytes` of bits set for the keys, and `tail`.
template <typename Keys>
Result<std::string> build_bits(const BloomScheme& scheme, const BloomShape& shape, const Keys& keys,
                               std::string_view head, std::uint64_t bytes, std::string_view tail = {}) {
  TAMIS_TRY(std::string file, zeroed_file(head, bytes, tail));
  const MutableBytes bits = std::as_writable_bytes(std::span(file)).subspan(head.size(), bytes);
  for (const std::string_view key : keys) scheme.add(bits, shape, key);
  return file;
}

/// Reads the header, then exactly the bits it declares, then the end of the file.
Result<ProbePtr> open_classic(const ClassicLayout& layout, const Input& input, std::string detail = {});
/// Writes the header and the bits of the keys.
Result<std::string> build_classic(const ClassicLayout& layout, std::span<const std::string> keys,
                                  const BuildOptions& options);

/// Writes the header and these bits.
std::string write_classic(const ClassicLayout& layout, const PlainBits& plain);

// The same as functions of a Format.
template <const ClassicLayout& kLayout>
Result<ProbePtr> open_as(const Input& input) {
  return open_classic(kLayout, input);
}
template <const ClassicLayout& kLayout>
std::string rewrite_as(const PlainBits& plain) {
  return write_classic(kLayout, plain);
}

/// A format of one layout. Unless `fit` says otherwise, its header rules out accidents.
template <const ClassicLayout& kLayout>
constexpr Format classic_format(const FormatInfo& info, ParameterSet takes, std::string_view family = {},
                                Fit (*fit)(const Input&) = fit_if_it_opens<open_as<kLayout>>) {
  return {.info = info,
          .takes = takes,
          .open = open_as<kLayout>,
          .build = [](std::span<const std::string> keys,
                      const BuildOptions& options) { return build_classic(kLayout, keys, options); },
          .fit = fit,
          .size = kLayout.size,
          .family = family,
          .rewrite = rewrite_as<kLayout>};
}

/// The JVM libraries' sizing: bits truncated, hashes rounded from them, then bits rounded up to whole words.
Result<BloomShape> size_in_words(const BuildOptions& options, std::uint64_t keys, double default_rate,
                                 std::uint32_t most_hashes);

/// The number of 64-bit words in the JVM libraries' headers, as a number of bits.
Result<std::uint64_t> read_words(ByteReader& reader);

/// Rejects 0 hashes, or so many that a probe would not end, naming the offset.
Status check_hashes(const ByteReader& reader, std::uint64_t hashes, std::uint32_t limit = kMaxHashes);

}  // namespace tamis::foreign
