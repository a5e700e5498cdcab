#include "engine/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/sharded_counter.h"

namespace tamis {
namespace {

constexpr unsigned kBitsInDoubling = 4;
constexpr std::size_t kPerDoubling = std::size_t{1} << kBitsInDoubling;
constexpr std::uint64_t kEnd = Stats::Latency::bound_ns(Stats::Latency::kBuckets - 1);

/// Bounds are inclusive, as Prometheus's are: 256 ns is the end of its bucket.
constexpr std::size_t bucket_of(std::uint64_t ns) {
  const std::uint64_t at = std::min(ns - (ns == 0 ? 0 : 1), kEnd - 1);
  if (at < kPerDoubling) return at;
  const unsigned doubling = static_cast<unsigned>(std::bit_width(at)) - kBitsInDoubling;
  return kPerDoubling * doubling + ((at >> (doubling - 1)) & (kPerDoubling - 1));
}

/// The shortest duration of a bucket, less one.
constexpr std::uint64_t first_of(std::size_t bucket) {
  const std::size_t doubling = bucket / kPerDoubling;
  if (doubling == 0) return bucket;
  return (kPerDoubling + bucket % kPerDoubling) << (doubling - 1);
}

/// The rank of a quantile, from 1.
std::uint64_t rank_of(double share, std::uint64_t count) {
  const auto rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count)));
  return std::clamp<std::uint64_t>(rank, 1, count);
}

}  // namespace

void LatencyHistogram::add(std::uint64_t ns) {
  static_assert(bucket_of(kEnd) == kBuckets - 1);
  Part& part = parts_[thread_number() % count_];
  part.counts[bucket_of(ns)].fetch_add(1, std::memory_order_relaxed);
  part.sum_ns.fetch_add(ns, std::memory_order_relaxed);
  std::uint64_t most = part.max_ns.load(std::memory_order_relaxed);
  while (ns > most && !part.max_ns.compare_exchange_weak(most, ns, std::memory_order_relaxed)) {
  }
}

Stats::Latency LatencyHistogram::latency() const {
  Stats::Latency latency;
  std::array<std::uint64_t, kBuckets> counts = {};
  for (std::size_t i = 0; i < count_; ++i) {
    const Part& part = parts_[i];
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      counts[bucket] += part.counts[bucket].load(std::memory_order_relaxed);
    }
    latency.sum_ns += part.sum_ns.load(std::memory_order_relaxed);
    latency.max_ns = std::max(latency.max_ns, part.max_ns.load(std::memory_order_relaxed));
  }
  for (std::size_t bucket = 0, large = 0; bucket < kBuckets; ++bucket) {
    if (large + 1 < Stats::Latency::kBuckets && first_of(bucket) >= Stats::Latency::bound_ns(large)) ++large;
    latency.buckets[large] += counts[bucket];
    latency.count += counts[bucket];
  }
  if (latency.count == 0) return latency;
  const auto quantile = [&](double share) {
    std::uint64_t left = rank_of(share, latency.count);
    for (std::size_t bucket = 0; bucket + 1 < kBuckets; ++bucket) {
      if (counts[bucket] < left) {
        left -= counts[bucket];
        continue;
      }
      return std::min(latency.max_ns, (first_of(bucket) + first_of(bucket + 1)) / 2 + 1);
    }
    return latency.max_ns;
  };
  latency.p50_ns = quantile(0.5);
  latency.p90_ns = quantile(0.9);
  latency.p99_ns = quantile(0.99);
  latency.p999_ns = quantile(0.999);
  return latency;
}

}  // namespace tamis
