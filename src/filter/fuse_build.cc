#include "filter/fuse_build.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace tamis {
namespace {

constexpr std::uint32_t kMaxSegmentLog2 = 18;

/// The keys in each slot: their number, the xor of their places, and the xor of the keys. A slot with one key knows
/// that key.
struct Meeting {
  std::vector<std::uint64_t> mixed_xor;
  std::vector<std::uint8_t> count_and_place;  // 4 · count, plus the xor of the places (0, 1, 2).

  explicit Meeting(std::uint64_t slots) : mixed_xor(slots), count_and_place(slots) {}

  /// False on overflow of the count; only equal or crafted hashes cause that.
  bool add(std::uint64_t slot, std::uint64_t mixed, unsigned place) {
    mixed_xor[slot] ^= mixed;
    count_and_place[slot] = static_cast<std::uint8_t>((count_and_place[slot] + 4) ^ place);
    return count_and_place[slot] >= 4;
  }
  void remove(std::uint64_t slot, std::uint64_t mixed, unsigned place) {
    mixed_xor[slot] ^= mixed;
    count_and_place[slot] = static_cast<std::uint8_t>((count_and_place[slot] - 4) ^ place);
  }
  [[nodiscard]] unsigned count(std::uint64_t slot) const { return count_and_place[slot] >> 2; }
  [[nodiscard]] unsigned place(std::uint64_t slot) const { return count_and_place[slot] & 3; }
};

/// Mixed hashes in roughly ascending order, so that slots are visited roughly in order.
std::vector<std::uint64_t> mixed_in_order(std::span<const std::uint64_t> hashes, const FuseShape& shape) {
  const unsigned bits = std::min(14, std::max(1, static_cast<int>(std::bit_width(shape.segments)) - 1 +
                                                     std::max(0, static_cast<int>(shape.segment_log2) - 10)));
  std::vector<std::uint32_t> start((std::size_t{1} << bits) + 1);
  for (const std::uint64_t hash : hashes) ++start[(fuse_mix(hash, shape.seed) >> (64 - bits)) + 1];
  for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  std::vector<std::uint64_t> mixed(hashes.size());
  for (const std::uint64_t hash : hashes) {
    const std::uint64_t one = fuse_mix(hash, shape.seed);
    mixed[start[one >> (64 - bits)]++] = one;
  }
  return mixed;
}

/// Removes keys one by one, each from a slot where it is alone. `mixed` becomes the keys in removal order, `places` the
/// slot in which each was alone. False if keys remain but no slot has a single key.
bool peel(const FuseShape& shape, std::vector<std::uint64_t>& mixed, std::vector<std::uint8_t>& places) {
  Meeting meeting(shape.slots());
  for (const std::uint64_t one : mixed) {
    const FuseSlots slots = fuse_slots(one, shape.window(), shape.segment_log2);
    for (unsigned place = 0; place < 3; ++place) {
      if (!meeting.add(slots.at[place], one, place)) return false;
    }
  }
  const std::size_t keys = mixed.size();
  std::vector<std::uint32_t> alone;
  alone.reserve(shape.slots() / 2);
  std::size_t taken = 0;
  // Slots that become single while peeling are taken before the scan continues: they are still in the cache.
  for (std::uint64_t scan = 0; scan < shape.slots(); ++scan) {
    if (meeting.count(scan) == 1) alone.push_back(static_cast<std::uint32_t>(scan));
    while (!alone.empty()) {
      const std::uint64_t slot = alone.back();
      alone.pop_back();
      if (meeting.count(slot) != 1) continue;
      const std::uint64_t one = meeting.mixed_xor[slot];
      const unsigned own_place = meeting.place(slot);
      mixed[taken] = one;
      places[taken++] = static_cast<std::uint8_t>(own_place);
      const FuseSlots slots = fuse_slots(one, shape.window(), shape.segment_log2);
      for (unsigned place = 0; place < 3; ++place) {
        meeting.remove(slots.at[place], one, place);
        if (place != own_place && meeting.count(slots.at[place]) == 1) {
          alone.push_back(static_cast<std::uint32_t>(slots.at[place]));
        }
      }
    }
  }
  return taken == keys;
}

}  // namespace

FuseShape first_fuse_shape(std::uint64_t keys) {
  FuseShape shape;
  if (keys <= 1) return shape;
  const auto n = static_cast<double>(keys);
  const double log2_length = std::floor(std::log(n) / std::log(3.33) + 2.25);
  shape.segment_log2 = static_cast<std::uint32_t>(std::clamp(log2_length, 0.0, double{kMaxSegmentLog2}));
  const double length = std::exp2(shape.segment_log2);
  double segments = 0;
  if (keys <= 3400) {
    // Few segments, all near an end: the customary factor suffices, with 2 % of second tries.
    segments = n * std::max(1.125, 0.875 + 0.25 * std::log(1e6) / std::log(n)) / length;
  } else {
    // Peeling works up to 0.918 keys per slot, minus about two segments lost at the ends. The shorter a segment, the
    // more its load varies. The customary factor fails on most key sets at 3,501, 11,504 and 11,521; this one needs
    // another seed in a few per cent of the cases, at every n.
    segments = (1.015 + 0.5 / std::sqrt(length)) * (n / length + 1.8) / 0.918 + 0.5;
  }
  shape.segments = static_cast<std::uint32_t>(std::max(3.0, std::ceil(segments)));
  return shape;
}

template <typename Slot>
bool fill_fuse_slots(std::span<const std::uint64_t> hashes, const FuseShape& shape, std::span<Slot> slots) {
  std::vector<std::uint64_t> mixed = mixed_in_order(hashes, shape);
  std::vector<std::uint8_t> places(mixed.size());
  if (!peel(shape, mixed, places)) return false;
  // Backwards: once a key's own slot is written, no later key changes any of its three.
  for (std::size_t i = mixed.size(); i-- > 0;) {
    const FuseSlots at = fuse_slots(mixed[i], shape.window(), shape.segment_log2);
    const Slot others = static_cast<Slot>(slots[at.at[0]] ^ slots[at.at[1]] ^ slots[at.at[2]]);
    slots[at.at[places[i]]] = static_cast<Slot>(others ^ fuse_fingerprint<Slot>(mixed[i]));
  }
  return true;
}

template bool fill_fuse_slots(std::span<const std::uint64_t>, const FuseShape&, std::span<std::uint8_t>);
template bool fill_fuse_slots(std::span<const std::uint64_t>, const FuseShape&, std::span<std::uint16_t>);

}  // namespace tamis
