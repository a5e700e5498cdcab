#include "layout/simd.h"

#include "base/bytes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "layout/simd.cc"
#include <hwy/foreach_target.h>  // Includes this file once per instruction set.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tamis::layout {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <typename D, typename Mask>
HWY_INLINE std::uint64_t bits_of(D lanes, Mask mask) {
  std::uint8_t raw[8] = {};
  hn::StoreMaskBits(lanes, mask, raw);
  std::uint64_t bits;
  __builtin_memcpy(&bits, raw, sizeof bits);
  return bits;
}

std::uint64_t match_bytes(const char* bytes, std::uint8_t wanted) {
  const hn::CappedTag<std::uint8_t, 64> lanes;
  const auto all = hn::Set(lanes, wanted);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 64; i += hn::Lanes(lanes)) {
    const auto some = hn::LoadU(lanes, reinterpret_cast<const std::uint8_t*>(bytes) + i);
    bits |= bits_of(lanes, hn::Eq(some, all)) << i;
  }
  return bits;
}

std::size_t count_below16(const char* numbers, std::size_t count, std::uint16_t wanted) {
  const hn::CappedTag<std::uint16_t, 32> lanes;
  const auto all = hn::Set(lanes, wanted);
  std::size_t below = 0;
  for (std::size_t i = 0; i < count; i += hn::Lanes(lanes)) {
    const auto some = hn::LoadU(lanes, reinterpret_cast<const std::uint16_t*>(numbers) + i);
    // What lies past the end is masked, not counted.
    below += hn::CountTrue(lanes, hn::And(hn::Lt(some, all), hn::FirstN(lanes, count - i)));
  }
  return below;
}

std::size_t count_up_to64(const std::uint64_t* numbers, std::size_t count, std::uint64_t wanted) {
  const hn::CappedTag<std::uint64_t, 8> lanes;
  const auto all = hn::Set(lanes, wanted);
  std::size_t up_to = 0;
  for (std::size_t i = 0; i < count; i += hn::Lanes(lanes)) {
    up_to += hn::Lanes(lanes) - hn::CountTrue(lanes, hn::Gt(hn::LoadU(lanes, numbers + i), all));
  }
  return up_to;
}

}  // namespace

SimdFunctions simd_functions() { return {match_bytes, count_below16, count_up_to64}; }

}  // namespace HWY_NAMESPACE
}  // namespace tamis::layout
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::layout {
namespace {

HWY_EXPORT(simd_functions);

std::uint64_t plain_match_bytes(const char* bytes, std::uint8_t wanted) {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < 64; ++i) bits |= std::uint64_t{static_cast<std::uint8_t>(bytes[i]) == wanted} << i;
  return bits;
}
std::size_t plain_count_below16(const char* numbers, std::size_t count, std::uint16_t wanted) {
  std::size_t below = 0;
  for (std::size_t i = 0; i < count; ++i) below += load_le<std::uint16_t>(numbers + 2 * i) < wanted ? 1U : 0U;
  return below;
}
std::size_t plain_count_up_to64(const std::uint64_t* numbers, std::size_t count, std::uint64_t wanted) {
  std::size_t up_to = 0;
  for (std::size_t i = 0; i < count; ++i) up_to += numbers[i] <= wanted ? 1U : 0U;
  return up_to;
}

}  // namespace

const SimdFunctions& simd() {
  static const SimdFunctions kBest = HWY_DYNAMIC_DISPATCH(simd_functions)();
  return kBest;
}

const SimdFunctions& plain_simd() {
  static const SimdFunctions kPlain = {plain_match_bytes, plain_count_below16, plain_count_up_to64};
  return kPlain;
}

}  // namespace tamis::layout
#endif
