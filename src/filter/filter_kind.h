// The interface of a filter kind, and what kinds share. A kind is one FilterKind in a .cc file, and one line in
// registry.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/bytes.h"
#include "base/try.h"
#include "filter/filter_image.h"
#include "filter/shared_bits.h"
#include "tamis/filter.h"
#include "tamis/filter_math.h"

namespace tamis {

/// How full the bits are, and the implied keys and rate.
struct FilterEstimate {
  double fill = 0;
  double keys = 0;
  double rate = 0;
};

/// The outcome of a removal: the key was never there; one copy of it is gone; or it is permanent, because it was added
/// more often than the filter can count.
enum class Removal : std::uint8_t { kAbsent, kGone, kStuck };

/// A table of functions. Functions that a kind lacks are null.
///
/// Threads: immutable.
struct FilterKind {
  FilterKindInfo info;

  /// Turns a target into a shape. `target` was checked: rate in (0, 1), bits per key and memory positive and finite;
  /// kMemory excludes the header. kNotSupported if the kind cannot reach it.
  Result<FilterSize> (*size)(std::uint64_t keys, SizeTarget target);

  /// Builds the image from hashes, which it may reorder. `size` came from this kind's `size` for at least as many keys.
  /// Equal hashes are allowed. Fails only with kNotSupported, for lack of memory.
  Result<FilterImage> (*build)(std::span<std::uint64_t> hashes, const FilterSize& size);

  /// Checks the header's numbers against the body once and prepares the probe; the body outlives the probe. Arbitrary
  /// bytes must yield a probe that stays inside the body, or kCorruption.
  Result<FilterProbe> (*open)(const FilterHeader& header, Bytes body, std::string_view name);

  /// For any image that `open` accepted.
  FilterEstimate (*estimate)(const FilterImage& image);

  // Mutable kinds only. The image was accepted by `open` and remains acceptable after any of these, but the probe must
  // be reopened when `add` or `merge` moves the bytes.
  Result<FilterImage> (*make)(const FilterSize& size) = nullptr;
  Status (*add)(FilterImage& image, std::uint64_t hash) = nullptr;
  Removal (*remove)(FilterImage& image, std::uint64_t hash) = nullptr;
  Status (*merge)(FilterImage& image, const FilterImage& other) = nullptr;
  Status (*intersect)(FilterImage& image, const FilterImage& other) = nullptr;
  void (*clear)(FilterImage& image) = nullptr;  // Null: an empty filter is all zeros.
  /// How many times the key may be there. Null: once, if it may.
  std::uint64_t (*count)(const FilterImage& image, std::uint64_t hash) = nullptr;
  /// Takes `growth` and `most_layers` of the options. Null: the kind has neither.
  Status (*tune)(FilterImage& image, const FilterOptions& options) = nullptr;
  SharedBits shared = {};       // For many threads at once; null if the kind cannot.
  bool lists_few_keys = false;  // A built filter of few keys is a list of fingerprints where that is no worse.
  bool grows = false;           // Keeps its rate beyond its capacity, which may be 0.
  bool in_slices = false;       // FilterLayout::kSlices: the first slices of a body are a filter too.
  /// The number of keys to size for, given `capacity`; null: `capacity`.
  std::uint64_t (*room)(std::uint64_t capacity) = nullptr;
};

extern const FilterKind kBloomKind;
extern const FilterKind kLineKind;
extern const FilterKind kRibbonKind;
extern const FilterKind kFuseKind;
extern const FilterKind kSplitKind;
extern const FilterKind kCuckooKind;
extern const FilterKind kCountingKind;
extern const FilterKind kScalableKind;
extern const FilterKind kSlicedKind;
extern const FilterKind kGrowingKind;

/// The list of up to kTinySetKeys keys that serves all kinds (FilterLayout::kList); not a kind for users.
extern const FilterKind kTinySetKind;
inline constexpr std::uint64_t kTinySetKeys = 64;

/// All kinds, in the order shown to users.
std::span<const FilterKind* const> all_filter_kinds();
/// Null if there is none.
const FilterKind* find_filter_kind(std::string_view name);
const FilterKind* find_filter_kind(std::uint8_t id);

/// A kind's own parameters inside a probe. State must be trivially copyable and small.
template <typename State>
State& probe_state(FilterProbe& probe) {
  static_assert(sizeof(State) <= FilterProbe::kStateBytes && alignof(State) <= 64);
  static_assert(std::is_trivially_copyable_v<State> && std::is_trivially_destructible_v<State>);
  return *reinterpret_cast<State*>(probe.state.data());
}
template <typename State>
const State& probe_state(const FilterProbe& probe) {
  return probe_state<State>(const_cast<FilterProbe&>(probe));
}

/// may_contain_many built from a single-probe function, for kinds without a better one: prefetches a group, then tests
/// it.
template <auto kMayContain, auto kPrefetch>
void may_contain_many_in_groups(const FilterProbe& probe, const std::uint64_t* hashes, std::size_t count,
                                std::uint64_t* answers) {
  constexpr std::size_t kGroup = 32;  // The knee among batch sizes 8 … 64 for filters beyond the cache.
  for (std::size_t begin = 0; begin < count; begin += 64) {
    const std::size_t end = count - begin < 64 ? count : begin + 64;
    std::uint64_t word = 0;
    for (std::size_t group = begin; group < end; group += kGroup) {
      const std::size_t group_end = end - group < kGroup ? end : group + kGroup;
      for (std::size_t i = group; i < group_end; ++i) kPrefetch(probe, hashes[i]);
      for (std::size_t i = group; i < group_end; ++i) {
        word |= static_cast<std::uint64_t>(kMayContain(probe, hashes[i])) << (i - begin);
      }
    }
    answers[begin / 64] = word;
  }
}

/// The three functions of a probe whose batches are groups of single probes.
template <auto kMayContain, auto kPrefetch>
void set_probe_functions(FilterProbe& probe) {
  probe.may_contain_fn = kMayContain;
  probe.may_contain_many_fn = may_contain_many_in_groups<kMayContain, kPrefetch>;
  probe.prefetch_fn = kPrefetch;
}

/// FilterKind::build for kinds that add keys one by one.
template <auto kMake, auto kAdd>
Result<FilterImage> build_by_adding(std::span<std::uint64_t> hashes, const FilterSize& size) {
  TAMIS_TRY(FilterImage image, kMake(size));
  for (const std::uint64_t hash : hashes) TAMIS_TRY_STATUS(kAdd(image, hash));
  return image;
}

/// Sorts in place and returns the prefix that holds each value once.
template <typename T>
std::span<T> sort_and_drop_copies(std::span<T> values) {
  std::sort(values.begin(), values.end());
  return {values.begin(), std::unique(values.begin(), values.end())};
}

}  // namespace tamis
