// Kinds, builds and key sets for filter tests. Key sets are distinct by construction, reproducible from a seed, members
// and absent keys never mixed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "tamis/filter.h"

namespace tamis::test {

/// The hashes of set number `set`: remix is a bijection, so distinct counters give distinct hashes.
class HashSet {
 public:
  explicit HashSet(std::uint64_t set) : base_(set << 36) {}

  [[nodiscard]] std::uint64_t member(std::uint64_t i) const { return remix(base_ + i); }
  /// Never a member of any set.
  [[nodiscard]] std::uint64_t stranger(std::uint64_t i) const { return remix((base_ + i) | (std::uint64_t{1} << 63)); }

  [[nodiscard]] std::vector<std::uint64_t> members(std::uint64_t count) const {
    std::vector<std::uint64_t> all(count);
    for (std::uint64_t i = 0; i < count; ++i) all[i] = member(i);
    return all;
  }
  [[nodiscard]] std::vector<std::uint64_t> strangers(std::uint64_t count) const {
    std::vector<std::uint64_t> all(count);
    for (std::uint64_t i = 0; i < count; ++i) all[i] = stranger(i);
    return all;
  }

 private:
  std::uint64_t base_;
};

/// The names of all kinds, or of those with this capability.
inline std::vector<std::string> kind_names(bool FilterKindInfo::*capability = nullptr) {
  std::vector<std::string> names;
  for (const FilterKindInfo& info : filter_kinds()) {
    if (capability == nullptr || info.*capability) names.emplace_back(info.name);
  }
  return names;
}

/// Ends the test program if the build fails.
inline Filter build_filter(const FilterOptions& options, const std::vector<std::uint64_t>& hashes) {
  FilterBuilder builder(options);
  for (const std::uint64_t hash : hashes) builder.add_hash(hash);
  return builder.finish().value();
}

}  // namespace tamis::test
