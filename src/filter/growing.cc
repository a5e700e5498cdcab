// growing: fingerprints in a table that doubles, for a set of unknown size from which keys are removed.
//
// An entry is the beginning of a hash: its first bits are the quotient, which says where in the table it is; the table
// stores up to `hashes` bits more. When the table doubles, the quotient takes over one of them, so that no entry
// changes which hashes it matches, and new entries have more bits than old ones. An entry without bits left is
// stored under both quotients that it may have. The 2^d · n entries of a table that has doubled d times
// are wrong 2^-(bits) · (1 + d/2) times as often as those of the first: kMaxDoublings of them are within the target.
//
// Body: a QuotientTable (quotient_table.h). The f bits of an entry that has f left are stored as 2^f + bits, so that 1
// is an entry without bits. Header: hashes = the most bits of an entry, numbers[0] = bits of a quotient, numbers[1] =
// doublings, numbers[2] = entries, among which an entry without bits is counted in each place.
//
// A key that is removed takes the longest entry that matches it: any shorter one still matches the key of the longer.
// Of an entry in several places, only that for the removed key goes; the others stay, wrong as often as before.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include <fmt/core.h>

#include "base/hash.h"
#include "base/try.h"
#include "filter/filter_kind.h"
#include "filter/quotient_table.h"
#include "filter/sizing.h"

namespace tamis {
namespace {

constexpr std::uint32_t kMaxHashBits = 40;
constexpr std::uint32_t kMaxDoublings = 30;
constexpr std::uint64_t kMaxCopies = 16;  // Equal entries; beyond, a key is permanent. Keeps runs short.

QuotientShape shape_with(std::uint32_t quotient_bits, std::uint32_t hash_bits) {
  return {.quotient_bits = quotient_bits, .entry_bits = hash_bits + 1};
}

QuotientShape shape_of(const FilterHeader& header) {
  return shape_with(static_cast<std::uint32_t>(header.numbers[0]), header.hashes);
}

/// Where a key belongs, and its entry with all bits.
struct Place {
  std::uint64_t quotient;
  std::uint64_t entry;
};

Place place_of(std::uint64_t hash, const QuotientShape& shape) {
  const std::uint64_t mixed = remix(hash);
  const std::uint32_t bits = shape.entry_bits - 1;
  return {mixed >> (64 - shape.quotient_bits),
          ((mixed << shape.quotient_bits) >> (64 - bits)) | (std::uint64_t{1} << bits)};
}

/// Whether the entry is the beginning of `wanted`, which has all bits.
bool matches(std::uint64_t entry, std::uint64_t wanted) {
  return wanted >> (std::countl_zero(entry) - std::countl_zero(wanted)) == entry;
}

bool may_contain(const FilterProbe& probe, std::uint64_t hash) {
  const QuotientTable& table = probe_state<QuotientTable>(probe);
  const Place place = place_of(hash, table.shape());
  if (!table.is_occupied(place.quotient)) return false;
  const QuotientTable::Run run = table.run_of(place.quotient);
  for (std::uint64_t slot = run.begin; slot < run.end; ++slot) {
    if (matches(table.entry(slot), place.entry)) return true;
  }
  return false;
}

void prefetch(const FilterProbe& probe, std::uint64_t hash) {
  const QuotientTable& table = probe_state<QuotientTable>(probe);
  table.prefetch(remix(hash) >> (64 - table.shape().quotient_bits));
}

/// The chance that one of `entries` of this many bits is the beginning of an absent key's hash.
double rate_of(double entries, std::uint32_t bits) {
  return -std::expm1(entries * std::log1p(-std::exp2(-1.0 * bits)));
}

FilterSize size_with(std::uint64_t keys, const QuotientShape& shape) {
  return {.keys = keys,
          .bytes = shape.bytes(),
          .hashes = shape.entry_bits - 1,
          .rate = rate_of(static_cast<double>(keys), shape.quotient_bits + shape.entry_bits - 1)};
}

Result<FilterSize> size(std::uint64_t keys, SizeTarget target) {
  std::uint32_t quotient_bits = QuotientShape::kMinQuotientBits;
  while (quotient_bits < QuotientShape::kMaxQuotientBits && shape_with(quotient_bits, 1).most_entries() < keys)
    ++quotient_bits;
  if (shape_with(quotient_bits, 1).most_entries() < keys) return cannot_reach("growing", target, "bloom");
  if (target.measure == SizeTarget::Measure::kRate) {
    // A full table is wrong 15/16 · 2^-bits of the time; each doubling adds half as much.
    const double bits = std::ceil(std::log2(15.0 / 16 * (1 + kMaxDoublings / 2.0) / target.value));
    if (bits > kMaxHashBits) return cannot_reach("growing", target, "bloom");
    return size_with(keys, shape_with(quotient_bits, static_cast<std::uint32_t>(bits)));
  }
  const double bytes = target.measure == SizeTarget::Measure::kMemory
                           ? target.value
                           : std::ceil(target.value * static_cast<double>(keys) / 8);
  for (std::uint32_t bits = kMaxHashBits; bits > 0; --bits) {
    const QuotientShape shape = shape_with(quotient_bits, bits);
    if (static_cast<double>(shape.bytes()) <= bytes) return size_with(keys, shape);
  }
  return cannot_reach("growing", target, "bloom");
}

Result<FilterImage> make(const FilterSize& chosen) {
  std::uint32_t quotient_bits = QuotientShape::kMinQuotientBits;
  while (shape_with(quotient_bits, chosen.hashes).bytes() < chosen.bytes) ++quotient_bits;
  return FilterImage::with_body(chosen.bytes, chosen.hashes, quotient_bits);
}

QuotientTableWriter writer_of(FilterImage& image) { return {shape_of(image.header), image.mutable_body().data()}; }

/// One more bit for the quotient of an entry: the entry's first, or both values if it has none.
bool append_halves(QuotientTableWriter& to, const QuotientTable& from, std::uint64_t quotient, QuotientTable::Run run,
                   std::uint64_t& appended) {
  for (const std::uint64_t half : {0U, 1U}) {
    for (std::uint64_t slot = run.begin; slot < run.end; ++slot) {
      const std::uint64_t entry = from.entry(slot);
      const int bits = std::bit_width(entry) - 1;
      if (bits > 0 && ((entry >> (bits - 1)) & 1) != half) continue;
      const std::uint64_t rest =
          bits == 0 ? 1 : (std::uint64_t{1} << (bits - 1)) | (entry & ((std::uint64_t{1} << (bits - 1)) - 1));
      if (!to.append(2 * quotient + half, rest)) return false;
      ++appended;
    }
  }
  return true;
}

Status full(const FilterImage& image) {
  return Status::out_of_space(
      fmt::format("the growing filter cannot grow beyond {} keys; build a new one for more", image.header.keys));
}

/// The table with twice the slots.
Status grow(FilterImage& image) {
  const QuotientTable from(shape_of(image.header), image.body().data());
  QuotientShape shape = from.shape();
  if (image.header.numbers[1] >= kMaxDoublings || shape.quotient_bits == QuotientShape::kMaxQuotientBits)
    return full(image);
  ++shape.quotient_bits;
  TAMIS_TRY(FilterImage larger, FilterImage::with_body(shape.bytes()));
  QuotientTableWriter to(shape, larger.mutable_body().data());
  std::uint64_t entries = 0;
  const bool fits = from.each_run(
      [&](std::uint64_t quotient, QuotientTable::Run run) { return append_halves(to, from, quotient, run, entries); });
  // Only bytes from elsewhere can have so many entries without bits that they fill the larger table too.
  if (!fits || !to.finish_appending() || entries >= shape.most_entries()) return full(image);
  larger.header = image.header;
  larger.header.numbers = {shape.quotient_bits, image.header.numbers[1] + 1, entries, 0};
  image = std::move(larger);
  return {};
}

std::uint64_t copies_of(const QuotientTable& table, const Place& place) {
  if (!table.is_occupied(place.quotient)) return 0;
  const QuotientTable::Run run = table.run_of(place.quotient);
  std::uint64_t copies = 0;
  for (std::uint64_t slot = run.begin; slot < run.end; ++slot) copies += table.entry(slot) == place.entry ? 1 : 0;
  return copies;
}

Status add(FilterImage& image, std::uint64_t hash) {
  Place place = place_of(hash, shape_of(image.header));
  if (copies_of(writer_of(image), place) >= kMaxCopies) return {};
  if (image.header.numbers[2] < shape_of(image.header).most_entries() &&
      writer_of(image).insert(place.quotient, place.entry)) {
    ++image.header.numbers[2];
    return {};
  }
  TAMIS_TRY_STATUS(grow(image));
  place = place_of(hash, shape_of(image.header));
  if (!writer_of(image).insert(place.quotient, place.entry)) return full(image);
  ++image.header.numbers[2];
  return {};
}

Removal remove(FilterImage& image, std::uint64_t hash) {
  QuotientTableWriter table = writer_of(image);
  const Place place = place_of(hash, table.shape());
  if (!table.is_occupied(place.quotient)) return Removal::kAbsent;
  const QuotientTable::Run run = table.run_of(place.quotient);
  std::uint64_t longest = run.end;
  std::uint64_t copies = 0;
  for (std::uint64_t slot = run.begin; slot < run.end; ++slot) {
    const std::uint64_t entry = table.entry(slot);
    if (!matches(entry, place.entry)) continue;
    const std::uint64_t before = longest == run.end ? 0 : table.entry(longest);
    if (entry == before) {
      ++copies;
    } else if (entry > before) {
      longest = slot;
      copies = 1;
    }
  }
  if (longest == run.end) return Removal::kAbsent;
  if (copies >= kMaxCopies) return Removal::kStuck;
  table.erase(place.quotient, longest);
  --image.header.numbers[2];
  return Removal::kGone;
}

std::uint64_t count(const FilterImage& image, std::uint64_t hash) {
  const QuotientTable table(shape_of(image.header), image.body().data());
  const Place place = place_of(hash, table.shape());
  if (!table.is_occupied(place.quotient)) return 0;
  const QuotientTable::Run run = table.run_of(place.quotient);
  std::uint64_t found = 0;
  for (std::uint64_t slot = run.begin; slot < run.end; ++slot) found += matches(table.entry(slot), place.entry) ? 1 : 0;
  return found;
}

void clear(FilterImage& image) {
  const MutableBytes body = image.mutable_body();
  std::fill(body.begin(), body.end(), std::byte{0});
  image.header.numbers[1] = 0;
  image.header.numbers[2] = 0;
}

Result<FilterProbe> open(const FilterHeader& header, Bytes body, std::string_view name) {
  const auto& [quotient_bits, doublings, entries, zero] = header.numbers;
  const bool sane = quotient_bits >= QuotientShape::kMinQuotientBits &&
                    quotient_bits <= QuotientShape::kMaxQuotientBits && doublings <= kMaxDoublings && zero == 0 &&
                    header.hashes >= 1 && header.hashes <= kMaxHashBits;
  if (!sane || shape_of(header).bytes() != body.size()) {
    return Status::corruption(fmt::format("{}: growing: {} and {} bits of hash do not fit a body of {} bytes", name,
                                          quotient_bits, header.hashes, body.size()));
  }
  const QuotientTable table(shape_of(header), body.data());
  if (!table.is_whole(entries)) {
    return Status::corruption(fmt::format("{}: growing: the body is no table of {} entries", name, entries));
  }
  FilterProbe probe;
  set_probe_functions<may_contain, prefetch>(probe);
  probe_state<QuotientTable>(probe) = table;
  return probe;
}

FilterEstimate estimate(const FilterImage& image) {
  const QuotientTable table(shape_of(image.header), image.body().data());
  std::array<std::uint64_t, kMaxHashBits + 1> of_bits = {};  // Entries with this many bits left.
  table.each_run([&](std::uint64_t, QuotientTable::Run run) {
    for (std::uint64_t slot = run.begin; slot < run.end; ++slot) {
      ++of_bits[static_cast<std::size_t>(std::bit_width(table.entry(slot)) - 1)];
    }
    return true;
  });
  double none = 1;
  for (std::uint32_t bits = 0; bits <= kMaxHashBits; ++bits) {
    none *= 1 - rate_of(static_cast<double>(of_bits[bits]), table.shape().quotient_bits + bits);
  }
  const auto entries = static_cast<double>(image.header.numbers[2]);
  return {.fill = entries / static_cast<double>(table.shape().quotients()), .keys = entries, .rate = 1 - none};
}

}  // namespace

constinit const FilterKind kGrowingKind = {
    .info = {.id = 10,
             .name = "growing",
             .summary = "sets of unknown size with removal: doubles in place, the rate stays below the target",
             .adds = true,
             .removes = true},
    .size = size,
    .build = build_by_adding<make, add>,
    .open = open,
    .estimate = estimate,
    .make = make,
    .add = add,
    .remove = remove,
    .clear = clear,
    .count = count,
    .grows = true,
};

}  // namespace tamis
