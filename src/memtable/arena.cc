#include "memtable/arena.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace tamis {

bool Arena::reserve(std::size_t bytes) {
  if (bytes <= left_units_ * kUnitBytes || bytes <= spare_.size()) return true;
  if (bytes > kSpans * kSpanBytes) return false;
  const std::size_t chunk_bytes = AlignedBytes::allocated_bytes(std::max(bytes, regular_chunk_bytes()));
  if (next_span_ + spans_for(chunk_bytes) > kSpans) return false;
  CountedBytes chunk = CountedBytes::unset(memory_, chunk_bytes);  // May be larger.
  if (chunk.empty() || next_span_ + spans_for(chunk.size()) > kSpans) return false;
  spare_ = std::move(chunk);
  return true;
}

Arena::Place Arena::allocate(std::size_t bytes) {
  const std::size_t units = (bytes + kUnitBytes - 1) / kUnitBytes;
  if (units > left_units_) return use_spare(units);
  const Place place{next_};
  next_ += static_cast<std::uint32_t>(units);
  left_units_ -= units;
  return place;
}

/// The chunk with more space left becomes the current one. So a large value does not waste the rest of a regular chunk,
/// and the rest of a reservation still fits.
Arena::Place Arena::use_spare(std::size_t units) {
  const std::size_t spare_units = spare_.size() / kUnitBytes;
  TAMIS_CHECK(units <= spare_units);
  const std::size_t span = next_span_;
  next_span_ += spans_for(spare_.size());
  taken_bytes_ += spare_.size();
  for (std::size_t i = span; i < next_span_; ++i) spans_[i] = spare_.data() + (i - span) * kSpanBytes;
  chunks_[span] = std::exchange(spare_, {});
  const auto first = static_cast<std::uint32_t>(span << kSpanBits);
  if (spare_units - units > left_units_) {
    next_ = first + static_cast<std::uint32_t>(units);
    left_units_ = spare_units - units;
  }
  return Place{first};
}

std::size_t Arena::regular_chunk_bytes() const {
  return std::bit_floor(std::clamp(taken_bytes_ / 8, kMinChunkBytes, kSpanBytes));
}

}  // namespace tamis
