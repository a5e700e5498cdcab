#include "filter/occupancy.h"

#include <map>
#include <utility>

#include "base/sync.h"

namespace tamis::filter_math {
namespace {

/// Beyond this load practically every bit of a block is set.
constexpr std::size_t kMaxLoad = 512;

/// The rates of one block by its load, computed up to the largest load that was asked for.
class BlockRates {
 public:
  BlockRates(std::uint32_t block_bits, std::uint32_t hashes)
      : hashes_(hashes), occupancy_(block_bits), hit_chances_(occupancy_.hit_chances(hashes)) {}

  double at(std::size_t load) {
    while (rates_.size() <= load) {
      for (std::uint32_t i = 0; i < hashes_; ++i) occupancy_.throw_ball();
      rates_.push_back(occupancy_.all_hit(hit_chances_));
    }
    return rates_[load];
  }

 private:
  std::uint32_t hashes_;
  Occupancy occupancy_;
  std::vector<double> hit_chances_;
  std::vector<double> rates_ = {0};
};

/// Caches rates: sizing needs the same few repeatedly.
class RateTables {
 public:
  double get(std::uint32_t block_bits, std::uint32_t hashes, std::size_t load) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return tables_.try_emplace({block_bits, hashes}, block_bits, hashes).first->second.at(load);
  }

 private:
  Mutex mutex_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, BlockRates> tables_ GUARDED_BY(mutex_);
};

}  // namespace

double block_rate(std::uint32_t block_bits, std::uint32_t hashes, double load) {
  static RateTables tables;
  return tables.get(block_bits, hashes, static_cast<std::size_t>(std::min(load, static_cast<double>(kMaxLoad))));
}

}  // namespace tamis::filter_math
