// The layout of tamis's filter container. Documented with hex in docs/FORMAT.md; frozen by tests/golden/filters.
//
//     offset size
//          0    8  magic "TAMISFLT"
//          8    2  version, 1
//         10    1  kind (FilterKindInfo::id)
//         11    1  layout: 0 the kind's own, 1 list of fingerprints (tiny_set.cc), 2 the kind's own, in slices
//         12    4  header bytes, 128; a later version may have more
//         16    8  required features: an unknown bit rejects the file; bit 0: a log follows (filter_log_format.h)
//         24    8  optional features: an unknown bit is ignored
//         32    8  keys
//         40    8  body bytes
//         48   16  seed: 8 bytes public seed and 8 of zero, or the 16 bytes of the key
//         64    1  seed mode: 0 public, 1 keyed
//         65    1  prefix rule: 0 none, 1 first, 2 until
//         66    2  prefix argument
//         68    4  hashes: probes per key, or bits per fingerprint
//         72   32  four numbers of 8 bytes whose meaning is the kind's own
//        104    8  designed false-positive rate, IEEE 754 double; see rate_in_header
//        112    8  layout 2: bytes of the first slice; otherwise zero
//        120    8  XXH3-64 of bytes 0 … 119 followed by the body or, in layout 2, by the first slice
//        128    –  body
//
// All numbers are little-endian. The file ends with the body, or in layout 2 where any slice of it ends. The kind knows
// where the slices after the first begin, and how they are checksummed.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "tamis/filter.h"
#include "tamis/status.h"

namespace tamis {

inline constexpr std::size_t kFilterHeaderBytes = 128;
inline constexpr std::string_view kFilterMagic = "TAMISFLT";
inline constexpr std::uint16_t kFilterVersion = 1;

enum class FilterLayout : std::uint8_t { kOwn = 0, kList = 1, kSlices = 2 };

/// The decoded header of the container.
struct FilterHeader {
  std::uint8_t kind = 0;
  FilterLayout layout = FilterLayout::kOwn;
  std::uint64_t keys = 0;
  FilterSeed seed;
  PrefixRule prefix_rule;
  std::uint32_t hashes = 0;
  std::array<std::uint64_t, 4> numbers = {};
  double designed_rate = 0;

  // Layout kSlices only; otherwise 0.
  std::uint64_t all_slices_bytes = 0;  // The body with all slices.
  std::uint64_t first_slice_bytes = 0;
};

/// A predicted rate as headers store it: cut to 20 significant bits, so that the bytes of a filter do not depend on the
/// order in which a prediction adds its terms. At most `rate`, except for what is 2⁻⁴⁰ of it, so that a rate that is
/// short by rounding alone, like 0.25, keeps its value. Older files have all 53 bits.
double rate_in_header(double rate);

/// Writes header and checksum in front of the body, which is already in place.
void encode_filter_header(const FilterHeader& header, MutableBytes container);
/// Whether the header says that a log follows the container. Anything else may be wrong with it.
bool has_filter_log(Bytes file);
/// Makes it say so, in a container that is whole.
void announce_filter_log(MutableBytes container);
/// The checksum in the header, unchecked.
std::uint64_t filter_checksum(Bytes file);
/// The bytes of the whole container, from its first kFilterHeaderBytes. The checksum is not looked at.
Result<std::uint64_t> announced_filter_bytes(Bytes header, std::string_view name);
/// Checks everything that does not depend on the kind. Of a body in slices, only the first may be there.
Result<FilterHeader> decode_filter_header(Bytes container, std::string_view name);

}  // namespace tamis
