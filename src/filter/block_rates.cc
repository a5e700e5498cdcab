#include "filter/block_rates.h"

#include <algorithm>

namespace tamis {

HitChance::HitChance(double bits, std::uint32_t hashes)
    : part_(hashes + 1), distinct_(hashes + 1, 0.0), all_set_(hashes + 1, 0.0) {
  for (std::uint32_t d = 0; d <= hashes; ++d) part_[d] = std::min(d / bits, 1.0);
  distinct_[0] = 1;
  for (std::uint32_t probe = 0; probe < hashes; ++probe) {
    for (std::uint32_t d = hashes; d > 0; --d) {
      distinct_[d] = distinct_[d] * part_[d] + distinct_[d - 1] * (1 - part_[d - 1]);
    }
    distinct_[0] = 0;
  }
  all_set_[0] = 1;
}

void HitChance::add_probe() {
  // With chance d / bits the probe sets one of the d bits; the others set the rest.
  const std::size_t hashes = all_set_.size() - 1;
  for (std::size_t d = hashes; d > 0; --d) all_set_[d] += (all_set_[d - 1] - all_set_[d]) * part_[d];
  steps_ += hashes;
}

double HitChance::all_hit() const {
  double rate = 0;
  for (std::size_t d = 0; d < all_set_.size(); ++d) rate += distinct_[d] * all_set_[d];
  return rate;
}

double BlockRates::at(double load) {
  const auto wanted = static_cast<std::size_t>(std::min(load, kMaxLoad));
  while (rates_.size() <= wanted) {
    for (std::uint32_t i = 0; i < hashes_; ++i) chance_.add_probe();
    rates_.push_back(chance_.all_hit());
  }
  return rates_[wanted];
}

std::uint64_t BlockRateTables::steps() const {
  const MutexLock lock(mutex_);
  std::uint64_t steps = 0;
  for (const auto& [shape, rates] : tables_) steps += rates.steps();
  return steps;
}

BlockRateTables& block_rate_tables() {
  static BlockRateTables tables;
  return tables;
}

}  // namespace tamis
