// sliced: a ribbon filter whose first slices are a filter too.
//
// The columns of a ribbon are independent: the same equations, each with its own bit of the fingerprints. A filter that
// has only some of the columns is therefore a filter, with half the rate for each. This kind builds a ribbon once and
// stores its columns in slices of four. Whoever reads it may hold any number of slices, from the first on: more make it
// more accurate, fewer make it smaller, and no key is hashed again (held_slices.h). An absent key is denied by the
// first slice 15 times out of 16, so a lookup seldom reads a second one.
//
// The rate of whole columns is a power of 1/2. For rates between, the last slice is one column that only the first
// blocks have. Keys whose two blocks have it are compared in it as well.
//
// Body, all numbers little-endian; blocks, marks, list, and the way from hash to rows, are those of ribbon.cc:
//
//     first slice  the blocks of columns 0 … 3, or of all if there are fewer; all marks; the list with fingerprints for
//                  all columns
//     a slice      the blocks of the next columns, up to four; the slice's checksum
//     last slice   if the body is longer than the whole columns take: one word for each of the first so many blocks,
//                  the partial column; the slice's checksum
//
//     If a slice of whole columns has 32 KiB or more, zeros before its checksum, or after the list, fill it up to a
//     multiple of 64 bytes.
//
//     checksum of slice i (from 1) = XXH3-64 of its other bytes with seed s + i, where s = XXH3-64 of the first slice
//     header   layout 2; hashes = whole columns r, up to 28; numbers as in ribbon.cc
//
// Fingerprints have r bits, or r + 1 with a partial column. The checksum in the header is for the first slice.
#include <cmath>

#include "base/check.h"
#include "base/hash.h"
#include "base/try.h"
#include "filter/filter_kind.h"
#include "filter/held_slices.h"
#include "filter/ribbon_build.h"
#include "filter/sizing.h"
#include "filter/sliced_layout.h"

namespace tamis {
namespace {

/// With fewer keys, a block of rows is too large a step for a partial column.
constexpr std::uint64_t kPartialColumnKeys = 4096;

/// A mixture of columns wastes up to 0.09 bits of every key, and with few columns the space of the marks weighs more.
/// So narrow filters with a partial column have fewer starts: they take less space and longer to build.
RibbonPlan plan_for(std::uint32_t whole_columns, bool has_partial) {
  constexpr double kFewerStarts = 0.95;
  RibbonPlan plan = {.columns = whole_columns + (has_partial ? 1 : 0),
                     .first_columns = std::min(whole_columns, kSliceColumns)};
  if (has_partial && whole_columns < kSliceColumns) plan.starts_per_key = kFewerStarts;
  return plan;
}

/// Blocks that the partial column of this share of the keys takes, at most. A key needs 1.00 rows; 64 rows at the end
/// are not counted, and two blocks are for rounding.
std::uint64_t most_partial_blocks(std::uint64_t keys, double share) {
  return static_cast<std::uint64_t>(1.01 * share * static_cast<double>(keys) / kRibbonBlockRows) + 3;
}

std::uint64_t most_padding(std::uint64_t keys, std::uint32_t slices) {
  constexpr std::uint64_t kMostBitsPerKey = 8;  // Of a slice that is padded, marks included.
  return keys * kMostBitsPerKey / 8 < kLeastPaddedSlice ? 0 : std::uint64_t{63} * slices;
}

/// `share` of the keys have a partial column.
FilterSize size_with(std::uint64_t keys, std::uint32_t whole_columns, double share) {
  const bool has_partial = share > 0;
  const RibbonPlan plan = plan_for(whole_columns, has_partial);
  const std::uint32_t slices = (whole_columns + kSliceColumns - 1) / kSliceColumns + (has_partial ? 1 : 0);
  FilterSize size = {
      .keys = keys,
      .bytes = most_ribbon_bytes(keys, plan) + kSliceChecksumBytes * (slices - 1) + most_padding(keys, slices),
      .hashes = whole_columns,
      .rate = planned_ribbon_rate(keys, whole_columns)};
  if (has_partial) {
    size.bytes = size.bytes - least_ribbon_rows(keys, plan) / 8 + 8 * most_partial_blocks(keys, share);
    size.rate *= 1 - share / 2;
  }
  return size;
}

Result<FilterSize> size_for_rate(std::uint64_t keys, SizeTarget target) {
  constexpr double kNearlyAll = 0.98;  // A whole column is better then.
  for (std::uint32_t columns = 1; columns <= kMostSlicedColumns; ++columns) {
    const double rate = planned_ribbon_rate(keys, columns);
    if (rate <= target.value) return size_with(keys, columns, 0);
    const double share = 2 * (1 - target.value / rate);
    if (keys >= kPartialColumnKeys && share < kNearlyAll) return size_with(keys, columns, share);
  }
  return cannot_reach("sliced", target, "bloom");
}

/// The most that fits into `bytes`.
Result<FilterSize> size_for_bytes(std::uint64_t keys, SizeTarget target, double bytes) {
  constexpr double kFewest = 1.0 / 64;  // Not worth a slice.
  std::uint32_t columns = kMostSlicedColumns;
  while (columns > 0 && static_cast<double>(size_with(keys, columns, 0).bytes) > bytes) --columns;
  if (columns == 0) return cannot_reach("sliced", target, "bloom");
  if (keys >= kPartialColumnKeys && columns < kMostSlicedColumns) {
    for (double share = 1 - kFewest; share >= kFewest; share -= kFewest) {
      const FilterSize size = size_with(keys, columns, share);
      if (static_cast<double>(size.bytes) <= bytes) return size;
    }
  }
  return size_with(keys, columns, 0);
}

Result<FilterSize> size(std::uint64_t keys, SizeTarget target) {
  switch (target.measure) {
    case SizeTarget::Measure::kRate: return size_for_rate(keys, target);
    case SizeTarget::Measure::kBitsPerKey:
      return size_for_bytes(keys, target, target.value * static_cast<double>(keys) / 8);
    case SizeTarget::Measure::kMemory: break;
  }
  return size_for_bytes(keys, target, target.value);
}

/// The fewest blocks with which the filter reaches `rate`, but at most `most`.
std::uint64_t choose_partial_blocks(SlicedShape shape, const std::byte* marks, double rate, std::uint64_t most) {
  std::uint64_t low = 2;
  std::uint64_t high = std::min(most, shape.ribbon.full_blocks());
  while (low < high) {
    shape.partial_blocks = low + (high - low) / 2;
    if (sliced_rate(shape, marks, shape.slices()) <= rate) {
      high = shape.partial_blocks;
    } else {
      low = shape.partial_blocks + 1;
    }
  }
  return low;
}

void write_slices(const SlicedShape& shape, const RibbonSystem& system, MutableBytes body) {
  std::array<RibbonColumns, kMostSlices> parts;
  for (std::size_t i = 0; i < shape.slices(); ++i) {
    const bool is_whole = i < shape.whole_slices();
    parts[i] = {.out = body.data() + shape.slice_begin(i),
                .columns = is_whole ? shape.columns_of(i) : 1,
                .rows = is_whole ? shape.ribbon.rows() : shape.partial_blocks * kRibbonBlockRows};
  }
  solve_ribbon(system.band, shape.ribbon, std::span(parts).first(shape.slices()));
  system.write_marks_and_list(body.first(shape.slice_bytes(0)).subspan(shape.block_bytes(0)));
  const std::uint64_t first_checksum = checksum64(body.first(shape.slice_bytes(0)));
  for (std::size_t i = 1; i < shape.slices(); ++i) {
    write_slice_checksum(body.subspan(shape.slice_begin(i), shape.slice_bytes(i)), first_checksum, i);
  }
}

/// Never exceeds the size's bytes.
Result<FilterImage> build(std::span<std::uint64_t> hashes, const FilterSize& size) {
  const bool has_partial =
      hashes.size() >= kPartialColumnKeys && size.rate < planned_ribbon_rate(hashes.size(), size.hashes);
  const RibbonPlan plan = plan_for(size.hashes, has_partial);
  TAMIS_TRY(const RibbonSystem system, make_ribbon_system(hashes, plan, most_ribbon_bytes(hashes.size(), plan)));
  SlicedShape shape = {.ribbon = system.shape};
  if (has_partial) {
    shape.partial_blocks = 1;
    const std::uint64_t others = shape.slice_begin(shape.slices()) - 8;
    TAMIS_CHECK(size.bytes >= others + 16);
    shape.partial_blocks = choose_partial_blocks(shape, system.marks.data(), size.rate, (size.bytes - others) / 8);
  }
  TAMIS_TRY(FilterImage image, FilterImage::with_body(shape.slice_begin(shape.slices())));
  put_ribbon_shape(image.header, shape.ribbon);
  image.header.layout = FilterLayout::kSlices;
  image.header.hashes = shape.whole_columns();
  image.header.all_slices_bytes = image.body().size();
  image.header.first_slice_bytes = shape.slice_bytes(0);
  write_slices(shape, system, image.mutable_body());
  return image;
}

/// Holds as many slices as the body has.
Result<HeldSlices> hold_all(const FilterHeader& header, Bytes body, std::string_view name) {
  TAMIS_TRY(HeldSlices slices, HeldSlices::open(header, body.first(header.first_slice_bytes), name));
  for (Bytes rest = body.subspan(header.first_slice_bytes); !rest.empty();) {
    const Bytes next = rest.first(std::min<std::uint64_t>(rest.size(), slices.next().bytes));
    TAMIS_TRY_STATUS(slices.add(next, name));
    rest = rest.subspan(next.size());
  }
  return slices;
}

Result<FilterProbe> open(const FilterHeader& header, Bytes body, std::string_view name) {
  TAMIS_TRY(const HeldSlices slices, hold_all(header, body, name));
  return slices.probe();
}

FilterEstimate estimate(const FilterImage& image) {
  const std::optional<SlicedShape> shape = SlicedShape::of(image.header);
  TAMIS_CHECK(shape.has_value());
  std::size_t held = 1;
  while (shape->slice_begin(held) < image.body().size()) ++held;
  const auto keys = static_cast<double>(image.header.keys);
  const auto rows = static_cast<double>(shape->ribbon.rows() + shape->ribbon.list_entries);
  const std::byte* marks = image.body().data() + shape->block_bytes(0);
  return {.fill = rows == 0 ? 0 : std::min(1.0, keys / rows), .keys = keys, .rate = sliced_rate(*shape, marks, held)};
}

}  // namespace

constinit const FilterKind kSlicedKind = {
    .info = {.id = 9,
             .name = "sliced",
             .summary = "ribbon in slices, for any rate: a reader may hold as many of them as it has memory for",
             .build_bytes_per_key = 21},
    .size = size,
    .build = build,
    .open = open,
    .estimate = estimate,
    .lists_few_keys = true,
    .in_slices = true,
};

}  // namespace tamis
