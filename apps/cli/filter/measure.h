// Filters put to the test: how often they are wrong, and what they cost.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tamis/filter.h"

namespace tamis::cli {

/// Hashes of keys that are put into a filter, and of others. Hashed once: all filters of one seed share them.
struct SampleHashes {
  std::vector<std::uint64_t> present;
  std::vector<std::uint64_t> absent;
};

SampleHashes sample_hashes(std::uint64_t present, std::uint64_t absent);

Result<Filter> build_from(std::string_view kind, SizeTarget target, std::span<const std::uint64_t> hashes);

/// The part of these absent keys that the filter takes for present.
double measured_rate(const Filter& filter, std::span<const std::uint64_t> absent);

}  // namespace tamis::cli
