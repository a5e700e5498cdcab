// Measures a false-positive rate with its uncertainty.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/filter_sets.h"
#include "tamis/filter.h"

namespace tamis::test {

struct MeasuredRate {
  double rate = 0;
  double sigma = 0;      // Of the mean, including the spread between key sets.
  double predicted = 0;  // Mean of the filters' designed rates.
  double bits_per_key = 0;

  [[nodiscard]] double deviation() const { return sigma > 0 ? (rate - predicted) / sigma : 0; }
};

inline std::uint64_t count_maybe(const Filter& filter, const std::vector<std::uint64_t>& hashes) {
  std::vector<std::uint64_t> answers((hashes.size() + 63) / 64);
  filter.may_contain_many(hashes, answers.data());
  std::uint64_t count = 0;
  for (const std::uint64_t word : answers) count += std::popcount(word);
  return count;
}

/// Builds filters of `keys` keys from several key sets and probes each with absent keys, at least a million in total.
/// `build` turns hashes into a Filter.
template <typename Build>
MeasuredRate measure_rate(std::uint64_t keys, std::uint64_t first_set, Build build) {
  const std::uint64_t sets = keys <= 1000        ? 200
                             : keys <= 20'000    ? 40
                             : keys <= 100'000   ? 16
                             : keys <= 1'000'000 ? 4
                                                 : 1;
  const std::uint64_t probes = std::max<std::uint64_t>(10'000, (keys >= 1'000'000 ? 2'000'000 : 1'200'000) / sets);
  std::vector<double> rates;
  MeasuredRate result;
  for (std::uint64_t set = 0; set < sets; ++set) {
    const HashSet source(first_set + set);
    const Filter filter = build(source.members(keys));
    rates.push_back(static_cast<double>(count_maybe(filter, source.strangers(probes))) / static_cast<double>(probes));
    result.predicted += filter.info().designed_rate / static_cast<double>(sets);
    result.bits_per_key +=
        static_cast<double>(filter.info().bits) / static_cast<double>(std::max<std::uint64_t>(keys, 1) * sets);
  }
  for (const double rate : rates) result.rate += rate / static_cast<double>(sets);
  double square = 0;
  for (const double rate : rates) square += (rate - result.rate) * (rate - result.rate);
  const auto count = static_cast<double>(sets);
  const double between = sets > 1 ? square / (count - 1) / count : 0;
  const double counted = result.predicted * (1 - result.predicted) / (count * static_cast<double>(probes));
  result.sigma = std::sqrt(std::max(between, counted));
  return result;
}

}  // namespace tamis::test
