#include "filter/split_probe.h"

#include <cstddef>

#include "filter/filter_kind.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filter/split_probe.cc"
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

HWY_EXPORT(set_split_functions);

void choose_split_functions(FilterProbe& probe) { HWY_DYNAMIC_DISPATCH(set_split_functions)(probe); }

}  // namespace tamis
#endif
