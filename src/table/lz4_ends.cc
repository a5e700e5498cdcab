#include "table/lz4_ends.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "table/block_trailer_format.h"

namespace tamis {
namespace {

constexpr unsigned kMore = 15;  // A length of this value continues in the following bytes.
constexpr std::size_t kMinMatch = 4;
constexpr std::size_t kOffsetBytes = 2;
constexpr std::uint8_t kLz4 = 1;  // In a trailer.
/// LZ4 makes at most 255 bytes of one: the max length in the trailer of a 64 KiB block.
constexpr std::uint32_t kMaxLz4Bytes = 1 << 24;
/// For trailers on one path with the wrong length. The true one comes first, except for offsets that look like one.
constexpr int kMaxTrailers = 8;

}  // namespace

void Lz4Ends::cover(std::string_view bytes, std::uint64_t offset, std::size_t begins) {
  bytes_.assign(bytes.begin(), bytes.end());
  offset_ = offset;
  begins_ = begins;
  runs_.assign(bytes_.size() + 1, 0);
  ways_.assign(bytes_.size(), {});
  for (std::size_t place = bytes_.size(); place-- > 0;) {
    if (bytes_[place] == '\xff') {
      runs_[place] = static_cast<std::uint16_t>(std::min<int>(runs_[place + 1] + 1, 0xffff));
    }
    ways_[place] = way_from(place);
  }
}

/// All later positions are known.
Lz4Ends::Way Lz4Ends::way_from(std::uint64_t place) const {
  const Sequence sequence = sequence_at(place);
  if (sequence.literals_end == kNowhere) return {};
  if (may_be_trailer(sequence.literals_end)) {
    return {static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(sequence.literals)};
  }
  if (sequence.next >= ways_.size()) return {};
  const Way rest = ways_[sequence.next];
  const std::uint64_t made = sequence.made + rest.made;
  if (rest.last == kNowhere || made > kMaxBlockBytes) return {};
  return {rest.last, static_cast<std::uint32_t>(made)};
}

std::size_t Lz4Ends::find(std::uint64_t begin, std::span<std::uint64_t> to) const {
  std::size_t found = 0;
  std::uint64_t made = 0;
  std::uint64_t place = begin - offset_;
  for (int i = 0; i < kMaxTrailers && place < ways_.size() && found < to.size(); ++i) {
    const Way& way = ways_[place];
    if (way.last == kNowhere) break;
    const Sequence last = sequence_at(way.last);
    made += way.made;
    if (load_le<std::uint32_t>(bytes_.data() + last.literals_end + 1) == made) {
      to[found++] = offset_ + last.literals_end;
    }
    made += last.made - last.literals;
    place = last.next;
  }
  return found;
}

Lz4Ends::Sequence Lz4Ends::sequence_at(std::uint64_t place) const {
  const auto token = static_cast<std::uint8_t>(bytes_[place++]);
  Sequence sequence;
  sequence.literals = length_at(place, token >> 4);
  sequence.literals_end = place + sequence.literals;
  if (sequence.literals_end + kBlockTrailerBytes > bytes_.size()) return {.literals_end = kNowhere};
  const auto offset = load_le<std::uint16_t>(bytes_.data() + sequence.literals_end);
  sequence.next = sequence.literals_end + kOffsetBytes;
  sequence.made = sequence.literals + kMinMatch + length_at(sequence.next, token & 15);
  if (offset == 0) sequence.next = kNowhere;
  return sequence;
}

std::uint64_t Lz4Ends::length_at(std::uint64_t& place, unsigned nibble) const {
  if (nibble < kMore || place >= bytes_.size()) return nibble;
  const std::uint64_t run = runs_[place];
  place += run;
  if (run == std::numeric_limits<std::uint16_t>::max() || place >= bytes_.size()) {
    place = bytes_.size();
    return nibble;
  }
  return nibble + 255 * run + static_cast<std::uint8_t>(bytes_[place++]);
}

bool Lz4Ends::may_be_trailer(std::uint64_t place) const {
  const auto length = load_le<std::uint32_t>(bytes_.data() + place + 1);
  return static_cast<std::uint8_t>(bytes_[place]) == kLz4 && length != 0 && length < kMaxLz4Bytes;
}

}  // namespace tamis
