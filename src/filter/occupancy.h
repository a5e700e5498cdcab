// Balls into bins, exactly: the basis for the predicted rates of small and blocked filters.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tamis::filter_math {

/// The distribution of the number of set bits as uniform probes into `bits` bits are added.
class Occupancy {
 public:
  explicit Occupancy(std::uint32_t bits) : chance_(bits + 1, 0.0) { chance_[0] = 1; }

  /// One more probe: it sets a new bit with probability 1 − set/bits.
  void throw_ball() {
    const auto bits = static_cast<double>(chance_.size() - 1);
    most_ = std::min(most_ + 1, chance_.size() - 1);
    for (std::size_t set = most_; set > 0; --set) {
      chance_[set] = chance_[set] * static_cast<double>(set) / bits +
                     chance_[set - 1] * (bits - static_cast<double>(set) + 1) / bits;
    }
    chance_[0] = 0;
  }

  /// For every number of set bits, the probability that `hashes` new uniform probes all hit set bits.
  [[nodiscard]] std::vector<double> hit_chances(std::uint32_t hashes) const {
    const auto bits = static_cast<double>(chance_.size() - 1);
    std::vector<double> chances(chance_.size());
    for (std::size_t set = 1; set < chances.size(); ++set) {
      chances[set] = std::pow(static_cast<double>(set) / bits, hashes);
    }
    return chances;
  }
  /// The probability that all hit, given what `hit_chances` returned.
  [[nodiscard]] double all_hit(const std::vector<double>& hit_chances) const {
    double rate = 0;
    for (std::size_t set = 1; set <= most_; ++set) rate += chance_[set] * hit_chances[set];
    return rate;
  }

 private:
  std::vector<double> chance_;  // chance_[x]: the probability of exactly x set bits.
  std::size_t most_ = 0;
};

/// The rate of one block of `block_bits` bits that holds `load` keys, k probes each; cached per (bits, k).
///
/// Threads: any.
double block_rate(std::uint32_t block_bits, std::uint32_t hashes, double load);

/// The mean of f over a binomial number of successes: the distribution of one block's load among many.
template <typename Function>
double binomial_mean(double trials, double chance, Function f) {
  if (chance >= 1) return f(trials);
  const double mean = trials * chance;
  const double spread = 12 * std::sqrt(mean * (1 - chance)) + 12;
  const double first = std::max(0.0, std::floor(mean - spread));
  const double last = std::min(trials, std::ceil(mean + spread));
  // From the mode outwards by the ratio of neighbours, normalised at the end: avoids large factorials.
  const double mode = std::clamp(std::floor(mean), first, last);
  double total_weight = 1;
  double total = f(mode);
  double weight = 1;
  for (double x = mode; x < last; ++x) {
    weight *= (trials - x) / (x + 1) * chance / (1 - chance);
    total += weight * f(x + 1);
    total_weight += weight;
  }
  weight = 1;
  for (double x = mode; x > first; --x) {
    weight *= x / (trials - x + 1) * (1 - chance) / chance;
    total += weight * f(x - 1);
    total_weight += weight;
  }
  return total / total_weight;
}

}  // namespace tamis::filter_math
