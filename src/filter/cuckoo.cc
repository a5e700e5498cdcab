// cuckoo: fingerprints in buckets of four, each key in one of two buckets; keys can be removed.
//
// Body: buckets of four fingerprints of 12 or 16 bits, packed little-endian (6 or 8 bytes per bucket), then two zero
// bytes so that the last 6-byte bucket can be read as 8 bytes. 0 is an empty slot. Header: hashes = bits per
// fingerprint, numbers[0] = buckets.
// The other bucket of (i, f) is (H(f) − i) mod buckets, its own inverse for any number of buckets. The number need not
// be a power of two, so no filter is up to twice as large as necessary.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "base/hash.h"
#include "base/try.h"
#include "filter/filter_kind.h"
#include "filter/sizing.h"

namespace tamis {
namespace {

constexpr unsigned kPlaces = 4;
constexpr double kLoad = 0.95;  // Inserts succeed up to about 0.97; the rest is margin.
constexpr int kMaxMoves = 500;  // After this many, the filter counts as full.
constexpr std::size_t kTailBytes = 2;
constexpr std::uint64_t kMaxBuckets = std::uint64_t{1} << 40;

/// A view of the buckets, over const or mutable bytes.
template <typename Byte>
struct Buckets {
  Byte* bytes;
  std::uint64_t count;
  std::uint32_t fingerprint_bits;

  [[nodiscard]] std::size_t bucket_bytes() const { return kPlaces * fingerprint_bits / 8; }
  [[nodiscard]] std::uint64_t mask() const { return (std::uint64_t{1} << fingerprint_bits) - 1; }

  /// The four fingerprints in the low bits; the bits above belong to another bucket.
  [[nodiscard]] std::uint64_t load(std::uint64_t bucket) const {
    return load_le<std::uint64_t>(bytes + bucket * bucket_bytes());
  }
  [[nodiscard]] std::uint64_t place(std::uint64_t bucket, unsigned i) const {
    return (load(bucket) >> (i * fingerprint_bits)) & mask();
  }
  void set_place(std::uint64_t bucket, unsigned i, std::uint64_t fingerprint) const {
    const unsigned shift = i * fingerprint_bits;
    const std::uint64_t word = (load(bucket) & ~(mask() << shift)) | (fingerprint << shift);
    store_le(bytes + bucket * bucket_bytes(), word);
  }
  /// The first slot with this fingerprint, or kPlaces; 0 finds an empty slot.
  [[nodiscard]] unsigned find(std::uint64_t bucket, std::uint64_t fingerprint) const {
    unsigned i = 0;
    while (i < kPlaces && place(bucket, i) != fingerprint) ++i;
    return i;
  }
  [[nodiscard]] std::uint64_t other(std::uint64_t bucket, std::uint64_t fingerprint) const {
    const std::uint64_t sum = fast_range(remix(fingerprint), count);
    return sum >= bucket ? sum - bucket : sum + count - bucket;
  }
};

/// A key's fingerprint, never 0, and its first bucket.
struct Home {
  std::uint64_t fingerprint;
  std::uint64_t bucket;
};

template <typename Byte>
Home home_of(const Buckets<Byte>& buckets, std::uint64_t hash) {
  const std::uint64_t mixed = remix(hash);
  return {1 + fast_range(mixed << 32, buckets.mask()), fast_range(mixed, buckets.count)};
}

/// Whether one of the four slots equals `wanted`: subtracting 1 borrows from a slot's top bit exactly when it is 0.
bool has_fingerprint(std::uint64_t word, std::uint64_t wanted, std::uint32_t bits) {
  const std::uint64_t ones = bits == 12 ? 0x001001001001U : 0x0001000100010001U;
  const std::uint64_t tops = ones << (bits - 1);
  const std::uint64_t difference = word ^ (ones * wanted);
  return ((difference - ones) & ~difference & tops) != 0;
}

using CuckooState = Buckets<const std::byte>;

bool may_contain(const FilterProbe& probe, std::uint64_t hash) {
  const CuckooState& buckets = probe_state<CuckooState>(probe);
  const Home home = home_of(buckets, hash);
  const std::uint64_t second = buckets.other(home.bucket, home.fingerprint);
  const bool in_first = has_fingerprint(buckets.load(home.bucket), home.fingerprint, buckets.fingerprint_bits);
  const bool in_second = has_fingerprint(buckets.load(second), home.fingerprint, buckets.fingerprint_bits);
  return (int{in_first} | int{in_second}) != 0;  // Always tests both: a branch would mispredict.
}

void prefetch(const FilterProbe& probe, std::uint64_t hash) {
  const CuckooState& buckets = probe_state<CuckooState>(probe);
  const Home home = home_of(buckets, hash);
  __builtin_prefetch(buckets.bytes + home.bucket * buckets.bucket_bytes());
  __builtin_prefetch(buckets.bytes + buckets.other(home.bucket, home.fingerprint) * buckets.bucket_bytes());
}

Buckets<std::byte> buckets_of(FilterImage& image) {
  return {image.mutable_body().data(), image.header.numbers[0], image.header.hashes};
}

/// The probability that an absent key matches: each stored fingerprint equals its own with probability 1/(2^bits − 1)
/// and lies in one of its two buckets (one, if they coincide).
double rate_of(double keys, double buckets, std::uint32_t bits) {
  const double chance = (2 / buckets - 1 / (buckets * buckets)) / (std::exp2(bits) - 1);
  return -std::expm1(keys * std::log1p(-std::min(chance, 0.5)));
}

FilterSize size_with(std::uint64_t keys, std::uint64_t buckets, std::uint32_t bits) {
  return {.keys = keys,
          .bytes = buckets * (kPlaces * bits / 8) + kTailBytes,
          .hashes = bits,
          .rate = rate_of(static_cast<double>(keys), static_cast<double>(buckets), bits)};
}

std::uint64_t least_buckets(std::uint64_t keys) {
  // At least two buckets: with one, a key and its copies have only four slots.
  return std::max<std::uint64_t>(2,
                                 static_cast<std::uint64_t>(std::ceil(static_cast<double>(keys) / (kPlaces * kLoad))));
}

Result<FilterSize> size(std::uint64_t keys, SizeTarget target) {
  const std::uint64_t least = least_buckets(keys);
  if (least > kMaxBuckets) return cannot_reach("cuckoo", target, "bloom");
  if (target.measure == SizeTarget::Measure::kRate) {
    for (const std::uint32_t bits : {12U, 16U}) {
      const FilterSize size = size_with(keys, least, bits);
      if (size.rate <= target.value) return size;
    }
    return cannot_reach("cuckoo", target, "counting");
  }
  const double room = target.measure == SizeTarget::Measure::kMemory
                          ? target.value
                          : std::ceil(target.value * static_cast<double>(keys) / 8) + kTailBytes;
  for (const std::uint32_t bits : {16U, 12U}) {
    const std::uint32_t bucket_bytes = kPlaces * bits / 8;
    const double buckets = std::floor((room - kTailBytes) / bucket_bytes);
    if (buckets >= static_cast<double>(least)) return size_with(keys, static_cast<std::uint64_t>(buckets), bits);
  }
  return cannot_reach("cuckoo", target, "bloom");
}

/// An unlucky set of few keys may fill a filter early. Without spare slots, up to 1 in 10 filters did (19 keys; 400
/// filters per capacity). With 12 spare, at most 1 of 20,000 did for each of 23 capacities from 3 to 300, and none of
/// 6,000 for each of 380, 760 and 1000. Near 1000, with 8 or 16 spare, 2 of 6,000 did, so a few in 10,000 may.
std::uint64_t room(std::uint64_t capacity) { return capacity + 12; }

Result<FilterImage> make(const FilterSize& shape) {
  const std::uint64_t buckets = (shape.bytes - kTailBytes) / (kPlaces * shape.hashes / 8);
  return FilterImage::with_body(shape.bytes, shape.hashes, buckets);
}

/// One move of an insertion: the previous contents of a slot.
struct Move {
  std::uint64_t bucket;
  unsigned place;
  std::uint64_t before;
};

/// Whether all four slots hold this fingerprint.
bool is_full_of(const Buckets<std::byte>& buckets, std::uint64_t bucket, std::uint64_t fingerprint) {
  unsigned copies = 0;
  for (unsigned i = 0; i < kPlaces; ++i) copies += buckets.place(bucket, i) == fingerprint ? 1 : 0;
  return copies == kPlaces;
}

Status add(FilterImage& image, std::uint64_t hash) {
  const Buckets<std::byte> buckets = buckets_of(image);
  auto [fingerprint, bucket] = home_of(buckets, hash);
  if (buckets.find(bucket, 0) == kPlaces) {
    const std::uint64_t second = buckets.other(bucket, fingerprint);
    if (is_full_of(buckets, bucket, fingerprint) && is_full_of(buckets, second, fingerprint)) {
      return Status::out_of_space(
          fmt::format("the cuckoo filter already holds {} copies of this key, the max at any capacity; add it once, or "
                      "use counting",
                      bucket == second ? kPlaces : 2 * kPlaces));
    }
    bucket = second;
  }
  std::array<Move, kMaxMoves> moves;
  for (int made = 0; made < kMaxMoves; ++made) {
    if (const unsigned empty = buckets.find(bucket, 0); empty < kPlaces) {
      buckets.set_place(bucket, empty, fingerprint);
      return {};
    }
    const auto place = static_cast<unsigned>(remix(hash + static_cast<std::uint64_t>(made)) >> 62);
    const std::uint64_t evicted = buckets.place(bucket, place);
    moves[static_cast<std::size_t>(made)] = {bucket, place, evicted};
    buckets.set_place(bucket, place, fingerprint);
    fingerprint = evicted;
    bucket = buckets.other(bucket, fingerprint);
  }
  for (std::size_t i = moves.size(); i-- > 0;) buckets.set_place(moves[i].bucket, moves[i].place, moves[i].before);
  return Status::out_of_space(
      fmt::format("the cuckoo filter is full with {} keys; create one with a larger capacity", image.header.keys));
}

Removal remove(FilterImage& image, std::uint64_t hash) {
  const Buckets<std::byte> buckets = buckets_of(image);
  const auto [fingerprint, first] = home_of(buckets, hash);
  for (const std::uint64_t bucket : {first, buckets.other(first, fingerprint)}) {
    if (const unsigned place = buckets.find(bucket, fingerprint); place < kPlaces) {
      buckets.set_place(bucket, place, 0);
      return Removal::kGone;
    }
  }
  return Removal::kAbsent;
}

std::uint64_t count(const FilterImage& image, std::uint64_t hash) {
  const Buckets<const std::byte> buckets = {image.body().data(), image.header.numbers[0], image.header.hashes};
  const auto [fingerprint, first] = home_of(buckets, hash);
  const std::uint64_t second = buckets.other(first, fingerprint);
  std::uint64_t copies = 0;
  for (unsigned i = 0; i < kPlaces; ++i) {
    copies += buckets.place(first, i) == fingerprint ? 1 : 0;
    copies += second != first && buckets.place(second, i) == fingerprint ? 1 : 0;
  }
  return copies;
}

/// More than eight copies of a key do not fit, and crowd out other keys long before. The first failure drops copies;
/// each later one grows the filter by a twentieth.
Result<FilterImage> build(std::span<std::uint64_t> hashes, const FilterSize& shape) {
  FilterSize grown = shape;
  for (bool copies_dropped = false;;) {
    TAMIS_TRY(FilterImage image, make(grown));
    if (std::all_of(hashes.begin(), hashes.end(), [&](std::uint64_t hash) { return add(image, hash).ok(); }))
      return image;
    if (!copies_dropped) {
      hashes = sort_and_drop_copies(hashes);
      copies_dropped = true;
    } else {
      const std::uint64_t buckets = image.header.numbers[0];
      grown = size_with(shape.keys, buckets + buckets / 20 + 1, shape.hashes);
    }
  }
}

Result<FilterProbe> open(const FilterHeader& header, Bytes body, std::string_view name) {
  const std::uint64_t buckets = header.numbers[0];
  const bool sane = (header.hashes == 12 || header.hashes == 16) && buckets >= 1 && buckets <= kMaxBuckets &&
                    buckets * (kPlaces * header.hashes / 8) + kTailBytes == body.size();
  if (!sane) {
    return Status::corruption(fmt::format("{}: cuckoo: {} buckets of {}-bit fingerprints do not fit a body of {} bytes",
                                          name, buckets, header.hashes, body.size()));
  }
  FilterProbe probe;
  set_probe_functions<may_contain, prefetch>(probe);
  probe_state<CuckooState>(probe) = {body.data(), buckets, header.hashes};
  return probe;
}

FilterEstimate estimate(const FilterImage& image) {
  const Buckets<const std::byte> buckets = {image.body().data(), image.header.numbers[0], image.header.hashes};
  double used = 0;
  for (std::uint64_t bucket = 0; bucket < buckets.count; ++bucket) {
    for (unsigned i = 0; i < kPlaces; ++i) used += buckets.place(bucket, i) != 0 ? 1 : 0;
  }
  const auto count = static_cast<double>(buckets.count);
  return {.fill = used / (count * kPlaces), .keys = used, .rate = rate_of(used, count, buckets.fingerprint_bits)};
}

}  // namespace

constinit const FilterKind kCuckooKind = {
    .info = {.id = 6,
             .name = "cuckoo",
             .summary = "removal of keys: 12.6 bits for 0.19 % or 16.8 for 0.012 %",
             .adds = true,
             .removes = true},
    .size = size,
    .build = build,
    .open = open,
    .estimate = estimate,
    .make = make,
    .add = add,
    .remove = remove,
    .count = count,
    .room = room,
};

}  // namespace tamis
