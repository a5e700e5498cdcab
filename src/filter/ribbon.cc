// ribbon: the smallest filter, for immutable sets: within 1 % of the information bound log2(1/rate).
//
// A key with r-bit fingerprint f selects some of the 64 consecutive rows from its start by the bits of its coefficients
// c. Each row has r bits, one per column. For every key of the set, the selected rows xor to f. For any other key they
// do so with probability 2^-r, whatever the rows are. That takes little more than one row, so r bits, per key. The rows
// solve a linear system whose matrix is zero except for a ribbon of width 64 along the diagonal, so elimination is
// local and takes linear time (Dillinger, Walzer: Ribbon filter; the bumping follows Dillinger, Hübschle-Schneider,
// Sanders, Walzer: Fast succinct retrieval and approximate membership using ribbon, 2022).
//
// Where too many keys happen to start close together, the equations contradict each other. Such keys are bumped (sent
// on) to the next layer. The starts of a layer are divided into buckets. A 2-bit mark per bucket says whether the keys
// of its first few starts (which overlap with the previous bucket), of many, or of all are bumped. The first layer has
// 2 % fewer starts than keys and bumps 2.4 %. A list holds the keys that the third layer bumps.
//
// Body, all numbers little-endian:
//
//     blocks   64 rows each: r words of 64 bits; word j is column j, bit i is row i of the block. (r = 8: a block is
//              a cache line, and a lookup reads one or two.) There are 63 more rows than starts, rounded up to a
//              multiple of 8; a last block of fewer than 64 rows has that many bits per column instead of 64.
//     marks    2 bits per bucket, layer by layer without gaps; bucket b is bits 2(b mod 16) and up of the 32-bit word
//              number ⌊b/16⌋. In the first layer a bucket has 128 starts, and marks 0 … 3 bump the keys that start in
//              the first 0, 20, 48 and 128 of them; in the others it has 32 starts: the first 0, 4, 12 and 32.
//     list     fingerprints of b bits, ascending and distinct, packed from the lowest bit of each byte up; the rest of
//              the last byte is zero.
//
//     header   hashes = r; numbers[0 … 2] = starts of each layer, 0 for a missing layer;
//              numbers[3] = entries of the list + 2^56 · b.
//
// From hash to rows (arithmetic modulo 2^64):
//
//     m1 = remix(hash); m2 = remix(m1 + 9e3779b97f4a7c15); m3 and m4 likewise       (base/hash.h)
//     position in layer i = ⌊mi · starts / 2^64⌋; start = position + starts of the layers before
//     c = (mi · a0761d6478bd642f) | 1; bit k of it chooses row start + k
//     f = top r bits of (mi ^ mi >> 32) · e7037ed1a0b428db; bit j of it belongs to column j
//     fingerprint in the list = top b bits of m4
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/try.h"
#include "filter/filter_kind.h"
#include "filter/ribbon_build.h"
#include "filter/ribbon_layout.h"
#include "filter/sizing.h"

namespace tamis {
namespace {

FilterSize size_with(std::uint64_t keys, std::uint32_t columns) {
  return {.keys = keys,
          .bytes = most_ribbon_bytes(keys, columns),
          .hashes = columns,
          .rate = planned_ribbon_rate(keys, columns)};
}

/// The max columns that fit in `bytes`; 0 for none.
std::uint32_t columns_within(std::uint64_t keys, double bytes) {
  std::uint32_t columns = kRibbonMostColumns;
  while (columns > 0 && static_cast<double>(most_ribbon_bytes(keys, columns)) > bytes) --columns;
  return columns;
}

/// Columns are whole, so the rate is a power of 1/2, and a fractional column of bits or memory stays unused. The bytes
/// are the max of a build; most take slightly less, depending on the keys.
Result<FilterSize> size(std::uint64_t keys, SizeTarget target) {
  if (target.measure == SizeTarget::Measure::kRate) {
    for (std::uint32_t columns = 1; columns <= kRibbonMostColumns; ++columns) {
      if (planned_ribbon_rate(keys, columns) <= target.value) return size_with(keys, columns);
    }
    return cannot_reach("ribbon", target, "bloom");
  }
  const bool per_key = target.measure == SizeTarget::Measure::kBitsPerKey;
  const double bytes = per_key ? target.value * static_cast<double>(keys) / 8 : target.value;
  const std::uint32_t columns = columns_within(keys, bytes);
  if (columns == 0) return cannot_reach("ribbon", target, "bloom");
  return size_with(keys, columns);
}

/// Never exceeds the size's bytes.
Result<FilterImage> build(std::span<std::uint64_t> hashes, const FilterSize& size) {
  TAMIS_TRY(const RibbonSystem system, make_ribbon_system(hashes, {.columns = size.hashes}, size.bytes));
  const RibbonShape& shape = system.shape;
  TAMIS_TRY(FilterImage image, FilterImage::with_body(shape.body_bytes()));
  put_ribbon_shape(image.header, shape);
  const MutableBytes body = image.mutable_body();
  const RibbonColumns all = {.out = body.data(), .columns = shape.columns, .rows = shape.rows()};
  solve_ribbon(system.band, shape, {&all, 1});
  system.write_marks_and_list(body.subspan(shape.block_bytes()));
  return image;
}

Result<FilterProbe> open(const FilterHeader& header, Bytes body, std::string_view name) {
  const RibbonShape shape = ribbon_shape_of(header);
  if (!is_sane(shape) || shape.body_bytes() != body.size()) {
    return Status::corruption(
        fmt::format("{}: ribbon: {} columns, layers of {}, {} and {} starts and a list of {} × {} bits do "
                    "not fit a body of {} bytes",
                    name, shape.columns, shape.starts[0], shape.starts[1], shape.starts[2], shape.list_entries,
                    shape.list_bits, body.size()));
  }
  FilterProbe probe;
  probe_state<RibbonState>(probe) = {
      .layers = ribbon_layers(shape, body.data() + shape.block_bytes()),
      .blocks = {.first = body.data(),
                 .full = shape.full_blocks(),
                 .columns = shape.columns,
                 .cut_bytes = static_cast<std::uint32_t>(shape.cut_bytes())},
  };
  choose_ribbon_functions(probe);
  return probe;
}

FilterEstimate estimate(const FilterImage& image) {
  const RibbonShape shape = ribbon_shape_of(image.header);
  const auto keys = static_cast<double>(image.header.keys);
  const auto rows = static_cast<double>(shape.rows() + shape.list_entries);
  const double reach = ribbon_reach(shape, image.body().data() + shape.block_bytes());
  return {.fill = rows == 0 ? 0 : std::min(1.0, keys / rows),
          .keys = keys,
          .rate = (1 - reach) * std::ldexp(1.0, -static_cast<int>(shape.columns)) + reach * shape.list_rate()};
}

}  // namespace

constinit const FilterKind kRibbonKind = {
    .info = {.id = 3,
             .name = "ribbon",
             .summary = "the smallest: within 1 % of the information bound; for immutable sets",
             .build_bytes_per_key = 21},
    .size = size,
    .build = build,
    .open = open,
    .estimate = estimate,
    .lists_few_keys = true,
};

}  // namespace tamis
