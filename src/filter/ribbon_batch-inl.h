// Batches of lookups in a ribbon filter, one body per instruction set. Included by the probes of ribbons.
#if defined(TAMIS_FILTER_RIBBON_BATCH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_FILTER_RIBBON_BATCH_INL_H
#undef TAMIS_FILTER_RIBBON_BATCH_INL_H
#else
#define TAMIS_FILTER_RIBBON_BATCH_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "filter/ribbon_layers-inl.h"
#include "filter/ribbon_layout.h"
#include "filter/ribbon_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tamis {
namespace HWY_NAMESPACE {
namespace {

/// Batch arithmetic requires 32-bit starts.
HWY_INLINE bool fits_batches(const RibbonLayers& layers) { return layers.starts[0] >> 32 == 0; }

#if HWY_TARGET == HWY_AVX3_DL

// With vectors of eight words and a vector popcount, batches are prepared together. Coefficients and fingerprints are
// computed for eight keys at a time, the sums then key by key.

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

/// Eight keys at a time; the offsets are those in `blocks`.
template <bool kPrefetch>
HWY_INLINE void prepare_batch(const RibbonLayers& layers, const RibbonBlocks& blocks, std::uint32_t fingerprint_bits,
                              const std::uint64_t* hashes, Batch& batch) {
  const Words words;
  const auto one = hn::Set(words, 1);
  batch.sent_on = 0;
  for (std::size_t i = 0; i < kBatch; i += 8) {
    const auto mixed = remixed(hn::LoadU(words, hashes + i));
    const auto position = positions_of(mixed, layers.starts[0]);
    batch.sent_on |= sent_on_of(layers.marks, position) << i;
    const auto coefficients = hn::Or(hn::Mul(mixed, hn::Set(words, kRibbonCoefficientFactor)), one);
    const auto shift = hn::And(position, hn::Set(words, 63));
    hn::Store(hn::Shl(coefficients, shift), words, batch.in_first + i);
    hn::Store(hn::Shr(hn::ShiftRight<1>(coefficients), hn::Xor(shift, hn::Set(words, 63))), words, batch.in_second + i);
    hn::Store(hn::Mul(hn::ShiftRight<6>(position), hn::Set(words, std::uint64_t{8} * blocks.columns)), words,
              batch.offset + i);
    const auto fingerprint =
        hn::Mul(hn::Xor(mixed, hn::ShiftRight<32>(mixed)), hn::Set(words, kRibbonFingerprintFactor));
    const hn::FixedTag<std::uint32_t, 8> halves;
    hn::Store(hn::TruncateTo(halves, hn::Shr(fingerprint, hn::Set(words, 64 - fingerprint_bits))), halves,
              batch.fingerprint + i);
    if constexpr (kPrefetch) {
      for (std::size_t j = i; j < i + 8; ++j) prefetch_blocks(blocks.first + batch.offset[j], blocks.columns);
    }
  }
}

/// The answers for those keys of a batch that the first layer has sent on.
template <typename Ribbon>
HWY_INLINE std::uint64_t answers_beyond_first_layer(const Ribbon& ribbon, const std::uint64_t* hashes,
                                                    std::uint64_t left) {
  std::uint64_t answers = 0;
  for (; left != 0; left &= left - 1) {
    const int i = hwy::Num0BitsBelowLS1Bit_Nonzero64(left);
    const std::uint64_t key = ribbon_key_of_next_layer(ribbon_mix(hashes[i]));
    answers |= static_cast<std::uint64_t>(ribbon.ask_beyond_first_layer(key)) << i;
  }
  return answers;
}

/// Tests one batch while the blocks of the next, and later slices of the previous, are being loaded.
template <bool kPrefetch, typename Ribbon>
HWY_INLINE void test_batches(const Ribbon& ribbon, const std::uint64_t* hashes, std::size_t batches,
                             std::uint64_t* answers) {
  constexpr std::size_t kDelay = kPrefetch ? 1 : 0;  // Batches that later slices take to arrive.
  Batch prepared[2 + kDelay];
  const auto batch = [&](std::size_t i) -> Batch& { return prepared[i % (2 + kDelay)]; };
  const auto prepare = [&](std::size_t i) {
    prepare_batch<kPrefetch>(ribbon.layers, ribbon.blocks, ribbon.fingerprint_bits, hashes + i * kBatch, batch(i));
  };
  const auto finish = [&](std::size_t i) {
    answers[i] = ribbon.matching_later(batch(i), answers[i]) |
                 answers_beyond_first_layer(ribbon, hashes + i * kBatch, batch(i).sent_on);
  };
  prepare(0);
  for (std::size_t i = 0; i < batches; ++i) {
    if (i + 1 < batches) prepare(i + 1);
    answers[i] = ribbon.matching(batch(i)) & ~batch(i).sent_on;
    if constexpr (kPrefetch) ribbon.prefetch_later(batch(i), answers[i]);
    if (i >= kDelay) finish(i - kDelay);
  }
  if constexpr (kPrefetch) finish(batches - 1);
}

/// May_contain_many for a `ribbon` with
///
///     layers, blocks                  the blocks being those that a lookup reads first
///     fingerprint_bits
///     matching(batch)                 bit i: what the rows of `blocks` say about key i, as one of the first layer
///     prefetch_later(batch, left)     loads what other rows `matching_later` needs
///     matching_later(batch, left)     those of the keys in `left` that no other row denies
///     ask_first_layer(hash)           the answer for any key
///     prefetch(hash)                  loads what that needs
///     ask_beyond_first_layer(key)     the answer for a key that the first layer has sent on
///
/// all inline, except for the last.
template <bool kPrefetch, typename Ribbon>
void test_many(const Ribbon& ribbon, const std::uint64_t* hashes, std::size_t count, std::uint64_t* answers) {
  const std::size_t whole = count / kBatch;
  if (whole > 0) test_batches<kPrefetch>(ribbon, hashes, whole, answers);
  const std::size_t rest = count % kBatch;
  if (rest == 0) return;
  std::uint64_t padded[kBatch] = {};  // Any hash is valid; the extra answers are dropped.
  std::copy_n(hashes + whole * kBatch, rest, padded);
  test_batches<kPrefetch>(ribbon, padded, 1, answers + whole);
  answers[whole] &= (std::uint64_t{1} << rest) - 1;
}

#else

/// Answers one by one, prefetching the rows of a later key. The ribbon is as above.
template <bool kPrefetch, typename Ribbon>
void test_many(const Ribbon& ribbon, const std::uint64_t* hashes, std::size_t count, std::uint64_t* answers) {
  constexpr std::size_t kAhead = 32;
  for (std::size_t i = 0; kPrefetch && i < std::min(kAhead, count); ++i) ribbon.prefetch(hashes[i]);
  for (std::size_t begin = 0; begin < count; begin += 64) {
    const std::size_t end = std::min(begin + 64, count);
    std::uint64_t word = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (kPrefetch && i + kAhead < count) ribbon.prefetch(hashes[i + kAhead]);
      word |= static_cast<std::uint64_t>(ribbon.ask_first_layer(hashes[i])) << (i - begin);
    }
    answers[begin / 64] = word;
  }
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tamis
HWY_AFTER_NAMESPACE();

#endif  // TAMIS_FILTER_RIBBON_BATCH_INL_H
