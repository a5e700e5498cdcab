// The false-positive rate of Bloom filters of any size, exactly, and of their blocks by load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/sync.h"

namespace tamis {

/// The chance that all k probes of an absent key hit set bits, as uniform probes set bits among `bits`.
///
/// It follows, for 0 … k given bits, the chance that all of them are set. That takes k steps for a probe, where the
/// distribution of the number of set bits takes one for each bit.
class HitChance {
 public:
  HitChance(double bits, std::uint32_t hashes);

  /// One more probe of a key that is added.
  void add_probe();
  [[nodiscard]] double all_hit() const;
  /// The work so far: numbers that `add_probe` has changed.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  std::vector<double> part_;      // part_[d]: d / bits.
  std::vector<double> distinct_;  // distinct_[d]: the chance that k probes are d different bits.
  std::vector<double> all_set_;   // all_set_[d]: the chance that d given bits are all set.
  std::uint64_t steps_ = 0;
};

/// The rates of one block by its load, computed up to the largest load that was asked for.
class BlockRates {
 public:
  /// Beyond this load practically every bit of a block is set.
  static constexpr double kMaxLoad = 512;

  BlockRates(std::uint32_t block_bits, std::uint32_t hashes) : hashes_(hashes), chance_(block_bits, hashes) {}

  /// The rate of a block that holds `load` keys.
  double at(double load);
  [[nodiscard]] std::uint64_t steps() const { return chance_.steps(); }

 private:
  std::uint32_t hashes_;
  HitChance chance_;
  std::vector<double> rates_ = {0};
};

/// Keeps the rates of blocks: sizing needs the same few repeatedly.
///
/// Threads: any.
class BlockRateTables {
 public:
  /// The result of `f`, called with the rates of blocks of this shape. `f` must not come back here.
  template <typename Function>
  double with(std::uint32_t block_bits, std::uint32_t hashes, Function f) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return f(tables_.try_emplace({block_bits, hashes}, block_bits, hashes).first->second);
  }
  /// The work so far, in steps of HitChance.
  [[nodiscard]] std::uint64_t steps() const EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, BlockRates> tables_ GUARDED_BY(mutex_);
};

/// The tables that filter_math::blocked_bloom_rate asks.
BlockRateTables& block_rate_tables();

}  // namespace tamis
