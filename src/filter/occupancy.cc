#include "filter/occupancy.h"

#include <map>
#include <utility>

#include "base/sync.h"

namespace tamis::filter_math {
namespace {

/// Beyond this load practically every bit of a block is set.
constexpr std::size_t kMaxLoad = 512;

std::vector<double> rates_by_load(std::uint32_t block_bits, std::uint32_t hashes) {
  std::vector<double> rates = {0};
  Occupancy occupancy(block_bits);
  while (rates.size() <= kMaxLoad) {
    for (std::uint32_t i = 0; i < hashes; ++i) occupancy.throw_ball();
    rates.push_back(occupancy.all_hit(hashes));
  }
  return rates;
}

/// Caches tables. A table takes some milliseconds, and sizing needs the same few repeatedly.
class RateTables {
 public:
  const std::vector<double>& get(std::uint32_t block_bits, std::uint32_t hashes) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto [place, is_new] = tables_.try_emplace({block_bits, hashes});
    if (is_new) place->second = rates_by_load(block_bits, hashes);
    return place->second;  // Map elements do not move.
  }

 private:
  Mutex mutex_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> tables_ GUARDED_BY(mutex_);
};

}  // namespace

double block_rate(std::uint32_t block_bits, std::uint32_t hashes, double load) {
  static RateTables tables;
  const std::vector<double>& rates = tables.get(block_bits, hashes);
  return rates[static_cast<std::size_t>(std::min(load, static_cast<double>(kMaxLoad)))];
}

}  // namespace tamis::filter_math
