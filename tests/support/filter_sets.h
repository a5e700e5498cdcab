// Key sets for filter tests: distinct by construction, reproducible from a seed, members and absent keys never mixed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"

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

}  // namespace tamis::test
