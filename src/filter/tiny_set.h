// Tiny sets as a sorted list of 16-bit fingerprints: 16 bits per key for every kind, whose own layouts would take a
// cache line or more.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "filter/filter_kind.h"

namespace tamis {

inline constexpr std::uint64_t kTinySetKeys = 64;

/// The size of a list for this many keys; keys ≤ kTinySetKeys.
FilterSize tiny_set_size(std::uint64_t keys);
Result<FilterImage> build_tiny_set(std::span<const std::uint64_t> hashes);
Result<FilterProbe> open_tiny_set(const FilterHeader& header, Bytes body, std::string_view name);
FilterEstimate estimate_tiny_set(const FilterImage& image);

}  // namespace tamis
