// RocksDB's Ribbon filter with 128-bit rows ("Standard128Ribbon"), read-only.
//
// The body consists of 128-bit segments, little-endian. A block of 128 slots has one segment per column, that is, per
// bit of the result. If the number of segments is not a multiple of the blocks, the first blocks have one column fewer.
// A key covers 128 consecutive slots from any start, so it touches a block and the next one.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/hash.h"
#include "filter/formats/foreign_hash.h"
#include "filter/formats/rocksdb_filter.h"

namespace tamis::foreign {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr std::uint32_t kSlotsPerBlock = 128;
constexpr std::size_t kSegmentBytes = 16;
constexpr std::uint32_t kMaxColumns = 32;

Wide load_segment(const std::byte* at) {
  return (static_cast<Wide>(load_le<std::uint64_t>(at + 8)) << 64) | load_le<std::uint64_t>(at);
}

std::uint32_t parity(Wide value) {
  const auto folded = static_cast<std::uint64_t>(value) ^ static_cast<std::uint64_t>(value >> 64);
  return static_cast<std::uint32_t>(std::popcount(folded)) & 1;
}

/// The seed in the file counts attempts; this is its effect on the hash.
std::uint64_t raw_seed(std::uint32_t ordinal) {
  std::uint64_t mixed = ordinal * 0xc78219a23eeadd03U;
  mixed ^= (mixed & 0xf0f0f0f0f0f0f0f0U) >> 4;
  return mixed & 0xffffffffU;
}

/// Invariants: columns_ <= 32, and every segment that a key can touch lies in body_: the last start, slot
/// 128·(blocks-1), touches only the last block, and a block never has more columns than the next.
class RibbonProbe final : public Probe {
 public:
  RibbonProbe(Bytes body, std::uint32_t blocks, std::uint32_t seed)
      : body_(body), blocks_(blocks), seed_(seed), raw_seed_(raw_seed(seed)) {
    const std::uint64_t segments = body.size() / kSegmentBytes;
    columns_ = (segments + blocks - 1) / blocks;
    short_blocks_ = columns_ * blocks - segments;
    if (columns_ > kMaxColumns) {
      columns_ = kMaxColumns;
      short_blocks_ = 0;
    }
  }

  [[nodiscard]] bool may_contain(std::string_view key) const override {
    const std::uint64_t hash = (xxph3_64(key) ^ raw_seed_) * 0x6193d459236a3a0dU;
    const std::uint64_t starts = std::uint64_t{kSlotsPerBlock} * blocks_ - (kSlotsPerBlock - 1);
    const std::uint64_t start = fast_range(hash, starts);
    const std::uint64_t block = start / kSlotsPerBlock;
    const auto shift = static_cast<std::uint32_t>(start % kSlotsPerBlock);

    const std::uint64_t mixed = hash * 0xc28f82822b650bedU;
    const Wide row = (static_cast<Wide>(mixed) << 64) | (mixed ^ 0xc367844a6e52731dU) | 1;
    const auto expected = static_cast<std::uint32_t>(byte_swapped(mixed));

    const std::uint64_t columns = columns_ - (block < short_blocks_ ? 1 : 0);
    const std::uint64_t segment = block * columns_ - std::min(block, short_blocks_);
    for (std::uint64_t i = 0; i < columns; ++i) {
      Wide product = segment_at(segment + i) & (row << shift);
      if (shift != 0) product ^= segment_at(segment + columns + i) & (row >> (kSlotsPerBlock - shift));
      if (parity(product) != ((expected >> i) & 1)) return false;
    }
    return true;
  }

  void describe(ForeignInfo& info) const override {
    FillEstimate estimate;
    estimate.add(body_.size() * 8, count_bits(body_, body_.size() * 8, BitOrder::kBytes), 1);
    estimate.write_to(info);
    info.detail = "Ribbon";
    info.hashes = static_cast<std::uint32_t>(columns_);
    info.seed = seed_;
    // The bits of a solved system say nothing about its keys, but its size does: about 1.05 slots per key.
    const double slots = double{kSlotsPerBlock} * blocks_;
    const double short_part = static_cast<double>(short_blocks_) / blocks_;
    info.estimated_keys = slots / 1.05;
    info.estimated_rate = (1 + short_part) / static_cast<double>(std::uint64_t{1} << columns_);
  }

 private:
  [[nodiscard]] Wide segment_at(std::uint64_t index) const {
    TAMIS_INVARIANT((index + 1) * kSegmentBytes <= body_.size());
    return load_segment(body_.data() + index * kSegmentBytes);
  }

  Bytes body_;
  std::uint64_t blocks_;
  std::uint32_t seed_;
  std::uint64_t raw_seed_;
  std::uint64_t columns_ = 0;
  std::uint64_t short_blocks_ = 0;  // The first blocks, which have one column fewer.
};

}  // namespace

ProbePtr open_rocksdb_ribbon(Bytes body, std::uint32_t blocks, std::uint32_t seed) {
  TAMIS_CHECK(blocks >= 2 && body.size() % kSegmentBytes == 0);
  return std::make_unique<RibbonProbe>(body, blocks, seed);
}

}  // namespace tamis::foreign
