#include "filter/formats/probe.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "filter/bit_array.h"

namespace tamis::foreign {
namespace {

void check_room(const BloomScheme& scheme, const BloomShape& shape, Bytes bits) {
  const std::uint64_t unit_bits = scheme.order == BitOrder::kBytes ? 8 : 64;
  TAMIS_CHECK(shape.bits > 0 && shape.hashes > 0);
  TAMIS_CHECK(bits.size() >= (shape.bits - 1) / unit_bits * (unit_bits / 8) + unit_bits / 8);
}

}  // namespace

void ConstantProbe::describe(ForeignInfo& info) const {
  info.detail = answer_ ? "always true" : "always false";
  info.estimated_rate = answer_ ? 1 : 0;
}

BloomProbe::BloomProbe(const BloomScheme& scheme, const BloomShape& shape, Bytes bits, std::string detail)
    : scheme_(scheme), shape_(shape), bits_(bits), detail_(std::move(detail)) {
  check_room(scheme_, shape_, bits_);
}

BloomProbe::BloomProbe(const BloomScheme& scheme, const BloomShape& shape, std::string&& bits)
    : scheme_(scheme), shape_(shape), owned_(std::move(bits)), bits_(as_bytes(owned_)) {
  check_room(scheme_, shape_, bits_);
}

void BloomProbe::describe(ForeignInfo& info) const {
  FillEstimate estimate;
  if (shape_.block_bits == 0) {
    estimate.add(shape_.bits, count_bits(bits_, shape_.bits, scheme_.order), shape_.hashes);
  }
  const std::uint64_t blocks = shape_.block_bits == 0 ? 0 : shape_.bits / shape_.block_bits;
  const std::size_t block_bytes = shape_.block_bits / 8;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const Bytes block = bits_.subspan(i * block_bytes, block_bytes);
    estimate.add(shape_.block_bits, count_bits(block, shape_.block_bits, scheme_.order), shape_.hashes);
  }
  estimate.write_to(info);
  info.detail = detail_;
  info.hashes = shape_.hashes;
  info.seed = shape_.seed;
}

std::optional<PlainBits> BloomProbe::plain_bits() const {
  return PlainBits{shape_, plain_bytes(bits_, shape_.bits, scheme_.order)};
}

void FillEstimate::add(std::uint64_t bits, std::uint64_t set, std::uint32_t hashes) {
  const auto m = static_cast<double>(bits);
  const double fill = static_cast<double>(set) / m;
  // A full filter only shows that there are many keys; half a bit left keeps the estimate finite.
  const double empty = std::max(1 - fill, 0.5 / m);
  bits_ += bits;
  set_ += set;
  if (set > 0) keys_ += -m / hashes * std::log(empty);
  weighted_rate_ += m * std::pow(fill, hashes);
}

void FillEstimate::write_to(ForeignInfo& info) const {
  info.bits = bits_;
  if (bits_ == 0) return;
  info.fill = static_cast<double>(set_) / static_cast<double>(bits_);
  info.estimated_keys = keys_;
  info.estimated_rate = weighted_rate_ / static_cast<double>(bits_);
}

std::string plain_bytes(Bytes bytes, std::uint64_t count, BitOrder order) {
  std::string plain(static_cast<std::size_t>(count / 8 + (count % 8 != 0 ? 1 : 0)), '\0');
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::size_t from = order == BitOrder::kBytes ? i : i ^ 7;
    if (from < bytes.size()) plain[i] = static_cast<char>(bytes[from]);
  }
  if (count % 8 != 0) plain.back() = static_cast<char>(plain.back() & ((1 << (count % 8)) - 1));
  return plain;
}

std::uint64_t count_bits(Bytes bytes, std::uint64_t count, BitOrder order) {
  std::uint64_t set = count_set_bits(bytes.first(count / 64 * 8));
  for (std::uint64_t bit = count / 64 * 64; bit < count; ++bit) {
    const std::uint64_t at =
        order == BitOrder::kBytes ? byte_of<BitOrder::kBytes>(bit) : byte_of<BitOrder::kBigEndianWords>(bit);
    set += (std::to_integer<std::uint64_t>(bytes[at]) >> (bit % 8)) & 1;
  }
  return set;
}

}  // namespace tamis::foreign
