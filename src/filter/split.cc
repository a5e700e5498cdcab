// split: blocks of eight 32-bit words, one bit per word and key. The layout of Parquet and Impala: with XXH64 as the
// hash, the body is their bitset. Mutable; union by bitwise or.
//
// Body: blocks of 32 bytes. Header: hashes = 8, numbers[0] = blocks. The high half of the hash selects the block, the
// low half times eight salts the bits.
#include "filter/split.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/instruction_set.h"
#include "base/try.h"
#include "filter/bit_array.h"
#include "filter/filter_kind.h"
#include "filter/sizing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filter/split.cc"
#include <hwy/foreach_target.h>  // Includes this file once per instruction set.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL

HWY_INLINE bool test_block(const std::uint32_t* block, std::uint64_t hash) {
  const hn::FixedTag<std::uint32_t, 8> lanes;
  const auto salts = hn::LoadU(lanes, kSplitSalts.data());
  const auto bit = hn::ShiftRight<27>(hn::Mul(hn::Set(lanes, static_cast<std::uint32_t>(hash)), salts));
  const auto wanted = hn::Shl(hn::Set(lanes, 1U), bit);
  return hn::AllTrue(lanes, hn::Eq(hn::AndNot(hn::LoadU(lanes, block), wanted), hn::Zero(lanes)));
}

#else

/// The plain loop for all other instruction sets; the reference for the one above.
HWY_INLINE bool test_block(const std::uint32_t* block, std::uint64_t hash) {
  std::uint32_t all = 1;
  for (std::uint32_t i = 0; i < kSplitWords; ++i) all &= block[i] >> split_bit(hash, i);
  return all != 0;
}

#endif

HWY_INLINE const std::uint32_t* block_for(const FilterProbe& probe, std::uint64_t hash) {
  const SplitState& state = probe_state<SplitState>(probe);
  return state.blocks + std::size_t{kSplitWords} * split_block_of(hash, state.block_count);
}

bool may_contain(const FilterProbe& probe, std::uint64_t hash) { return test_block(block_for(probe, hash), hash); }

void prefetch(const FilterProbe& probe, std::uint64_t hash) { __builtin_prefetch(block_for(probe, hash)); }

}  // namespace

void set_split_functions(FilterProbe& probe) { set_probe_functions<may_contain, prefetch>(probe); }

}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis {

namespace {

constexpr std::uint32_t kWordBits = 32;
constexpr double kMaxBitsPerKey = 128;

FilterSize size_with(std::uint64_t keys, std::uint64_t blocks) {
  return {.keys = keys,
          .bytes = blocks * kSplitBlockBytes,
          .hashes = kSplitWords,
          .rate = filter_math::split_bloom_rate(static_cast<double>(blocks), kWordBits, kSplitWords,
                                                static_cast<double>(keys))};
}

Result<FilterSize> size(std::uint64_t keys, SizeTarget target) {
  return size_in_blocks("split", keys, target, {kSplitBlockBytes, kMaxBitsPerKey},
                        [&](std::uint64_t blocks) { return size_with(keys, blocks); });
}

Result<FilterImage> make(const FilterSize& shape) {
  return FilterImage::with_body(shape.bytes, kSplitWords, shape.bytes / kSplitBlockBytes);
}

Status add(FilterImage& image, std::uint64_t hash) {
  const auto blocks = static_cast<std::uint32_t>(image.header.numbers[0]);
  std::byte* block = image.mutable_body().data() + kSplitBlockBytes * split_block_of(hash, blocks);
  for (std::uint32_t i = 0; i < kSplitWords; ++i) {
    const std::uint32_t bit = split_bit(hash, i);
    block[4 * i + bit / 8] |= std::byte{1} << (bit % 8);
  }
  return {};
}

constexpr auto each_bit = [](const FilterHeader& header, std::uint64_t hash, auto f) {
  const std::uint64_t block = split_block_of(hash, static_cast<std::uint32_t>(header.numbers[0]));
  for (std::uint32_t i = 0; i < kSplitWords; ++i) {
    if (!f(8 * kSplitBlockBytes * block + std::uint64_t{kWordBits} * i + split_bit(hash, i))) return false;
  }
  return true;
};

Result<FilterProbe> open(const FilterHeader& header, Bytes body, std::string_view name) {
  const std::uint64_t blocks = header.numbers[0];
  if (blocks == 0 || blocks > kMaxBlocks || blocks * kSplitBlockBytes != body.size() || header.hashes != kSplitWords) {
    return Status::corruption(fmt::format("{}: split: {} blocks and {} hashes do not fit a body of {} bytes", name,
                                          blocks, header.hashes, body.size()));
  }
  FilterProbe probe;
  TAMIS_BEST_BODY(set_split_functions)(probe);
  probe_state<SplitState>(probe) = {.blocks = reinterpret_cast<const std::uint32_t*>(body.data()),
                                    .block_count = static_cast<std::uint32_t>(blocks)};
  return probe;
}

/// The rate of one block is the product of the fill of its words.
FilterEstimate estimate(const FilterImage& image) {
  return estimate_blocks(image, kSplitBlockBytes, [](Bytes block, double) {
    double rate = 1;
    for (std::size_t word = 0; word < kSplitWords; ++word) {
      rate *= static_cast<double>(count_set_bits(block.subspan(4 * word, 4))) / kWordBits;
    }
    return rate;
  });
}

}  // namespace

constinit const FilterKind kSplitKind = {
    .info = {.id = 5,
             .name = "split",
             .summary = "Parquet's split blocks: mutable, one cache line per lookup, union and intersection",
             .adds = true,
             .merges = true,
             .intersects = true},
    .size = size,
    .build = build_by_adding<make, add>,
    .open = open,
    .estimate = estimate,
    .make = make,
    .add = add,
    .merge = join_bodies<std::bit_or<>>,
    .intersect = join_bodies<std::bit_and<>>,
    .shared = shared_bits<each_bit, kSplitBlockBytes / 8>(),
};

}  // namespace tamis
#endif
