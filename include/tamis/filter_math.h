// The mathematics of filters as pure functions: sizes, false-positive rates, and sharing memory between runs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tamis/export.h"
#include "tamis/status.h"

namespace tamis {

/// The measure by which a filter is sized.
struct SizeTarget {
  /// What `value` measures.
  enum class Measure : std::uint8_t {
    kRate,        ///< At most this false-positive rate, 0 < rate < 1.
    kBitsPerKey,  ///< This many bits per key, > 0.
    kMemory,      ///< At most this many bytes, including the container's header.
  };
  Measure measure = Measure::kRate;  ///< What `value` measures.
  double value = 0.01;               ///< The rate, bits or bytes.
};

/// The properties of a filter, known before it is built.
struct TAMIS_EXPORT FilterSize {
  std::uint64_t keys = 0;    ///< The number of keys.
  std::uint64_t bytes = 0;   ///< The size without the container's header.
  std::uint32_t hashes = 0;  ///< Probes per key; for fingerprint kinds, bits per fingerprint.
  double rate = 0;           ///< Predicted false-positive rate.

  /// The size per key; 0 without keys.
  [[nodiscard]] double bits_per_key() const {
    return keys == 0 ? 0 : 8.0 * static_cast<double>(bytes) / static_cast<double>(keys);
  }
  /// The size relative to the information bound log2(1/rate); 0 where undefined.
  [[nodiscard]] double bound_ratio() const;
};

/// Sizes a filter. Returns kInvalidArgument for, say, a rate outside (0, 1); kNotSupported if the kind cannot reach the
/// target, naming one that can.
TAMIS_EXPORT Result<FilterSize> filter_size(std::string_view kind, std::uint64_t keys, SizeTarget target);

namespace filter_math {

/// m = ⌈n · ln(1/p) / (ln 2)²⌉, the optimal size of a classic Bloom filter in bits.
TAMIS_EXPORT double bloom_bits(double keys, double rate);
/// k = round(m/n · ln 2), at least 1: the optimal number of hashes for m bits and n keys.
TAMIS_EXPORT std::uint32_t bloom_hashes(double bits, double keys);
/// The expected rate of m bits after n keys with k independent uniform probes each. Exact (by the occupancy
/// distribution) while that is cheap, otherwise the usual formula with its second-order correction.
TAMIS_EXPORT double bloom_rate(double bits, std::uint32_t hashes, double keys);
/// The expected rate of n keys in `blocks` blocks of `block_bits` bits, with all k probes of a key in one block: the
/// mixture of bloom_rate over the binomial load of a block. This is where blocked filters lose accuracy.
TAMIS_EXPORT double blocked_bloom_rate(double blocks, std::uint32_t block_bits, std::uint32_t hashes, double keys);
/// Same, but each block has `hashes` equal words and a key sets one bit in every word (split blocks).
TAMIS_EXPORT double split_bloom_rate(double blocks, std::uint32_t word_bits, std::uint32_t hashes, double keys);

/// The number of keys in a Bloom filter with `set` of its m bits at 1: −m/k · ln(1 − set/m).
TAMIS_EXPORT double bloom_keys_from_fill(double bits, std::uint32_t hashes, double set_bits);

}  // namespace filter_math

/// One sorted run of a store, as input to the filter plan.
struct PlannedRun {
  double keys = 0;    ///< The number of keys.
  double weight = 1;  ///< The number of lookups that probe it, relative to the others.
  double cost = 1;    ///< The cost of a false positive there, relative to the others.
};

/// The filter planned for one run.
struct RunFilter {
  double bits_per_key = 0;  ///< 0: a filter is not worth its memory here.
  double rate = 1;          ///< The false-positive rate; 1 without a filter.
};

/// How one budget is shared between runs.
struct FilterPlan {
  std::vector<RunFilter> runs;  ///< One element per run.
  double wasted_probes = 0;     ///< Expected weighted false positives per lookup of an absent key.
};

/// Shares one budget between runs to minimise wasted reads for absent keys: p = min(1, λ·keys/(weight·cost)), with λ
/// chosen to use the budget. A run whose rate would be 0.5 or more gets no filter. `bits_per_halving` is what a kind
/// pays to halve its rate: 1.44 classic Bloom, about 1.5 line, 1.13 fuse, 1.01 ribbon.
TAMIS_EXPORT FilterPlan filter_plan(std::span<const PlannedRun> runs, double budget_bits, double bits_per_halving);

/// The same budget with equal bits per key, for comparison.
TAMIS_EXPORT FilterPlan uniform_filter_plan(std::span<const PlannedRun> runs, double budget_bits,
                                            double bits_per_halving);

}  // namespace tamis
