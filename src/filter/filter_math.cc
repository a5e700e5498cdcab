#include "tamis/filter_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "filter/block_rates.h"

namespace tamis {

double FilterSize::bound_ratio() const {
  if (keys == 0 || !(rate > 0 && rate < 1)) return 0;
  return bits_per_key() / std::log2(1 / rate);
}

namespace filter_math {
namespace {

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

/// Up to this product of bits and probes the rate is exact, beyond it approximate. Another limit would give other
/// sizes.
constexpr double kExactProduct = 4e6;

/// (μ/m)^k with the second-order term of the variance of the number of set bits.
double approximate_bloom_rate(double bits, double hashes, double probes) {
  const double empty = std::exp(probes * std::log1p(-1 / bits));
  const double both_empty = std::exp(probes * std::log1p(-2 / bits));
  const double mean = 1 - empty;                                                       // Of X/m.
  const double variance = (both_empty - empty * empty) + (empty - both_empty) / bits;  // Of X/m.
  const double rate =
      std::pow(mean, hashes) * (1 + hashes * (hashes - 1) / 2 * std::max(0.0, variance) / (mean * mean));
  return std::min(1.0, rate);
}

}  // namespace

double bloom_bits(double keys, double rate) {
  return std::ceil(keys * -std::log(rate) / (std::numbers::ln2 * std::numbers::ln2));
}

std::uint32_t bloom_hashes(double bits, double keys) {
  if (keys <= 0) return 1;
  return static_cast<std::uint32_t>(std::clamp(std::round(bits / keys * std::numbers::ln2), 1.0, 255.0));
}

double bloom_rate(double bits, std::uint32_t hashes, double keys) {
  if (keys <= 0 || hashes == 0) return keys <= 0 ? 0 : 1;
  const double probes = keys * hashes;
  if (bits <= 1) return 1;
  if (bits * probes <= kExactProduct) {
    HitChance chance(std::floor(bits), hashes);
    for (double i = 0; i < probes; ++i) chance.add_probe();
    return chance.all_hit();
  }
  return approximate_bloom_rate(bits, hashes, probes);
}

double blocked_bloom_rate(double blocks, std::uint32_t block_bits, std::uint32_t hashes, double keys) {
  if (keys <= 0) return 0;
  return block_rate_tables().with(block_bits, hashes, [&](BlockRates& rates) {
    return binomial_mean(keys, 1 / blocks, [&](double load) { return rates.at(load); });
  });
}

double split_bloom_rate(double blocks, std::uint32_t word_bits, std::uint32_t hashes, double keys) {
  if (keys <= 0) return 0;
  const double miss = std::log1p(-1.0 / word_bits);
  return binomial_mean(keys, 1 / blocks, [&](double load) { return std::pow(-std::expm1(load * miss), hashes); });
}

double bloom_keys_from_fill(double bits, std::uint32_t hashes, double set_bits) {
  if (set_bits >= bits) return std::numeric_limits<double>::infinity();
  return -bits / hashes * std::log1p(-set_bits / bits);
}

}  // namespace filter_math

namespace {

RunFilter filter_at(double lambda, const PlannedRun& run, double bits_per_halving) {
  const double rate = lambda * run.keys / (run.weight * run.cost);
  if (run.keys <= 0 || !(rate < 0.5)) return {.bits_per_key = 0, .rate = run.keys <= 0 ? 0.0 : 1.0};
  return {.bits_per_key = bits_per_halving * std::log2(1 / rate), .rate = rate};
}

double bits_at(double lambda, std::span<const PlannedRun> runs, double bits_per_halving) {
  double bits = 0;
  for (const PlannedRun& run : runs) bits += run.keys * filter_at(lambda, run, bits_per_halving).bits_per_key;
  return bits;
}

double wasted_probes(std::span<const PlannedRun> runs, std::span<const RunFilter> filters) {
  double wasted = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) wasted += runs[i].weight * runs[i].cost * filters[i].rate;
  return wasted;
}

}  // namespace

FilterPlan filter_plan(std::span<const PlannedRun> runs, double budget_bits, double bits_per_halving) {
  // bits_at decreases with λ, with a jump where a run loses its filter: bisect on log λ for the smallest λ that fits.
  double low = -600;
  double high = 600;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (bits_at(std::exp(middle), runs, bits_per_halving) > budget_bits ? low : high) = middle;
  }
  FilterPlan plan;
  for (const PlannedRun& run : runs) plan.runs.push_back(filter_at(std::exp(high), run, bits_per_halving));
  plan.wasted_probes = wasted_probes(runs, plan.runs);
  return plan;
}

FilterPlan uniform_filter_plan(std::span<const PlannedRun> runs, double budget_bits, double bits_per_halving) {
  double keys = 0;
  for (const PlannedRun& run : runs) keys += run.keys;
  const double bits_per_key = keys > 0 ? budget_bits / keys : 0;
  FilterPlan plan;
  for (const PlannedRun& run : runs) {
    plan.runs.push_back({.bits_per_key = run.keys > 0 ? bits_per_key : 0,
                         .rate = run.keys > 0 ? std::exp2(-bits_per_key / bits_per_halving) : 0});
  }
  plan.wasted_probes = wasted_probes(runs, plan.runs);
  return plan;
}

}  // namespace tamis
