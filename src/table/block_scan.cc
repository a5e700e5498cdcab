#include "table/block_scan.h"

#include "base/bytes.h"
#include "base/instruction_set.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "table/block_scan.cc"
#include <hwy/foreach_target.h>  // Includes this file once per instruction set.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <typename D, typename Mask>
HWY_INLINE std::uint64_t bits_of(D lanes, Mask mask) {
  std::uint8_t raw[8] = {};
  hn::StoreMaskBits(lanes, mask, raw);
  return load_le<std::uint64_t>(raw);
}

std::uint64_t match_tags(const char* tags, std::uint8_t wanted) {
  const hn::CappedTag<std::uint8_t, 64> lanes;
  const auto all = hn::Set(lanes, wanted);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 64; i += hn::Lanes(lanes)) {
    const auto some = hn::LoadU(lanes, reinterpret_cast<const std::uint8_t*>(tags) + i);
    bits |= bits_of(lanes, hn::Eq(some, all)) << i;
  }
  return bits;
}

ScanCounts count_heads(const char* heads, std::size_t count, std::uint16_t wanted) {
  const hn::CappedTag<std::uint16_t, 32> lanes;
  const auto all = hn::Set(lanes, wanted);
  ScanCounts counts;
  for (std::size_t i = 0; i < count; i += hn::Lanes(lanes)) {
    const auto some = hn::LoadU(lanes, reinterpret_cast<const std::uint16_t*>(heads) + i);
    const auto inside = hn::FirstN(lanes, count - i);  // Ignores what lies past the end.
    counts.below += hn::CountTrue(lanes, hn::And(hn::Lt(some, all), inside));
    counts.equal += hn::CountTrue(lanes, hn::And(hn::Eq(some, all), inside));
  }
  return counts;
}

}  // namespace

BlockScan bodies() { return {match_tags, count_heads}; }

}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis {
namespace {

std::uint64_t plain_match_tags(const char* tags, std::uint8_t wanted) {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < 64; ++i) bits |= std::uint64_t{static_cast<std::uint8_t>(tags[i]) == wanted} << i;
  return bits;
}

ScanCounts plain_count_heads(const char* heads, std::size_t count, std::uint16_t wanted) {
  ScanCounts counts;
  for (std::size_t i = 0; i < count; ++i) {
    const auto head = load_le<std::uint16_t>(heads + 2 * i);
    counts.below += head < wanted ? 1U : 0U;
    counts.equal += head == wanted ? 1U : 0U;
  }
  return counts;
}

}  // namespace

BlockScan best_block_scan() { return TAMIS_BEST_BODY(bodies)(); }
BlockScan plain_block_scan() { return {plain_match_tags, plain_count_heads}; }

constinit BlockScan block_scan = {plain_match_tags, plain_count_heads};

namespace {
[[maybe_unused]] const bool kChosen = (block_scan = best_block_scan(), true);
}  // namespace

}  // namespace tamis
#endif
