#include "table/block_search.h"

#include <lz4.h>

#include <algorithm>
#include <array>

#include "table/block_trailer_format.h"
#include "table/data_block_layout_format.h"

namespace tamis {
namespace {

constexpr std::size_t kNearBytes = std::size_t{2} << 20;
constexpr std::size_t kFarBytes = std::size_t{64} << 10;
/// The range in which an LZ4 block of unknown start may begin; and where it ends.
constexpr std::size_t kLz4Begins = std::size_t{256} << 10;
constexpr std::size_t kLz4Bytes = kLz4Begins + kFarBytes;
/// For a block of several entries, so that its offsets fit 16 bits.
constexpr std::size_t kMaxBytesOfSeveral = (std::size_t{64} << 10) - kBlockTrailerBytes;
/// An entry's two varints: its minimum.
constexpr std::size_t kMinEntryBytes = 2;
constexpr std::size_t kMinBlockBytes = data_block::prefix_at(1) + kMinEntryBytes;
constexpr unsigned kMaxSequenceBits = 56;  // At a million writes a second, reached after 2,000 years.
constexpr std::size_t kPeekBytes = 32;

constexpr std::uint8_t kNone = 0;
constexpr std::uint8_t kLz4 = 1;
constexpr std::uint8_t kZstd = 2;

constexpr unsigned kLz4More = 15;  // A length of this value continues in the following bytes.
constexpr std::size_t kLz4LeastMatch = 4;
constexpr std::size_t kLz4OffsetBytes = 2;
constexpr std::size_t kLz4StepCost = 4;  // Token and offset, and the trailer that might be there.

constexpr std::uint32_t kZstdMagic = 0xfd2f'b528;
constexpr std::size_t kZstdBlockHeaderBytes = 3;

BlockPosition position(std::uint64_t begin, std::uint64_t trailer) {
  return {begin, static_cast<std::uint32_t>(trailer - begin + kBlockTrailerBytes)};
}

/// The max stored size of a compressed block: compression must save an eighth.
constexpr std::uint64_t most_stored(std::uint64_t block_bytes) { return block_bytes - (block_bytes + 7) / 8; }

/// The header of a Zstandard frame (RFC 8878, 3.1.1.1); 0 header bytes for one that we would not write.
struct ZstdFrame {
  std::size_t header_bytes = 0;
  std::uint64_t content_bytes = 0;
  bool has_checksum = false;
};
ZstdFrame zstd_frame(const char* bytes) {
  const auto descriptor = static_cast<std::uint8_t>(bytes[4]);
  const bool is_single_segment = (descriptor >> 5 & 1) != 0;
  if ((descriptor & 3) != 0) return {};  // A dictionary.
  const char* size_at = bytes + (is_single_segment ? 5 : 6);
  const auto after = [&](std::size_t size_bytes) { return static_cast<std::size_t>(size_at - bytes) + size_bytes; };
  const bool has_checksum = (descriptor >> 2 & 1) != 0;
  switch (descriptor >> 6) {
    case 0:
      if (!is_single_segment) return {};  // It does not give its size.
      return {after(1), static_cast<std::uint8_t>(*size_at), has_checksum};
    case 1: return {after(2), load_le<std::uint16_t>(size_at) + std::uint64_t{256}, has_checksum};
    case 2: return {after(4), load_le<std::uint32_t>(size_at), has_checksum};
    default: return {after(8), load_le<std::uint64_t>(size_at), has_checksum};
  }
}

}  // namespace

BlockSearch::BlockSearch(const ReadableFile& file, std::uint64_t table_number, std::uint64_t begin, std::uint64_t end)
    : table_number_(table_number),
      begin_(begin),
      end_(end),
      near_(file, end, kNearBytes, kFarBytes),
      far_(file, end, kFarBytes, 0),
      distant_(file, end, kPeekBytes, 0),
      from_(begin),
      at_(begin) {}

std::uint64_t BlockSearch::looked_at() const {
  return work_ + near_.bytes_read() + far_.bytes_read() + distant_.bytes_read();
}

std::optional<BlockPosition> BlockSearch::next() {
  for (at_ = std::max(at_, from_); at_ + kBlockTrailerBytes <= end_; ++at_) {
    work_before_ = ++work_;
    std::optional<BlockPosition> found = block_that_begins_at(at_);
    if (!found) found = block_that_ends_at(at_);
    if (found) {
      from_ = found->offset + found->bytes;
      return found;
    }
    if (!is_known_begin(at_)) wasted_ += work_ - work_before_;
  }
  return {};
}

/// Called for every byte of the range: the most common mismatch is checked first.
std::optional<BlockPosition> BlockSearch::block_that_begins_at(std::uint64_t begin) {
  const char* here = near_.at(begin, kPeekBytes);
  if (load_le<std::uint32_t>(here) == kZstdMagic) return find_zstd(begin);
  const unsigned literals = static_cast<std::uint8_t>(*here) >> 4;
  if (literals == 0) return {};
  if (literals < kLz4More) {
    const auto offset = load_le<std::uint16_t>(here + 1 + literals);
    if (offset == 0 || offset > literals) return {};
  }
  return find_lz4(begin);
}

/// For an uncompressed block.
std::optional<BlockPosition> BlockSearch::block_that_ends_at(std::uint64_t trailer) {
  const char* here = near_.at(trailer, kBlockTrailerBytes);
  if (static_cast<std::uint8_t>(*here) != kNone) return {};
  const std::uint64_t length = load_le<std::uint32_t>(here + 1);
  if (length < kMinBlockBytes || length > trailer - from_) return {};
  const std::uint64_t begin = trailer - length;
  const BlockHead head = head_at(peek(begin, data_block::kHeaderBytes, distant_));
  if (!is_possible(head, length)) return {};
  const auto first = load_le<std::uint16_t>(peek(begin + data_block::offsets_at(head.entries), 2, distant_));
  if (!data_block::may_begin_at(first, head.entries, head.prefix_bytes)) return {};
  if (!is_block(begin, trailer)) return {};
  return position(begin, trailer);
}

/// From the end of the last block, the sequences are followed as far as possible; elsewhere only to known ends.
std::optional<BlockPosition> BlockSearch::find_lz4(std::uint64_t begin) {
  BlockHead head;
  if (is_known_begin(begin)) {
    if (!has_lz4_head(begin, head)) return {};
    return follow_lz4(begin, head.entries == 1 ? kMaxBlockBytes : kMaxBytesOfSeveral);
  }
  if (!lz4_ends_.covers(begin)) {
    const auto there = static_cast<std::size_t>(std::min<std::uint64_t>(kLz4Bytes, end_ - begin));
    lz4_ends_.cover({near_.at(begin, there), there}, begin, std::min(kLz4Begins, there));
    work_ += there;
    work_before_ += there;  // Not the candidate's.
  }
  std::array<std::uint64_t, 2> ends;
  const std::size_t count = lz4_ends_.find(begin, ends);
  if (count == 0 || !has_lz4_head(begin, head)) return {};
  for (const std::uint64_t trailer : std::span(ends).first(count)) {
    if (is_block(begin, trailer)) return position(begin, trailer);
  }
  return {};
}

bool BlockSearch::has_lz4_head(std::uint64_t begin, BlockHead& head) {
  std::array<char, data_block::kHeaderBytes> bytes;
  if (!decode_lz4(begin, bytes)) return false;
  head = head_at(bytes.data());
  if (!is_possible(head, kMaxBytesOfSeveral) || !may_cost_more(begin)) return false;
  decoded_.resize(data_block::offsets_at(head.entries) + 2);
  if (!decode_lz4(begin, decoded_)) return false;
  const auto first = load_le<std::uint16_t>(decoded_.data() + decoded_.size() - 2);
  return first == data_block::prefix_at(head.entries) + head.prefix_bytes;
}

/// Fills `to` with the first bytes that the sequences produce.
bool BlockSearch::decode_lz4(std::uint64_t begin, std::span<char> to) {
  const std::size_t enough = to.size() + to.size() / 128 + kPeekBytes;  // Beyond what LZ4 ever takes.
  const auto wanted = static_cast<int>(to.size());
  work_ += to.size();
  return LZ4_decompress_safe_partial(near_.at(begin, enough), to.data(), static_cast<int>(enough), wanted, wanted) ==
         wanted;
}

/// From sequence to sequence; the block ends after the literals of one of them.
std::optional<BlockPosition> BlockSearch::follow_lz4(std::uint64_t begin, std::uint64_t most_bytes) {
  std::uint64_t at = begin;
  std::uint64_t made = 0;
  while (may_cost_more(begin)) {
    work_ += kLz4StepCost;
    const auto token = static_cast<std::uint8_t>(*peek(at++, 1, far_));
    const std::uint64_t literals = lz4_length(at, token >> 4);
    at += literals;
    made += literals;
    if (made > most_bytes || at + kBlockTrailerBytes > end_) return {};
    const char* here = peek(at, kBlockTrailerBytes, far_);
    const auto offset = load_le<std::uint16_t>(here);
    if (static_cast<std::uint8_t>(*here) == kLz4 && load_le<std::uint32_t>(here + 1) == made &&
        at - begin <= most_stored(made) && is_block(begin, at)) {
      return position(begin, at);
    }
    if (offset == 0 || offset > made) return {};
    at += kLz4OffsetBytes;
    made += kLz4LeastMatch + lz4_length(at, token & 15);
  }
  return {};
}

std::uint64_t BlockSearch::lz4_length(std::uint64_t& at, unsigned nibble) {
  std::uint64_t length = nibble;
  if (nibble < kLz4More) return length;
  for (std::uint8_t more = 255; more == 255 && at < end_; length += more, ++work_) {
    more = static_cast<std::uint8_t>(*peek(at++, 1, far_));
  }
  return length;
}

std::optional<BlockPosition> BlockSearch::find_zstd(std::uint64_t begin) {
  const ZstdFrame frame = zstd_frame(near_.at(begin, kPeekBytes));
  if (frame.header_bytes == 0 || frame.content_bytes < kMinBlockBytes || frame.content_bytes > kMaxBlockBytes) {
    return {};
  }
  std::uint64_t at = begin + frame.header_bytes;
  for (bool is_last = false; !is_last; work_ += kZstdBlockHeaderBytes) {
    const std::uint32_t header = load_le<std::uint32_t>(peek(at, 4, far_)) & 0xff'ffff;
    is_last = (header & 1) != 0;
    const bool is_repeated = (header >> 1 & 3) == 1;  // One byte, repeated as the header says.
    at += kZstdBlockHeaderBytes + (is_repeated ? 1 : header >> 3);
    if (at - begin > most_stored(frame.content_bytes) || at + kBlockTrailerBytes > end_) return {};
  }
  if (frame.has_checksum) at += 4;
  const char* here = peek(at, kBlockTrailerBytes, far_);
  if (at + kBlockTrailerBytes <= end_ && static_cast<std::uint8_t>(*here) == kZstd &&
      load_le<std::uint32_t>(here + 1) == frame.content_bytes && is_block(begin, at)) {
    return position(begin, at);
  }
  return {};
}

bool BlockSearch::is_block(std::uint64_t begin, std::uint64_t trailer) {
  if (!may_cost_more(begin)) return false;
  const auto bytes = static_cast<std::size_t>(trailer - begin) + kBlockTrailerBytes;
  const char* stored =
      near_.holds(begin) && near_.holds(trailer + kBlockTrailerBytes) ? near_.at(begin, bytes) : far_.at(begin, bytes);
  work_ += bytes;
  const bool holds = has_block_checksum(as_bytes({stored, bytes}), block_checksum_seed(table_number_, begin));
  if (!holds && is_known_begin(begin)) damaged_end_ = begin + bytes;
  return holds;
}

bool BlockSearch::may_cost_more(std::uint64_t begin) const {
  const std::uint64_t wasted = wasted_ + work_ - work_before_;  // If this candidate fails too.
  return is_known_begin(begin) || wasted <= kFirstCredit + kCreditPerByte * (at_ - begin_);
}

/// A few bytes anywhere before the end.
const char* BlockSearch::peek(std::uint64_t offset, std::size_t count, SearchWindow& elsewhere) {
  const bool is_near = near_.holds(offset) && near_.holds(offset + count);
  return is_near ? near_.at(offset, count) : elsewhere.at(offset, count);
}

BlockSearch::BlockHead BlockSearch::head_at(const char* bytes) {
  return {load_le<std::uint16_t>(bytes), load_le<std::uint16_t>(bytes + data_block::kPrefixLengthAt),
          load_le<std::uint64_t>(bytes + data_block::kBaseSequenceAt)};
}

bool BlockSearch::is_possible(const BlockHead& head, std::uint64_t block_bytes) {
  if (head.entries == 0 || head.base_sequence >> kMaxSequenceBits != 0) return false;
  if (head.entries == 1) return head.prefix_bytes == 0;
  const std::size_t least = data_block::prefix_at(head.entries) + head.prefix_bytes + kMinEntryBytes * head.entries;
  return least <= block_bytes && block_bytes <= kMaxBytesOfSeveral;
}

}  // namespace tamis
