// Batched lookups in a ribbon filter, for targets with vectors of eight words and a vector popcount. Coefficients and
// fingerprints are computed for eight keys at a time, the sums then key by key. Included by ribbon_probe.cc only.
#if defined(TAMIS_FILTER_RIBBON_BATCH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_FILTER_RIBBON_BATCH_INL_H
#undef TAMIS_FILTER_RIBBON_BATCH_INL_H
#else
#define TAMIS_FILTER_RIBBON_BATCH_INL_H
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "filter/ribbon_sum-inl.h"

#if HWY_TARGET == HWY_AVX3_DL

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {
namespace {

constexpr std::size_t kBatch = 64;

/// Keys of the first layer, ready to test: the rows to select, from which block, and the expected sum.
struct Batch {
  HWY_ALIGN std::uint64_t in_first[kBatch];
  HWY_ALIGN std::uint64_t in_second[kBatch];
  HWY_ALIGN std::uint64_t offset[kBatch];  // Of the block, in bytes; the next block follows.
  HWY_ALIGN std::uint32_t fingerprint[kBatch];
  std::uint64_t sent_on;  // Bit i: key i is not in the first layer.
};

/// ⌊mixed · starts / 2^64⌋ for starts below 2^32.
HWY_INLINE hn::Vec<Words> positions_of(hn::Vec<Words> mixed, std::uint64_t starts) {
  const Words words;
  const hn::Repartition<std::uint32_t, Words> halves;
  const auto factor = hn::BitCast(halves, hn::Set(words, starts));
  const auto low = hn::MulEven(hn::BitCast(halves, mixed), factor);
  const auto high = hn::MulEven(hn::BitCast(halves, hn::ShiftRight<32>(mixed)), factor);
  return hn::ShiftRight<32>(hn::Add(high, hn::ShiftRight<32>(low)));
}

/// Bit i: the key of lane i is bumped.
HWY_INLINE std::uint64_t sent_on_of(const std::byte* marks, hn::Vec<Words> position) {
  const Words words;
  constexpr RibbonBuckets kBuckets = kRibbonBuckets[0];
  constexpr std::uint32_t kThresholds = kBuckets.threshold[0] | kBuckets.threshold[1] << 8 |
                                        kBuckets.threshold[2] << 16 | std::uint32_t{kBuckets.threshold[3]} << 24;
  const auto bucket = hn::ShiftRight<kBuckets.shift>(position);
  const hn::FixedTag<std::int32_t, 8> indices;
  const hn::FixedTag<std::uint32_t, 8> mark_words;
  const auto index = hn::BitCast(indices, hn::TruncateTo(mark_words, hn::ShiftRight<4>(bucket)));
  const auto sixteen_marks = hn::GatherIndex(mark_words, reinterpret_cast<const std::uint32_t*>(marks), index);
  const auto place = hn::ShiftLeft<1>(hn::And(bucket, hn::Set(words, 15)));
  const auto mark = hn::And(hn::Shr(hn::PromoteTo(words, sixteen_marks), place), hn::Set(words, 3));
  const auto threshold = hn::And(hn::Shr(hn::Set(words, kThresholds), hn::ShiftLeft<3>(mark)), hn::Set(words, 255));
  const auto within = hn::And(position, hn::Set(words, (1U << kBuckets.shift) - 1));
  std::uint8_t bits[8];
  hn::StoreMaskBits(words, hn::Lt(within, threshold), bits);
  return bits[0];
}

/// `remix` of base/hash.h.
HWY_INLINE hn::Vec<Words> remixed(hn::Vec<Words> x) {
  const Words words;
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<30>(x)), hn::Set(words, 0xbf58476d1ce4e5b9U));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<27>(x)), hn::Set(words, 0x94d049bb133111ebU));
  return hn::Xor(x, hn::ShiftRight<31>(x));
}

/// Eight keys at a time.
template <bool kPrefetch>
HWY_INLINE void prepare_batch(const RibbonState& state, const std::uint64_t* hashes, Batch& batch) {
  const Words words;
  const auto one = hn::Set(words, 1);
  batch.sent_on = 0;
  for (std::size_t i = 0; i < kBatch; i += 8) {
    const auto mixed = remixed(hn::LoadU(words, hashes + i));
    const auto position = positions_of(mixed, state.starts[0]);
    batch.sent_on |= sent_on_of(state.marks, position) << i;
    const auto coefficients = hn::Or(hn::Mul(mixed, hn::Set(words, kRibbonCoefficientFactor)), one);
    const auto shift = hn::And(position, hn::Set(words, 63));
    hn::Store(hn::Shl(coefficients, shift), words, batch.in_first + i);
    hn::Store(hn::Shr(hn::ShiftRight<1>(coefficients), hn::Xor(shift, hn::Set(words, 63))), words, batch.in_second + i);
    hn::Store(hn::Mul(hn::ShiftRight<6>(position), hn::Set(words, std::uint64_t{8} * state.columns)), words,
              batch.offset + i);
    const auto fingerprint =
        hn::Mul(hn::Xor(mixed, hn::ShiftRight<32>(mixed)), hn::Set(words, kRibbonFingerprintFactor));
    const hn::FixedTag<std::uint32_t, 8> halves;
    hn::Store(hn::TruncateTo(halves, hn::Shr(fingerprint, hn::Set(words, 64 - state.columns))), halves,
              batch.fingerprint + i);
    if constexpr (kPrefetch) {
      for (std::size_t j = i; j < i + 8; ++j) prefetch_blocks(state.blocks + batch.offset[j], state.columns);
    }
  }
}

/// One vector of columns: the sums are bytes, all compared at once.
template <bool kAll>
HWY_INLINE std::uint64_t matching_byte_sums(const RibbonState& state, const Batch& batch) {
  const Words words;
  const hn::FixedTag<std::uint8_t, kBatch> bytes;
  const std::size_t block_bytes = kAll ? 64 : std::size_t{8} * state.columns;
  HWY_ALIGN std::uint8_t sums[kBatch + 8];
  for (std::size_t i = 0; i < kBatch; ++i) {
    const auto odd =
        sum_of_columns<kAll>(state.blocks + batch.offset[i], block_bytes, hn::Set(words, batch.in_first[i]),
                             hn::Set(words, batch.in_second[i]), state.columns % 8);
    hn::StoreMaskBits(words, odd, sums + i);
  }
  HWY_ALIGN std::uint8_t wanted[kBatch];
  for (std::size_t i = 0; i < kBatch; ++i) wanted[i] = static_cast<std::uint8_t>(batch.fingerprint[i]);
  std::uint64_t matching = 0;
  hn::StoreMaskBits(bytes, hn::Eq(hn::Load(bytes, sums), hn::Load(bytes, wanted)),
                    reinterpret_cast<std::uint8_t*>(&matching));
  return matching;
}

/// More columns: one sum after another.
HWY_INLINE std::uint64_t matching_wide_sums(const RibbonState& state, const Batch& batch) {
  std::uint64_t matching = 0;
  for (std::size_t i = 0; i < kBatch; ++i) {
    const Choice choice = {batch.in_first[i], batch.in_second[i]};
    const std::uint32_t sum = sum_of_block_rows(state.blocks + batch.offset[i], state.columns, choice);
    matching |= static_cast<std::uint64_t>(sum == batch.fingerprint[i]) << i;
  }
  return matching;
}

/// Bit i: the rows of key i xor to its fingerprint.
HWY_INLINE std::uint64_t matching_sums(const RibbonState& state, const Batch& batch) {
  if (state.columns == 8) return matching_byte_sums<true>(state, batch);
  if (state.columns < 8) return matching_byte_sums<false>(state, batch);
  return matching_wide_sums(state, batch);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#endif  // HWY_AVX3_DL

#endif  // TAMIS_FILTER_RIBBON_BATCH_INL_H
