#include "filter/ribbon_build.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace tamis {
namespace {

// A chunk is sorted and banded as a unit: its keys, their sorted copy and its rows fit in the L2 cache.
constexpr std::uint32_t kChunkShift = 13;
// With more destinations at once, every write of the scatter misses the TLB.
constexpr std::uint64_t kMaxChunks = 2048;

std::uint32_t chunk_shift(std::uint64_t starts) {
  std::uint32_t shift = kChunkShift;
  while ((starts >> shift) >= kMaxChunks) ++shift;
  return shift;
}

/// The keys of a bucket are grouped by the marks that bump them: first those that only the highest mark bumps, last
/// those that any mark but 0 does. A bucket that is too full drops whole groups from the end.
constexpr std::size_t kGroups = 3;

/// Adds a layer to the band, chunk by chunk.
class LayerBuild {
 public:
  LayerBuild(RibbonBand& band, const RibbonShape& shape, std::size_t layer, std::byte* marks,
             std::vector<std::uint64_t>& sent_on)
      : band_(band),
        buckets_(kRibbonBuckets[layer]),
        starts_(shape.starts[layer]),
        columns_(shape.columns),
        first_row_(shape.first_row(layer)),
        first_bucket_(shape.first_bucket(layer)),
        marks_(marks),
        sent_on_(sent_on) {}

  void add_chunk(std::span<const std::uint64_t> keys, std::uint64_t first_start, std::uint64_t end_start) {
    const std::uint64_t bucket = first_start >> buckets_.shift;
    const std::uint64_t bucket_count = ((end_start - 1) >> buckets_.shift) - bucket + 1;
    sort_into_groups(keys, bucket, bucket_count);
    for (std::uint64_t i = 0; i < bucket_count; ++i) {
      const std::uint32_t mark = add_bucket(&group_end_[kGroups * i]);
      if (mark != 0) set_ribbon_mark(marks_, first_bucket_ + bucket + i, mark);
    }
  }

 private:
  [[nodiscard]] std::size_t group_of(std::uint64_t position, std::uint64_t first_bucket) const {
    const std::uint64_t within = buckets_.within(position);
    const std::uint64_t group =
        std::uint64_t{within < buckets_.threshold[2]} + std::uint64_t{within < buckets_.threshold[1]};
    return ((position >> buckets_.shift) - first_bucket) * kGroups + group;
  }

  /// Puts the mixed keys into sorted_ and the end of group g into group_end_[g + 1].
  void sort_into_groups(std::span<const std::uint64_t> keys, std::uint64_t first_bucket, std::uint64_t bucket_count) {
    mixed_.resize(std::max(mixed_.size(), keys.size()));
    group_.resize(mixed_.size());
    sorted_.resize(mixed_.size());
    group_end_.assign(bucket_count * kGroups + 2, 0);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      mixed_[i] = ribbon_mix(keys[i]);
      const std::size_t group = group_of(fast_range(mixed_[i], starts_), first_bucket);
      group_[i] = static_cast<std::uint32_t>(group);
      ++group_end_[group + 2];
    }
    for (std::size_t g = 2; g < group_end_.size(); ++g) group_end_[g] += group_end_[g - 1];
    for (std::size_t i = 0; i < keys.size(); ++i) sorted_[group_end_[group_[i] + 1]++] = mixed_[i];
  }

  /// Adds a bucket whose groups lie between ends[0] … ends[3]; returns its mark.
  std::uint32_t add_bucket(const std::size_t* ends) {
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      if (add_group(ends[group], ends[group + 1])) continue;
      for (std::size_t i = ends[group]; i < ends[kGroups]; ++i) {
        sent_on_.push_back(ribbon_key_of_next_layer(sorted_[i]));
      }
      return kGroups - group;
    }
    return 0;
  }

  bool add_group(std::size_t begin, std::size_t end) {
    equations_.resize(std::max(equations_.size(), end - begin));
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t mixed = sorted_[i];
      equations_[i - begin] = {.row = first_row_ + fast_range(mixed, starts_),
                               .coefficients = ribbon_coefficients(mixed),
                               .sum = ribbon_fingerprint(mixed, columns_)};
    }
    return band_.add_all_or_none({equations_.data(), end - begin});
  }

  RibbonBand& band_;
  const RibbonBuckets& buckets_;
  const std::uint64_t starts_;
  const std::uint32_t columns_;
  const std::uint64_t first_row_;
  const std::uint64_t first_bucket_;
  std::byte* marks_;
  std::vector<std::uint64_t>& sent_on_;

  std::vector<std::uint64_t> mixed_;
  std::vector<std::uint32_t> group_;
  std::vector<std::uint64_t> sorted_;
  std::vector<std::size_t> group_end_;
  std::vector<RibbonEquation> equations_;
};

}  // namespace

std::optional<RibbonBand> RibbonBand::with_rows(std::uint64_t rows) {
  constexpr std::uint64_t kRowBytes = sizeof(std::uint64_t) + sizeof(std::uint32_t);
  if (rows > std::numeric_limits<std::size_t>::max() / kRowBytes) return std::nullopt;
  RibbonBand band;
  band.memory_ = AlignedBytes::zeroed(rows * kRowBytes);
  if (band.memory_.size() != rows * kRowBytes) return std::nullopt;
  band.rows_ = rows;
  band.coefficients_ = reinterpret_cast<std::uint64_t*>(band.memory_.data());
  band.sums_ = reinterpret_cast<std::uint32_t*>(band.coefficients_ + rows);
  return band;
}

/// Interleaves the steps of several equations, because each step waits for a load. A finished equation makes way for
/// the next. The order in which equations meet does not matter: those in lanes are not in the band yet. When none are
/// left, the remaining lanes continue with one fewer.
template <std::size_t kLanes>
bool RibbonBand::add_in_lanes(RibbonEquation* lanes, std::span<const RibbonEquation> rest) {
  if constexpr (kLanes > 0) {
    RibbonEquation lane[kLanes];  // A copy, so that it stays in registers.
    std::copy_n(lanes, kLanes, lane);
    for (;;) {
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kLanes; ++i) {
        RibbonEquation& equation = lane[i];
        const std::uint64_t present = coefficients_[equation.row];
        if (present == 0) {
          coefficients_[equation.row] = equation.coefficients;
          sums_[equation.row] = equation.sum;
          placed_[placed_count_++] = equation.row;
        } else {
          equation.coefficients ^= present;
          equation.sum ^= sums_[equation.row];
          if (equation.coefficients != 0) [[likely]] {
            const int zeros = std::countr_zero(equation.coefficients);
            equation.coefficients >>= zeros;
            equation.row += static_cast<std::uint64_t>(zeros);
            continue;
          }
          if (equation.sum != 0) return false;
        }
        if (rest.empty()) {
          equation = lane[kLanes - 1];
          std::copy_n(lane, kLanes - 1, lanes);
          return add_in_lanes<kLanes - 1>(lanes, rest);
        }
        equation = rest.front();
        rest = rest.subspan(1);
      }
    }
  }
  return true;
}

bool RibbonBand::add_all_or_none(std::span<const RibbonEquation> equations) {
  constexpr std::size_t kLanes = 4;  // Best of 1 … 8.
  RibbonEquation lanes[kLanes];
  placed_.resize(std::max(placed_.size(), equations.size()));
  placed_count_ = 0;
  bool added = false;
  if (equations.size() >= kLanes) {
    std::copy_n(equations.begin(), kLanes, lanes);
    added = add_in_lanes<kLanes>(lanes, equations.subspan(kLanes));
  } else {
    added = true;
    for (std::size_t i = 0; added && i < equations.size(); ++i) {
      lanes[0] = equations[i];
      added = add_in_lanes<1>(lanes, {});
    }
  }
  if (!added) {  // No remaining equation was reduced by these, so they can be dropped.
    for (const std::uint64_t row : std::span(placed_).first(placed_count_)) coefficients_[row] = sums_[row] = 0;
  }
  return added;
}

std::uint64_t RibbonBand::taken(std::uint64_t first, std::uint64_t count) const {
  const std::span<const std::uint64_t> rows(coefficients_ + first, count);
  return count - static_cast<std::uint64_t>(std::count(rows.begin(), rows.end(), 0U));
}

RibbonRows RibbonBand::copy_rows(std::uint64_t first, std::uint64_t count) const {
  return {.coefficients = {coefficients_ + first, coefficients_ + first + count},
          .sums = {sums_ + first, sums_ + first + count}};
}

void RibbonBand::replace_rows(std::uint64_t first, const RibbonRows& rows) {
  std::fill(coefficients_ + first, coefficients_ + rows_, 0);
  std::fill(sums_ + first, sums_ + rows_, 0);
  std::copy(rows.coefficients.begin(), rows.coefficients.end(), coefficients_ + first);
  std::copy(rows.sums.begin(), rows.sums.end(), sums_ + first);
}

void order_for_ribbon_layer(std::span<std::uint64_t> keys, const RibbonShape& shape, std::size_t layer) {
  const std::uint64_t starts = shape.starts[layer];
  const std::uint32_t shift = chunk_shift(starts);
  const std::uint64_t chunks = starts == 0 ? 0 : ((starts - 1) >> shift) + 1;
  if (chunks <= 1) return;
  AlignedBytes copy = AlignedBytes::zeroed(keys.size_bytes());
  if (copy.size() != keys.size_bytes()) {  // No memory for a copy: sort in place.
    std::sort(keys.begin(), keys.end(), [](std::uint64_t a, std::uint64_t b) { return ribbon_mix(a) < ribbon_mix(b); });
    return;
  }
  auto* ordered = reinterpret_cast<std::uint64_t*>(copy.data());
  const auto chunk_of = [&](std::uint64_t key) { return fast_range(ribbon_mix(key), starts) >> shift; };
  std::vector<std::size_t> next(chunks + 1, 0);
  for (const std::uint64_t key : keys) ++next[chunk_of(key) + 1];
  for (std::size_t chunk = 1; chunk <= chunks; ++chunk) next[chunk] += next[chunk - 1];
  for (const std::uint64_t key : keys) ordered[next[chunk_of(key)]++] = key;
  std::copy_n(ordered, keys.size(), keys.data());
}

void band_ribbon_layer(RibbonBand& band, std::span<const std::uint64_t> keys, const RibbonShape& shape,
                       std::size_t layer, std::byte* marks, std::vector<std::uint64_t>& sent_on) {
  const std::uint64_t starts = shape.starts[layer];
  if (starts == 0) {
    for (const std::uint64_t key : keys) sent_on.push_back(ribbon_key_of_next_layer(ribbon_mix(key)));
    return;
  }
  LayerBuild build(band, shape, layer, marks, sent_on);
  const std::uint64_t chunk_starts = std::uint64_t{1} << chunk_shift(starts);
  const auto start_of = [&](std::uint64_t key) { return fast_range(ribbon_mix(key), starts); };
  for (std::uint64_t start = 0; start < starts; start += chunk_starts) {
    const std::uint64_t end_start = std::min(start + chunk_starts, starts);
    const auto end =
        std::partition_point(keys.begin(), keys.end(), [&](std::uint64_t key) { return start_of(key) < end_start; });
    const auto count = static_cast<std::size_t>(end - keys.begin());
    build.add_chunk(keys.first(count), start, end_start);
    keys = keys.subspan(count);
  }
}

}  // namespace tamis
