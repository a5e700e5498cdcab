// Measures filters: error rate and cost.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tamis/filter.h"

namespace tamis::cli {

/// Hashes of keys in a filter and of absent keys. Hashed once; all filters with the same seed share them.
struct SampleHashes {
  std::vector<std::uint64_t> present;
  std::vector<std::uint64_t> absent;
};

SampleHashes sample_hashes(std::uint64_t present, std::uint64_t absent);

Result<Filter> build_from(std::string_view kind, SizeTarget target, std::span<const std::uint64_t> hashes);

/// The fraction of these absent keys that pass the filter.
double measured_rate(const Filter& filter, std::span<const std::uint64_t> absent);

}  // namespace tamis::cli
