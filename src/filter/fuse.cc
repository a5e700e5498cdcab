// fuse: a binary fuse filter. The xor of a key's three slots is its fingerprint; 8 or 16 bits per slot.
//
// Body: slots of 1 or 2 bytes, little-endian. Header: hashes = bits per slot, numbers[0] = seed, numbers[1] = log2 of
// the slots per segment, numbers[2] = segments. fuse_build.h maps a hash to its slots.
// The rate is exactly 2^-8 or 2^-16. A build never gives up: it tries other seeds and, after a few, more segments.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/try.h"
#include "filter/filter_kind.h"
#include "filter/fuse_build.h"
#include "filter/sizing.h"

namespace tamis {
namespace {

constexpr std::uint64_t kMaxSlots = std::uint64_t{1} << 32;
constexpr int kTriesBeforeGrowing = 8;

struct FuseState {
  const std::byte* slots;
  std::uint64_t seed;
  std::uint64_t window;
  std::uint32_t segment_log2;
};

template <typename Slot>
bool may_contain(const FilterProbe& probe, std::uint64_t hash) {
  const FuseState& state = probe_state<FuseState>(probe);
  const std::uint64_t mixed = fuse_mix(hash, state.seed);
  const FuseSlots at = fuse_slots(mixed, state.window, state.segment_log2);
  const auto slot = [&](std::uint64_t i) { return load_le<Slot>(state.slots + sizeof(Slot) * i); };
  const auto found = static_cast<Slot>(slot(at.at[0]) ^ slot(at.at[1]) ^ slot(at.at[2]));
  return found == fuse_fingerprint<Slot>(mixed);
}

template <typename Slot>
void prefetch(const FilterProbe& probe, std::uint64_t hash) {
  const FuseState& state = probe_state<FuseState>(probe);
  const FuseSlots at = fuse_slots(fuse_mix(hash, state.seed), state.window, state.segment_log2);
  for (const std::uint64_t slot : at.at) __builtin_prefetch(state.slots + sizeof(Slot) * slot);
}

FilterSize size_with(std::uint64_t keys, std::uint32_t slot_bits) {
  return {.keys = keys,
          .bytes = first_fuse_shape(keys).slots() * slot_bits / 8,
          .hashes = slot_bits,
          .rate = keys == 0 ? 0 : std::exp2(-static_cast<double>(slot_bits))};
}

Result<FilterSize> size(std::uint64_t keys, SizeTarget target) {
  if (first_fuse_shape(keys).slots() > kMaxSlots) return cannot_reach("fuse", target, "ribbon");
  if (target.measure == SizeTarget::Measure::kRate) {
    for (const std::uint32_t slot_bits : {8U, 16U}) {
      const FilterSize size = size_with(keys, slot_bits);
      if (size.rate <= target.value) return size;
    }
    return cannot_reach("fuse", target, "ribbon");
  }
  const bool by_memory = target.measure == SizeTarget::Measure::kMemory;
  for (const std::uint32_t slot_bits : {16U, 8U}) {
    const FilterSize size = size_with(keys, slot_bits);
    const double needed = by_memory ? static_cast<double>(size.bytes) : size.bits_per_key();
    if (needed <= target.value) return size;
  }
  return cannot_reach("fuse", target, "line");
}

/// Tries seeds and, after some of them, larger shapes until one works. Distinct hashes always terminate: with enough
/// slots almost every seed works.
template <typename Slot>
Result<FilterImage> build_with(std::span<std::uint64_t> hashes, std::uint64_t keys) {
  FuseShape shape = first_fuse_shape(keys);
  for (int tries = 0;; ++tries) {
    if (tries == 1) {
      // A first failure is usually due to equal hashes, which no seed can tell apart.
      hashes = sort_and_drop_copies(hashes);
    }
    if (tries >= kTriesBeforeGrowing) ++shape.segments;
    shape.seed = remix(static_cast<std::uint64_t>(tries) + 1);
    if (shape.slots() > kMaxSlots) return no_memory_for(sizeof(Slot) * shape.slots());
    TAMIS_TRY(FilterImage image, FilterImage::with_body(sizeof(Slot) * shape.slots()));
    Slot* slots = reinterpret_cast<Slot*>(image.mutable_body().data());
    if (!fill_fuse_slots<Slot>(hashes, shape, {slots, shape.slots()})) continue;
    image.header.hashes = 8 * sizeof(Slot);
    image.header.numbers = {shape.seed, shape.segment_log2, shape.segments, 0};
    return image;
  }
}

Result<FilterImage> build(std::span<std::uint64_t> hashes, const FilterSize& shape) {
  return shape.hashes == 8 ? build_with<std::uint8_t>(hashes, shape.keys)
                           : build_with<std::uint16_t>(hashes, shape.keys);
}

template <typename Slot>
void set_functions(FilterProbe& probe) {
  set_probe_functions<may_contain<Slot>, prefetch<Slot>>(probe);
}

Result<FilterProbe> open(const FilterHeader& header, Bytes body, std::string_view name) {
  const auto [seed, segment_log2, segments, zero] = header.numbers;
  const bool sane = segment_log2 <= 31 && segments >= 3 && segments <= kMaxSlots && zero == 0 &&
                    (header.hashes == 8 || header.hashes == 16) &&
                    (segments << segment_log2) * (header.hashes / 8) == body.size();
  if (!sane) {
    return Status::corruption(
        fmt::format("{}: fuse: {} segments of 2^{} slots of {} bits do not fit a body of {} bytes", name, segments,
                    segment_log2, header.hashes, body.size()));
  }
  FilterProbe probe;
  header.hashes == 8 ? set_functions<std::uint8_t>(probe) : set_functions<std::uint16_t>(probe);
  probe_state<FuseState>(probe) = {.slots = body.data(),
                                   .seed = seed,
                                   .window = (segments - 2) << segment_log2,
                                   .segment_log2 = static_cast<std::uint32_t>(segment_log2)};
  return probe;
}

FilterEstimate estimate(const FilterImage& image) {
  const double slots = static_cast<double>(image.body().size()) * 8 / image.header.hashes;
  const auto keys = static_cast<double>(image.header.keys);
  return {
      .fill = std::min(1.0, keys / slots), .keys = keys, .rate = std::exp2(-static_cast<double>(image.header.hashes))};
}

}  // namespace

constinit const FilterKind kFuseKind = {
    .info = {.id = 4,
             .name = "fuse",
             .summary = "static sets on any CPU: 9 bits for 0.39 %, 18 for 0.0015 %, three memory accesses",
             .build_bytes_per_key = 32},
    .size = size,
    .build = build,
    .open = open,
    .estimate = estimate,
};

}  // namespace tamis
